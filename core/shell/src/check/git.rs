//! git: configuration on the command line, and commands that write only with certain operands.

use phasegate_core::tool::Verdict;

use super::Command;
use crate::judge::Finding;

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

/// `git -c name=value`
pub(super) fn configuration(command: &Command<'_>) -> Option<Finding> {
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
            return Some(Finding::new(Verdict::Execute, "`-c` can set a program that git runs", given.span));
        }
    }
    None
}

/// `git branch`, `git tag`
pub(super) fn listing(command: &Command<'_>) -> Option<Finding> {
    let lists = ["l", "list", "contains", "no-contains", "merged", "no-merged", "points-at"];
    let lines = command.name.ends_with("tag") && command.has(&["n"]);
    let operand = command.scan.operands.first()?;
    if command.has(&lists) || lines {
        return None;
    }
    Some(Finding::new(Verdict::Write, format!("`{}` creates what it is given the name of", command.name), operand.span))
}

/// `git config`
pub(super) fn config(command: &Command<'_>) -> Option<Finding> {
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
    (!harmless).then(|| Finding::new(Verdict::Write, "`git config` sets what it is given a value for", span))
}

/// `git reflog`
pub(super) fn first(command: &Command<'_>) -> Option<Finding> {
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
