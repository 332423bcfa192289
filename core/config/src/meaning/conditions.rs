//! What matchers ask of calls that no call of the tool has: a command, an argument, a kind of agent.

use phasegate_core::Code;
use phasegate_core::event::builtin_labels;
use phasegate_core::matcher::{AgentTest, Matcher, ServerPattern, ToolPattern};
use phasegate_core::tool::SHELL;
use phasegate_shell::Table;

use super::known::is_host_tool;
use super::uses::Use;
use crate::node::Span;
use crate::report::Finding;
use crate::suggestion::{closest, listed};
use crate::typo::typo;

/// The arguments of the hosts' own tools, as the hosts name them.
const ARGUMENTS: [(&str, &[&str]); 7] = [
    ("Bash", &["command", "description", "timeout", "run_in_background", "workdir"]),
    ("Edit", &["file_path", "filePath", "path", "old_string", "new_string", "oldString", "newString", "replace_all"]),
    ("Glob", &["pattern", "path"]),
    ("Grep", &["pattern", "path", "glob", "include", "type", "output_mode"]),
    ("Read", &["file_path", "filePath", "path", "offset", "limit", "pages"]),
    ("WebFetch", &["url", "prompt", "format", "timeout"]),
    ("Write", &["file_path", "filePath", "path", "content"]),
];

/// Reports them: an error where the list forbids, for it then forbids something else than it says.
pub(super) fn check(all: &[Use<'_>], compat: bool, findings: &mut Vec<Finding>) {
    for used in all {
        for doubt in [command(used.matcher), argument(used.matcher), agent(used.matcher)].into_iter().flatten() {
            let make = if used.place.forbids() && !compat { Finding::error } else { Finding::warning };
            let finding = make(Code::MatcherNeverMatches, used.span, doubt.message);
            findings.push(finding.cause(doubt.cause).suggest(doubt.suggestion));
        }
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

struct Doubt {
    message: String,
    cause: &'static str,
    suggestion: String,
}

/// The tool, if it is one of a host's own.
fn host_tool(matcher: &Matcher) -> Option<&str> {
    match (&matcher.tool, &matcher.server) {
        (ToolPattern::Exact(name), ServerPattern::Bare) if is_host_tool(name) => Some(name),
        _ => None,
    }
}

fn command(matcher: &Matcher) -> Option<Doubt> {
    let tool = host_tool(matcher).filter(|_| !matcher.commands.is_empty())?;
    let labels = builtin_labels(tool);
    (!labels.is_empty() && !labels.contains(SHELL)).then(|| Doubt {
        message: format!("`{tool}` has no command"),
        cause: "`command` is about the shell line of a call",
        suggestion: "leave `tool` out, which means `Bash`, or remove `command`".into(),
    })
}

fn argument(matcher: &Matcher) -> Option<Doubt> {
    let tool = host_tool(matcher)?;
    let (_, known) = ARGUMENTS.iter().find(|(name, _)| *name == tool)?;
    let first = |path: &str| path.split('.').next().unwrap_or_default().to_owned();
    let mut names = matcher.args.iter().map(|test| first(&test.path)).filter(|name| !known.contains(&name.as_str()));
    let (name, meant) = names.find_map(|name| {
        let meant = known.iter().find(|other| typo(&name, other).is_some())?;
        Some((name, *meant))
    })?;
    Some(Doubt {
        message: format!("`{tool}` has no argument `{name}`"),
        cause: "a call without the argument is in doubt: a forbidding list has it, and no other one",
        suggestion: format!("did you mean `{meant}`?"),
    })
}

fn agent(matcher: &Matcher) -> Option<Doubt> {
    let Some(AgentTest::Kind(kind)) = &matcher.agent else { return None };
    let words = ["main", "subagent"];
    let meant = if kind.eq_ignore_ascii_case("subagents") {
        Some("subagent")
    } else {
        let bare: String = kind.chars().filter(|letter| letter.is_alphanumeric()).collect();
        words
            .into_iter()
            .find(|word| bare.eq_ignore_ascii_case(word))
            .or_else(|| closest(kind, words).filter(|word| kind.len().abs_diff(word.len()) <= 1 && kind.len() > 4))
    }?;
    Some(Doubt {
        message: format!("no kind of agent is called `{kind}`"),
        cause: "any other word than `main` and `subagent` is the name of a kind of subagent",
        suggestion: format!("did you mean `{meant}`? The words are {}", listed(words)),
    })
}
