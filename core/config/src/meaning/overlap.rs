//! Whether two matchers may select a call in common: where that is in doubt, they do.

use phasegate_core::calls::analysis::{Access, Invocation};
use phasegate_core::calls::tool::{EXECUTE, READ, SHELL, WRITE};
use phasegate_core::policy::Skill;
use phasegate_core::policy::matcher::{AgentTest, ArgIs, ArgTest, Matcher, PathTest, ServerPattern, ToolPattern};
use phasegate_core::shell::common::common;
use phasegate_core::shell::words::covers as covers_words;
use phasegate_core::values::glob::text_fits;

use super::cover::{covers, labels};

/// Whether a call may be selected by both.
pub(super) fn overlap(one: &Matcher, other: &Matcher, skill: &Skill) -> bool {
    tools(one, other, skill)
        && servers(&one.server, &other.server)
        && one.args.iter().all(|test| other.args.iter().all(|also| arguments(test, also)))
        && commands(&one.commands, &other.commands)
        && one.paths.iter().all(|test| other.paths.iter().all(|also| paths(test, also)))
        && one.invokes.as_deref().is_none_or(|it| other.invokes.as_deref().is_none_or(|also| invocations(it, also)))
        && one.agent.as_ref().is_none_or(|it| other.agent.as_ref().is_none_or(|also| agents(it, also)))
        && !one.except.iter().any(|except| covers(except, other, skill))
        && !other.except.iter().any(|except| covers(except, one, skill))
}

fn tools(one: &Matcher, other: &Matcher, skill: &Skill) -> bool {
    match (&one.tool, &other.tool) {
        (ToolPattern::Exact(a), ToolPattern::Exact(b)) => own(a) == own(b),
        (ToolPattern::Prefix(a), ToolPattern::Exact(b)) | (ToolPattern::Exact(b), ToolPattern::Prefix(a)) => {
            begins(b, a)
        }
        (ToolPattern::Prefix(a), ToolPattern::Prefix(b)) => begins(a, b) || begins(b, a),
        (ToolPattern::Label(label), ToolPattern::Exact(_)) => has(other, label, skill),
        (ToolPattern::Exact(_), ToolPattern::Label(label)) => has(one, label, skill),
        (ToolPattern::Any, ToolPattern::Exact(_)) => does(other, one, skill),
        (ToolPattern::Exact(_), ToolPattern::Any) => does(one, other, skill),
        _ => true,
    }
}

/// Whether the tool may have the label: of one that nothing is known of, a client may say anything, and a line of the shell
/// has its own.
fn has(named: &Matcher, label: &str, skill: &Skill) -> bool {
    let known = labels(named, skill);
    known.is_empty() || known.contains(label) || known.contains(SHELL)
}

/// Whether the tool may do to files what the paths of the other matcher ask.
fn does(named: &Matcher, asking: &Matcher, skill: &Skill) -> bool {
    let word = |test: &PathTest| if test.access == Access::Write { WRITE } else { READ };
    let known = labels(named, skill);
    known.is_empty()
        || known.contains(SHELL)
        || known.contains(EXECUTE)
        || asking.paths.iter().all(|test| known.contains(word(test)))
}

fn begins(name: &str, prefix: &str) -> bool {
    name.starts_with(prefix) || own(name).starts_with(own(prefix))
}

/// A tool's own name, without the server that clients put before it.
fn own(name: &str) -> &str {
    name.rsplit_once("__").map_or(name, |(_, own)| own)
}

fn servers(one: &ServerPattern, other: &ServerPattern) -> bool {
    *one == ServerPattern::Bare || *other == ServerPattern::Bare || one == other
}

fn arguments(one: &ArgTest, other: &ArgTest) -> bool {
    let apart = match (&one.is, &other.is) {
        (ArgIs::Equal(a), ArgIs::Equal(b)) => a != b,
        (ArgIs::Equal(a), ArgIs::OneOf(b)) | (ArgIs::OneOf(b), ArgIs::Equal(a)) => !b.contains(a),
        (ArgIs::Present(a), ArgIs::Present(b)) => a != b,
        _ => false,
    };
    one.path != other.path || !apart
}

fn commands(one: &[String], other: &[String]) -> bool {
    let both = |a: &String, b: &String| covers_words(a, b) || covers_words(b, a) || common(a, b).is_some();
    one.is_empty() || other.is_empty() || one.iter().any(|a| other.iter().any(|b| both(a, b)))
}

/// Paths are apart where they begin apart.
fn paths(one: &PathTest, other: &PathTest) -> bool {
    let start = |test: &PathTest| test.pattern.split(['*', '?', '{']).next().unwrap_or_default().to_owned();
    let (a, b) = (start(one), start(other));
    one.access != other.access || a.starts_with(&b) || b.starts_with(&a)
}

fn invocations(one: &Invocation, other: &Invocation) -> bool {
    match (one, other) {
        (Invocation::Skill(a), Invocation::Skill(b)) | (Invocation::Agent(a), Invocation::Agent(b)) => {
            text_fits(a, b) || text_fits(b, a)
        }
        _ => false,
    }
}

fn agents(one: &AgentTest, other: &AgentTest) -> bool {
    let subagent = |test: &AgentTest| *test != AgentTest::Main;
    one == other || (subagent(one) && subagent(other) && (*one == AgentTest::Subagent || *other == AgentTest::Subagent))
}
