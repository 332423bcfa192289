//! Builtins that give names values or change the shell.

use phasegate_core::calls::analysis::Verdict;

use super::command::Command;
use crate::check::run::program_text;
use crate::expand::field::{Bit, Field};
use crate::finding::Finding;
use crate::parse::Dialect;
use crate::variables::{is_dangerous, is_evaluated, is_harmless};
use crate::walk::Walk;

/// `cd`, `pushd`, `popd`
pub(super) fn folder(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    match command.scan.operands.as_slice() {
        [] if command.name == "cd" => {
            let home = walk.scope.value("HOME");
            walk.scope.enter(&home);
        }
        [field] if command.name != "popd" && !field.may_be_option() && !command.has(&["n"]) => {
            let many = field.many && field.bits.iter().any(Bit::is_open);
            // `pushd +1`, and a name that the shell looks for in other folders first.
            let elsewhere = field.start().starts_with('+') || is_looked_for(walk, field);
            if many || elsewhere { walk.scope.lose_folder() } else { walk.scope.enter(&field.bits) }
        }
        _ => walk.scope.lose_folder(),
    }
    // An unknown word is only a folder here: `cd` has no harmful option.
    None
}

/// Whether the line sets `CDPATH`, and the folder is given in no way in which that is passed over.
fn is_looked_for(walk: &Walk<'_>, folder: &Field) -> bool {
    let start = folder.start();
    let given = folder.is_absolute();
    let here = [".", ".."]
        .iter()
        .any(|dots| start.strip_prefix(dots).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
    !given && !here && !walk.scope.is_outside("CDPATH")
}

/// `export`, `declare` and their like.
pub(super) fn declare(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let exports = command.name == "export" || command.has(&["x"]);
    let shows = command.has(&["p", "f", "F"]);
    let mut found = None;
    for field in &command.scan.operands {
        let (name, value) = match field.start().split_once('=') {
            Some((name, _)) => (name.trim_end_matches('+'), true),
            None => (field.start(), false),
        };
        if let Some((before, _)) = field.start().split_once('=') {
            let (value, appends) = (field.after(before.len().saturating_add(1)), before.ends_with('+'));
            // Another name for the variable can give it any value.
            let (name, value) = if command.has(&["n"]) {
                (value.start().to_owned(), Field::any(field.span))
            } else {
                (name.to_owned(), value)
            };
            walk.tell_git_place(&name, &value, appends);
        }
        let whole = (value && !(field.many && walk.dialect != Dialect::Bash)) || field.known().is_some();
        if !whole || !is_name(name) || command.has(&["n"]) {
            return Some(Finding::new(Verdict::Unknown, "the name that is given a value is not known", field.span));
        }
        walk.hide(name);
        walk.scope.forget(name);
        let text = field.known().and_then(|text| text.split_once('=')).map(|(_, text)| text);
        walk.program_of(name, text, field.span);
        if value || (exports && !shows && !is_harmless(name, None)) {
            let because = format!("`{name}` can change what later commands do");
            found.get_or_insert(Finding::new(Verdict::Unknown, because, field.span));
        }
    }
    found
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.starts_with(|first: char| first.is_ascii_digit())
}

/// `read`, `mapfile`, `getopts`, `unset`, `printf -v`
pub(super) fn names(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    if command.name == "unset"
        && !command.has(&["v"])
        && let Some(finding) = unset(walk, command)
    {
        return Some(finding);
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
    let unsets = command.name == "unset";
    let plain = |name: &str| is_name(name) && !is_dangerous(name) && (unsets || !is_evaluated(name));
    let bad = |field: &&&Field| !field.known().is_some_and(plain);
    for name in named.iter().filter_map(|field| field.known()) {
        walk.hide(name);
        walk.scope.forget(name);
        if !unsets {
            walk.tell_git_place(name, &Field::any(command.span), false);
        }
    }
    if command.name == "getopts" {
        ["OPTARG", "OPTIND"].iter().for_each(|name| walk.scope.forget(name));
    }
    let field = named.iter().find(bad)?;
    Some(Finding::new(Verdict::Unknown, "the name that is given a value can change what runs", field.span))
}

/// `unset` of a function: a program of its name may run in its place from then on, in a loop or a function before that too.
fn unset(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let mut found = None;
    for operand in &command.scan.operands {
        if let Some(name) = operand.known()
            && walk.scope.undo(name)
        {
            let because = format!("a program may run in place of the function `{name}`");
            found.get_or_insert(Finding::new(Verdict::Unknown, because, operand.span));
        }
    }
    found
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

/// `test` and `[`: `-v` reads an index as arithmetic, so no word may be or become `-v`.
pub(super) fn test(command: &Command<'_>) -> Option<Finding> {
    let may_be = |field: &&Field| match field.known() {
        Some(word) => matches!(word, "-v" | "-R"),
        None => (field.many && !field.is_number()) || field.may_be_option(),
    };
    let odd = command.args.iter().find(may_be)?;
    Some(Finding::new(Verdict::Unknown, "a word could be `-v`, which reads an index as arithmetic", odd.span))
}

/// Options of the shell that change nothing about what later commands do.
const HARMLESS_SETTINGS: [&str; 20] = [
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
];

/// `set`, `shopt`
pub(super) fn set(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    for field in command.args {
        let Some(word) = field.known() else { return command.doubt(field, "an option") };
        if word == "--" && command.name == "set" {
            return None;
        }
        walk.scope.dots |= matches!(word.to_ascii_lowercase().replace('_', "").as_str(), "dotglob" | "globdots");
        let letters = word.strip_prefix(['-', '+']);
        let harmless = match letters {
            Some(letters) if command.name == "set" => letters.chars().all(|letter| "euxfvoCEhT".contains(letter)),
            Some(letters) => letters.chars().all(|letter| "suqpo".contains(letter)),
            None => HARMLESS_SETTINGS.contains(&word),
        };
        if !harmless {
            // A name of a folder may be a command now (`autocd`), or an alias one (`expand_aliases`).
            walk.scope.lose_folder();
            let because = format!("`{word}` can change how later commands are read");
            return Some(Finding::new(Verdict::Unknown, because, field.span));
        }
    }
    None
}

/// `alias`
pub(super) fn alias(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    for field in command.args {
        if let Some((name, _)) = field.start().split_once('=') {
            program_text::value_of(walk, &field.after(name.len().saturating_add(1)));
        }
    }
    let defines = command.args.iter().find(|field| field.known().is_none_or(|word| word.contains('=')))?;
    walk.scope.lose_folder();
    walk.renames = true;
    Some(Finding::new(Verdict::Unknown, "an alias changes what later commands mean", defines.span))
}
