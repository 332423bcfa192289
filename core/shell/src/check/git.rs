//! git: configuration on the command line, and commands that write only with certain operands.

use phasegate_core::calls::analysis::{Access, Verdict};

use super::command::Command;
use super::find::bounds::pattern;
use crate::arguments::Given;
use crate::check::run::program_text;
use crate::expand::field::{Bit, Field};
use crate::finding::Finding;
use crate::obeyed::is_harmless_key;
use crate::walk::Walk;

/// Settings that only change how output looks, whatever their value; those that end with a dot, and all below it.
const LOOKS: [&str; 13] = [
    "color.",
    "column.",
    "advice.",
    "status.",
    "i18n.",
    "core.quotepath",
    "core.abbrev",
    "core.commentchar",
    "diff.context",
    "diff.renames",
    "diff.algorithm",
    "log.decorate",
    "log.date",
];
/// Settings that are harmless with these values only.
const WHOLE: [(&str, &[&str]); 9] = [
    ("core.pager", &["", "cat"]),
    ("core.fsmonitor", &["", "false"]),
    ("core.hookspath", &["/dev/null"]),
    ("core.untrackedcache", &["false"]),
    ("diff.noprefix", &["true", "false"]),
    ("diff.mnemonicprefix", &["true", "false"]),
    ("diff.renamelimit", &["0"]),
    ("gc.auto", &["0"]),
    ("log.showsignature", &["false"]),
];

/// The configuration of the repository that a line works in.
const CONFIGURATION: &str = ".git/config";

/// `git -c name=value`
pub(super) fn configuration(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let mut worst = None;
    for given in command.scan.options.iter().filter(|given| given.name == "c") {
        let setting = given.value.as_ref().and_then(|value| value.known()).unwrap_or("");
        // A name alone is switched on.
        let (name, value) = setting.split_once('=').unwrap_or((setting, "true"));
        let name = name.to_ascii_lowercase();
        let looks = LOOKS.iter().any(|look| if look.ends_with('.') { name.starts_with(look) } else { name == *look });
        let whole = WHOLE.iter().any(|(whole, values)| name == *whole && values.contains(&value));
        let pager = name.starts_with("pager.") && matches!(value, "false" | "cat");
        let known = looks || whole || pager;
        if !known {
            let finding = Finding::new(Verdict::Execute, "`-c` can set a program that git runs", given.span);
            worst.get_or_insert(finding);
            if let Some((field, at)) = set_program(given.value.as_ref()) {
                program_text::value_of(walk, &field.after(at));
            }
        }
    }
    worst
}

/// A setting whose value is a command, with the place where that begins; or a text of which not even the name is known.
fn set_program(setting: Option<&Field>) -> Option<(&Field, usize)> {
    let setting = setting?;
    match setting.start().split_once('=') {
        Some((name, _)) => (!is_harmless_key(name)).then(|| (setting, name.len().saturating_add(1))),
        None => setting.known().is_none().then_some((setting, 0)),
    }
}

/// How a merge may be shown without merging it again, which makes objects.
const MERGES: &str = "off none on m first-parent 1 separate c combined cc dense-combined";

/// `--diff-merges`
fn remerges(command: &Command<'_>) -> Option<Finding> {
    let shown = |way: &str| MERGES.split(' ').any(|known| known == way);
    let field = command.args.iter().find(|field| {
        let way = field.start().strip_prefix("--diff-merges");
        way.is_some_and(|way| field.known().is_none() || !way.strip_prefix('=').is_some_and(shown))
    })?;
    Some(Finding::new(Verdict::Write, "the merge may be made again, which makes objects", field.span))
}

