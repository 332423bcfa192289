//! Which calls a matcher means (rules 3.3), in three values: `None` is doubt.

use phasegate_core::calls::tool::Call;
use phasegate_core::events::event::{Agent, builtin_labels};
use phasegate_core::policy::matcher::{AgentTest, ArgIs, ArgTest, Matcher, ServerPattern, ToolPattern};
use phasegate_core::policy::{Phase, Skill};
use serde_json::Value;

/// A call and who makes it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) call: Call,
    pub(crate) agent: Option<Agent>,
}

/// All must hold: a no is a no, else a doubt is a doubt.
fn all(parts: &[Option<bool>]) -> Option<bool> {
    if parts.contains(&Some(false)) {
        return Some(false);
    }
    if parts.contains(&None) { None } else { Some(true) }
}

fn pattern(matcher: &Matcher, asked: &Asked, labels: &[String]) -> Option<bool> {
    let name = &asked.call.tool.name;
    match &matcher.tool {
        ToolPattern::Any => Some(true),
        ToolPattern::Exact(wanted) => Some(name == wanted),
        ToolPattern::Prefix(start) => Some(name.starts_with(start.as_str())),
        // A tool with no label counts as writing, so it may be anything but a reader.
        ToolPattern::Label(wanted) if labels.is_empty() && wanted != "read" => None,
        ToolPattern::Label(wanted) => Some(labels.contains(wanted)),
    }
}

fn server(matcher: &Matcher, asked: &Asked, skill: &Skill, forbids: bool) -> Option<bool> {
    let label = matches!(matcher.tool, ToolPattern::Label(_));
    match (&matcher.server, &asked.call.tool.server) {
        (ServerPattern::Named(wanted), Some(server)) => Some(wanted == server),
        // A tool that clients bring along is no server's.
        (ServerPattern::Named(_), None) if !builtin_labels(&asked.call.tool.name).is_empty() => Some(false),
        (ServerPattern::Named(_), None) => skill.compat.then_some(true),
        (ServerPattern::Bare, None) => Some(true),
        (ServerPattern::Bare, Some(server)) => Some(forbids || label || skill.compat || skill.servers.contains(server)),
    }
}

fn argument(test: &ArgTest, input: &Value) -> Option<bool> {
    let found = input.get(&test.path);
    match &test.is {
        ArgIs::Present(wanted) => Some(*wanted == found.is_some()),
        ArgIs::Equal(wanted) => equal(wanted, found?),
        ArgIs::OneOf(several) => {
            let answers: Vec<_> = several.iter().map(|wanted| equal(wanted, found?)).collect();
            if answers.contains(&Some(true)) {
                return Some(true);
            }
            if answers.contains(&None) { None } else { Some(false) }
        }
        ArgIs::Begins(start) => Some(found?.as_str()?.starts_with(start.as_str())),
        // Nothing counts words here: the runtime does.
        ArgIs::Section(_) => None,
        ArgIs::Contains(part) => match found? {
            Value::Array(items) => Some(items.iter().any(|item| item == part)),
            other => Some(other.as_str()?.contains(part.as_str())),
        },
    }
}

fn equal(wanted: &Value, found: &Value) -> Option<bool> {
    match (wanted, found) {
        (Value::Number(a), Value::Number(b)) => Some(a == b),
        (Value::String(a), Value::String(b)) => Some(a == b),
        (Value::Bool(a), Value::Bool(b)) => Some(a == b),
        _ => None,
    }
}

fn agent(matcher: &Matcher, asked: &Asked) -> Option<bool> {
    let sub = asked.agent.as_ref().filter(|agent| !agent.id.is_empty());
    match &matcher.agent {
        None => Some(true),
        Some(AgentTest::Main) => Some(sub.is_none()),
        Some(AgentTest::Subagent) => Some(sub.is_some()),
        Some(AgentTest::Kind(kind)) => match sub {
            None => Some(false),
            Some(agent) if agent.kind.is_empty() => None,
            Some(agent) => Some(agent.kind == *kind),
        },
    }
}

fn means(matcher: &Matcher, asked: &Asked, skill: &Skill, labels: &[String], forbids: bool) -> bool {
    fits(matcher, asked, skill, labels, forbids).unwrap_or(forbids)
}

fn fits(matcher: &Matcher, asked: &Asked, skill: &Skill, labels: &[String], forbids: bool) -> Option<bool> {
    let arguments: Vec<_> = matcher.args.iter().map(|test| argument(test, &asked.call.input)).collect();
    // An exception is read as in the other kind of list.
    let excepted: Vec<_> =
        matcher.except.iter().map(|other| fits(other, asked, skill, labels, !forbids).map(|fits| !fits)).collect();
    let parts = [
        all(&excepted),
        pattern(matcher, asked, labels),
        server(matcher, asked, skill, forbids),
        all(&arguments),
        agent(matcher, asked),
    ];
    all(&parts)
}

/// What the tool can do: as the event says, and as the skill says of it.
pub(crate) fn labels(asked: &Asked, skill: &Skill) -> Vec<String> {
    let told: Vec<String> = asked.call.tool.labels.iter().cloned().collect();
    let mut found = told.clone();
    for note in &skill.tools {
        for label in &note.labels {
            if means(&note.matcher, asked, skill, &told, label != "read") {
                found.push(label.clone());
            }
        }
    }
    found
}

/// Whether one of `list` permits (or proves) the call.
pub(crate) fn permits(list: &[Matcher], asked: &Asked, skill: &Skill) -> bool {
    let labels = labels(asked, skill);
    list.iter().any(|matcher| means(matcher, asked, skill, &labels, false))
}

/// Whether one of `list` forbids the call.
pub(crate) fn forbids(list: &[Matcher], asked: &Asked, skill: &Skill) -> bool {
    let labels = labels(asked, skill);
    list.iter().any(|matcher| means(matcher, asked, skill, &labels, true))
}

/// Whether the phase's `allowed` lists the call. Outside the compat form a phase that forbids the call does not list
/// it.
pub(crate) fn has(phase: &Phase, asked: &Asked, skill: &Skill) -> bool {
    permits(&phase.allowed, asked, skill) && (skill.compat || !forbids(&phase.forbidden, asked, skill))
}

/// Line 6: whether a call that no line lists passes under `read_only`.
pub(crate) fn only_reads(asked: &Asked, skill: &Skill) -> bool {
    let labels = labels(asked, skill);
    let has = |word: &str| labels.iter().any(|label| label == word);
    has("read") && !has("write") && !has("execute")
}
