//! git: configuration on the command line, and commands that write only with certain operands.

use phasegate_core::tool::Verdict;

use super::Command;
use crate::judge::Finding;

/// Beginnings of settings that only change how output looks.
const LOOKS: [&str; 16] = [
    "color.",
    "column.",
    "advice.",
    "status.",
    "i18n.",
    "core.quotepath=",
    "core.abbrev=",
    "core.commentchar=",
    "core.pager=cat",
    "core.fsmonitor=false",
    "core.hookspath=/dev/null",
    "diff.context=",
    "diff.renames=",
    "diff.algorithm=",
    "log.decorate=",
    "log.date=",
];
/// Settings that only change how output looks, whole.
const WHOLE: [&str; 9] = [
    "core.pager=",
    "core.fsmonitor=",
    "diff.noprefix",
    "diff.noprefix=true",
    "diff.mnemonicprefix=true",
    "log.showsignature=false",
    "gc.auto=0",
    "diff.renamelimit=0",
    "core.untrackedcache=false",
];

/// `git -c name=value`
pub(super) fn configuration(command: &Command<'_>) -> Option<Finding> {
    for given in command.scan.options.iter().filter(|given| given.name == "c") {
        let setting = given.value.as_ref().and_then(|value| value.known()).unwrap_or("").to_ascii_lowercase();
        let pager =
            setting.strip_prefix("pager.").is_some_and(|rest| rest.ends_with("=false") || rest.ends_with("=cat"));
        let known = pager || WHOLE.contains(&setting.as_str()) || LOOKS.iter().any(|start| setting.starts_with(start));
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