/// A format that asks for signatures has a program check them.
pub(super) fn format(command: &Command<'_>) -> Option<Finding> {
    if let Some(finding) = remerges(command) {
        return Some(finding);
    }
    let texts = |field: &Field, asks: fn(&str) -> bool| {
        field.bits.iter().any(|bit| matches!(bit, Bit::Text(text) if asks(text)))
    };
    let sorts = ["branch", "tag", "for-each-ref"].iter().any(|name| command.name.ends_with(name));
    let signed = |text: &str| text.contains("signature");
    if let Some(asks) = command.args.iter().find(|field| texts(field, checks) || (sorts && texts(field, signed))) {
        return Some(Finding::new(
            Verdict::Execute,
            "the format asks for signatures, which a program checks",
            asks.span,
        ));
    }
    let made = |field: &&Field| {
        ["--format", "--pretty", "--sort"].iter().any(|name| field.start().starts_with(name))
            && field.bits.iter().any(|bit| !matches!(bit, Bit::Text(_) | Bit::Number))
    };
    let format = command.args.iter().find(made)?;
    Some(Finding::new(Verdict::Unknown, "a format that is made at run time may ask for signatures", format.span))
}

/// Whether a format asks for a signature: `%G?`, also with a sign (`%+G?`), or `%(signature)`, also of what a tag is of.
fn checks(format: &str) -> bool {
    format.split('%').skip(1).any(|part| {
        let part = part.strip_prefix('(').map_or(part, |field| field.strip_prefix('*').unwrap_or(field));
        part.starts_with("signature") || part.strip_prefix(['+', '-', ' ']).unwrap_or(part).starts_with('G')
    })
}

/// `git branch`, `git tag`
pub(super) fn listing(command: &Command<'_>) -> Option<Finding> {
    if let Some(finding) = format(command) {
        return Some(finding);
    }
    let lists = ["l", "list", "contains", "no-contains", "merged", "no-merged", "points-at"];
    let lines = command.name.ends_with("tag") && command.has(&["n"]);
    let operand = command.scan.operands.first()?;
    if command.has(&lists) || lines {
        return None;
    }
    Some(Finding::new(Verdict::Write, format!("`{}` creates what it is given the name of", command.name), operand.span))
}

/// `git config`
pub(super) fn config(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let reads = ["get", "get-all", "get-regexp", "get-urlmatch", "get-color", "get-colorbool", "l", "list"];
    if command.has(&reads) {
        return None;
    }
    let operands = command.scan.operands.as_slice();
    let harmless = match operands {
        [] => true,
        [only] => only.known().is_some_and(|name| name == "list" || name.contains('.')),
        [first, ..] => matches!(first.known(), Some("get" | "list")),
    };
    let span = operands.last().map_or(command.span, |field| field.span);
    if harmless {
        return None;
    }
    let named = command.values(&["add", "replace-all", "unset", "unset-all"]);
    let key = named.chain(operands.iter().copied()).find(|field| field.known().is_none_or(|word| word.contains('.')));
    if key.and_then(Field::known).is_some_and(is_harmless_key) {
        return Some(Finding::new(Verdict::Write, "`git config` sets what it is given a value for", span));
    }
    if let (Some(_), Some(value)) = (key.and_then(Field::known), operands.last()) {
        program_text::value_of(walk, value);
    }
    // Behind the command that it sets, whose own path it is not.
    walk.touch(&Field::text(CONFIGURATION, span), Access::Write);
    Some(Finding::new(Verdict::Execute, "`git config` can set a program that git runs", span))
}

/// Takes note of the folder that `git clone` makes: the one that is given, or the address's last name.
fn cloned(walk: &mut Walk<'_>, command: &Command<'_>) {
    let ending = if command.has(&["bare", "mirror"]) { ".git" } else { "" };
    let folder = match command.scan.operands.as_slice() {
        [] => return,
        [address] => match address.known().and_then(folder_of) {
            Some(name) => Field::text(&format!("{name}{ending}"), address.span),
            None => Field::any(address.span),
        },
        [_, folder, ..] => (*folder).clone(),
    };
    let folder = placed(walk, &folder);
    walk.touch(&folder, Access::Write);
}

/// What `git clone` calls the copy of an address; `None` where the address says it in another way than by its last name.
fn folder_of(address: &str) -> Option<&str> {
    let end = address.trim_end_matches('/');
    let end = end.strip_suffix("/.git").unwrap_or(end).trim_end_matches('/');
    let (before, last) = end.rsplit_once(['/', ':']).unwrap_or(("", end));
    let name = last.strip_suffix(".git").unwrap_or(last);
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    // An address of a host alone, with or without a port, and a file that may be a bundle.
    let other = before.ends_with('/') || name.ends_with(".bundle") || name.bytes().all(|byte| byte.is_ascii_digit());
    (name.chars().all(plain) && !other).then_some(name)
}

