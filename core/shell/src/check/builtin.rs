//! Builtins that give names values or change the shell.

use phasegate_core::analysis::Verdict;

use super::command::Command;
use crate::field::{Bit, Field};
use crate::finding::Finding;
use crate::tree::{Piece, Word};
use crate::variables::{is_dangerous, is_harmless};
use crate::walk::Walk;

/// `cd`, `pushd`, `popd`
pub(super) fn folder(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    match command.scan.operands.as_slice() {
        [] if command.name == "cd" => walk.scope.enter(&[Bit::Home]),
        [field] if command.name != "popd" && !field.may_be_option() => {
            let many = field.many && field.bits.contains(&Bit::Any);
            if many { walk.scope.lose_folder() } else { walk.scope.enter(&field.bits) }
        }
        _ => walk.scope.lose_folder(),
    }
    // An unknown word is only a folder here: `cd` has no harmful option.
    None
}

/// `export`, `declare` and their like.
pub(super) fn declare(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let exports = command.name == "export" || command.has(&["x"]);
    let shows = command.has(&["p", "f", "F"]);
    for field in &command.scan.operands {
        let (name, value) = match field.start().split_once('=') {
            Some((name, _)) => (name.trim_end_matches('+'), true),
            None => (field.start(), false),
        };
        let whole = value || field.known().is_some();
        if !whole || !is_name(name) || command.has(&["n"]) {
            return Some(Finding::new(Verdict::Unknown, "the name that is given a value is not known", field.span));
        }
        walk.scope.forget(name);
        let text = field.known().and_then(|text| text.split_once('=')).map(|(_, text)| text);
        let bad = if exports { !is_harmless(name, text) } else { is_dangerous(name) && value };
        if bad && (value || !shows) {
            let because = format!("`{name}` can change what later commands do");
            return Some(Finding::new(Verdict::Unknown, because, field.span));
        }
    }
    None
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.starts_with(|first: char| first.is_ascii_digit())
}

/// `read`, `mapfile`, `getopts`, `unset`, `printf -v`
pub(super) fn names(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    if command.name == "unset" {
        // A program may run in place of a function from now on.
        walk.scope.doubtful_functions.extend(walk.scope.functions.iter().cloned());
    }
    if command.name == "printf"
        && let Some(finding) = counts(command)
    {
        return Some(finding);
    }
    let named: Vec<&Field> = match command.name {
        "printf" => command.values(&["v"]).collect(),
        "getopts" => command.scan.operands.iter().copied().skip(1).take(1).collect(),
        _ => command.scan.operands.iter().copied().chain(command.values(&["a"])).collect(),
    };
    let bad = |field: &&Field| !field.known().is_some_and(|name| is_name(name) && !is_dangerous(name));
    let field = named.into_iter().find(bad)?;
    Some(Finding::new(Verdict::Unknown, "the name that is given a value can change what runs", field.span))
}

/// `printf` with `%n`, which gives the variable that an argument names a value.
fn counts(command: &Command<'_>) -> Option<Finding> {
    let (format, rest) = command.scan.operands.split_first()?;
    let odd = match format.known() {
        Some(text) => text.split('%').skip(1).any(|part| {
            part.trim_start_matches(|sign: char| sign.is_ascii_digit() || "-+ #0.*'hlLjzt".contains(sign))
                .starts_with('n')
        }),
        None => rest.iter().any(|field| field.start().contains('[') && field.start().contains(['$', '`'])),
    };
    odd.then(|| {
        Finding::new(
            Verdict::Unknown,
            "`%n` gives a variable a value, and its index is read as arithmetic",
            format.span,
        )
    })
}

/// `test` and `[`: `-v` reads an index as arithmetic.
pub(super) fn test(command: &Command<'_>) -> Option<Finding> {
    let mut before = "";
    for field in command.args {
        let text = field.start();
        let index = text.contains('[') && (text.contains("$(") || text.contains('`'));
        let reads = matches!(before, "-v" | "-R") && field.known().is_none_or(|name| name.contains('['));
        if index || reads {
            return Some(Finding::new(Verdict::Unknown, "an index is read as arithmetic", field.span));
        }
        before = text;
    }
    None
}

/// `let`
pub(super) fn let_(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    for field in command.args {
        let Some(text) = super::command::script(field) else { return command.doubt(field, "an expression") };
        let word = Word { pieces: vec![Piece::Text { text, quoted: true }], span: field.span };
        let (_, finding) = walk.isolate(|walk| walk.arithmetic(&word));
        if finding.verdict > Verdict::Read {
            return Some(finding);
        }
    }
    None
}

/// Options of the shell that change nothing about what later commands do.
const HARMLESS_SETTINGS: [&str; 22] = [
    "pipefail",
    "errexit",
    "nounset",
    "xtrace",
    "noglob",
    "noclobber",
    "verbose",
    "errtrace",
    "functrace",
    "nullglob",
    "globstar",
    "dotglob",
    "nocaseglob",
    "failglob",
    "nocasematch",
    "checkwinsize",
    "globasciiranges",
    "xpg_echo",
    "emacs",
    "vi",
    "braceexpand",
    "extglob",
];

/// `set`, `shopt`
pub(super) fn set(command: &Command<'_>) -> Option<Finding> {
    for field in command.args {
        let Some(word) = field.known() else { return command.doubt(field, "an option") };
        if word == "--" && command.name == "set" {
            return None;
        }
        let letters = word.strip_prefix(['-', '+']);
        let harmless = match letters {
            Some(letters) if command.name == "set" => letters.chars().all(|letter| "euxfvoCEhBT".contains(letter)),
            Some(letters) => letters.chars().all(|letter| "suqpo".contains(letter)),
            None => HARMLESS_SETTINGS.contains(&word) && word != "extglob",
        };
        if !harmless {
            let because = format!("`{word}` can change how later commands are read");
            return Some(Finding::new(Verdict::Unknown, because, field.span));
        }
    }
    None
}

/// `alias`
pub(super) fn alias(command: &Command<'_>) -> Option<Finding> {
    let defines = command.args.iter().find(|field| field.known().is_none_or(|word| word.contains('=')))?;
    Some(Finding::new(Verdict::Unknown, "an alias changes what later commands mean", defines.span))
}
