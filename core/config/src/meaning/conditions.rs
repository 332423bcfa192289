//! Commands that matchers ask for in vain, or forbid without further words only.

use phasegate_core::Code;
use phasegate_core::calls::tool::SHELL;
use phasegate_core::events::event::builtin_labels;
use phasegate_core::policy::matcher::{Matcher, ServerPattern, ToolPattern};
use phasegate_shell::Table;

use super::known::is_host_tool;
use super::uses::Use;
use crate::read::node::Span;
use crate::read::report::Finding;

/// Reports them: an error where the list forbids, for it then forbids something else than it says.
pub(super) fn check(all: &[Use<'_>], compat: bool, findings: &mut Vec<Finding>) {
    for used in all {
        findings.extend(command(used, compat));
        if used.place.forbids() && !compat {
            findings.extend(used.matcher.commands.iter().filter_map(|command| bare(command, used.span)));
        }
    }
}

/// A program and its command that are forbidden without further words only.
fn bare(command: &str, span: Span) -> Option<Finding> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let plain = |word: &&str| word.chars().all(|letter| letter.is_alphanumeric() || "-_.".contains(letter));
    let [program, word] = words.as_slice() else { return None };
    let dispatches = Table::shipped().rule(program).is_some_and(|rule| rule.dispatches);
    (dispatches && plain(program) && plain(word) && !word.starts_with('-')).then(|| {
        Finding::warning(
            Code::MatcherNeverMatches,
            span,
            format!("`{command}` forbids the command without further words only"),
        )
        .suggest(format!("write `{command} *` to forbid it with any words"))
    })
}

/// The tool, if it is one of a host's own.
fn host_tool(matcher: &Matcher) -> Option<&str> {
    match (&matcher.tool, &matcher.server) {
        (ToolPattern::Exact(name), ServerPattern::Bare) if is_host_tool(name) => Some(name),
        _ => None,
    }
}

fn command(used: &Use<'_>, compat: bool) -> Option<Finding> {
    let tool = host_tool(used.matcher).filter(|_| !used.matcher.commands.is_empty())?;
    let labels = builtin_labels(tool);
    let make = if used.place.forbids() && !compat { Finding::error } else { Finding::warning };
    (!labels.is_empty() && !labels.contains(SHELL)).then(|| {
        make(Code::MatcherNeverMatches, used.span, format!("`{tool}` has no command"))
            .cause("`command` is about the shell line of a call")
            .suggest("leave `tool` out, which means `Bash`, or remove `command`")
    })
}