/// `git init`, `git clone`
pub(super) fn template(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    // A repository is more than a file.
    walk.besides = true;
    if command.name.ends_with("clone") {
        cloned(walk, command);
    }
    if !command.has(&["template", "c", "config", "separate-git-dir", "u", "upload-pack"]) {
        return None;
    }
    for setting in command.values(&["c", "config"]) {
        if let Some((field, at)) = set_program(Some(setting)) {
            program_text::value_of(walk, &field.after(at));
        }
    }
    walk.touch(&Field::text(CONFIGURATION, command.span), Access::Write);
    Some(Finding::new(Verdict::Execute, "the new repository can name a program that git runs", command.span))
}

/// `git reflog`
pub(super) fn first(command: &Command<'_>) -> Option<Finding> {
    if let Some(finding) = format(command) {
        return Some(finding);
    }
    let field = command.scan.operands.first()?;
    let writes = !matches!(field.known(), Some(word) if !matches!(word, "expire" | "delete" | "drop" | "write"));
    writes.then(|| Finding::new(Verdict::Write, "`git reflog` with this command writes", field.span))
}

/// `git ls-remote`
pub(super) fn url(command: &Command<'_>) -> Option<Finding> {
    let bad = |word: &str| word.contains("::");
    let field = command.scan.operands.iter().find(|field| field.known().is_none_or(bad))?;
    Some(Finding::new(Verdict::Execute, "the address can name a program", field.span))
}

/// `git remote show`: the name of a remote, no address.
pub(super) fn remote_name(command: &Command<'_>) -> Option<Finding> {
    let name = |field: &&Field| field.known().is_some_and(|name| !name.contains([':', '/', '.', '~']));
    let bad = command.scan.operands.iter().copied().find(|field| !name(field))?;
    Some(Finding::new(Verdict::Send, "what is asked may be an address", bad.span))
}

/// `git clean`, `git rm`, `git mv`
pub(super) fn paths(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    if command.has(&["n", "dry-run"]) {
        return None;
    }
    // The index changes too.
    walk.besides |= !command.name.ends_with("clean");
    let here = Field::text(".", command.span);
    let operands = command.scan.operands.as_slice();
    let operands = if operands.is_empty() && command.name.ends_with("clean") { &[&here] } else { operands };
    let target = operands.len().checked_sub(1).filter(|_| command.name.ends_with("mv"));
    for (number, operand) in operands.iter().enumerate() {
        let path = placed(walk, operand);
        walk.touch(&path, if target == Some(number) { Access::Write } else { Access::Remove });
    }
    None
}

/// An operand of git as a path, in the folder that `-C` names.
pub(super) fn placed(walk: &Walk<'_>, operand: &Field) -> Field {
    in_folder(&walk.globals, &pathspec(operand))
}

/// A path, in the folder that the options `-C` name.
pub(crate) fn in_folder(options: &[Given], path: &Field) -> Field {
    let folders = options.iter().filter(|given| given.name == "C").filter_map(|given| given.value.as_ref());
    match folders.cloned().reduce(|folder, next| next.below(&folder)) {
        Some(folder) => path.below(&folder),
        None => path.clone(),
    }
}

/// An operand of git as a path: its wildcards stand for any text, and so does what its signs say of where it starts.
pub(crate) fn pathspec(operand: &Field) -> Field {
    let Some(text) = operand.known() else { return operand.clone() };
    let Some(signs) = text.strip_prefix(':') else { return pattern(operand) };
    let everything = Field { bits: vec![Bit::Tree], many: false, span: operand.span };
    let rest = match signs.strip_prefix('(').and_then(|signs| signs.split_once(')')) {
        Some((words, _)) if words.contains("exclude") => return everything,
        Some((_, rest)) => rest,
        None if signs.starts_with(['!', '^']) => return everything,
        None => signs.trim_start_matches(['/', ':']),
    };
    let mut path = everything;
    path.bits.extend(pattern(&Field::text(rest, operand.span)).bits);
    path
}
