//! Whether one matcher forbids everything that another allows.

use phasegate_core::event::builtin_labels;
use phasegate_core::matcher::{Matcher, ServerPattern, ToolPattern};
use phasegate_core::policy::Skill;

/// Whether every call that `inner` selects is selected by `outer` too.
pub(super) fn covers(outer: &Matcher, inner: &Matcher, skill: &Skill) -> bool {
    covers_tool(outer, inner, skill) && covers_server(&outer.server, &inner.server) && covers_conditions(outer, inner)
}

fn covers_tool(outer: &Matcher, inner: &Matcher, skill: &Skill) -> bool {
    match (&outer.tool, &inner.tool) {
        (ToolPattern::Any, _) => true,
        (ToolPattern::Prefix(prefix), ToolPattern::Exact(name) | ToolPattern::Prefix(name)) => {
            name.starts_with(prefix.as_str())
        }
        (ToolPattern::Label(label), ToolPattern::Exact(name)) => {
            let noted = skill.tools.iter().filter(|note| note.matcher.tool == inner.tool).flat_map(|note| &note.labels);
            (inner.server == ServerPattern::Bare && builtin_labels(name).contains(label))
                || noted.into_iter().any(|known| known == label)
        }
        (outer, inner) => outer == inner,
    }
}

fn covers_server(outer: &ServerPattern, inner: &ServerPattern) -> bool {
    // A bare name forbids on every server.
    *outer == ServerPattern::Bare || outer == inner
}

fn covers_conditions(outer: &Matcher, inner: &Matcher) -> bool {
    outer.args.iter().all(|test| inner.args.contains(test))
        && (outer.command.is_none() || outer.command == inner.command)
        && outer.paths.iter().all(|test| inner.paths.contains(test))
        && (outer.agent.is_none() || outer.agent == inner.agent)
}
