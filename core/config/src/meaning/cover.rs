//! Whether one matcher forbids everything that another allows.

use phasegate_core::calls::analysis::Access;
use phasegate_core::calls::tool::{Labels, READ, WRITE};
use phasegate_core::events::event::builtin_labels;
use phasegate_core::policy::matcher::{Matcher, PathTest, ServerPattern, ToolPattern};
use phasegate_core::policy::{Skill, ToolNote};
use phasegate_core::shell::words::covers as covers_words;
use phasegate_core::values::glob::{choices, path_fits};

/// Stands for any ending of a name: no real path has it.
const ANY: char = '\u{2026}';

/// Whether every call that `inner` selects is selected by `outer` too.
pub(crate) fn covers(outer: &Matcher, inner: &Matcher, skill: &Skill) -> bool {
    covers_tool(outer, inner, skill) && covers_server(&outer.server, &inner.server) && covers_conditions(outer, inner)
}

fn covers_tool(outer: &Matcher, inner: &Matcher, skill: &Skill) -> bool {
    match (&outer.tool, &inner.tool) {
        (ToolPattern::Any, _) => true,
        (ToolPattern::Prefix(prefix), ToolPattern::Exact(name) | ToolPattern::Prefix(name)) => {
            name.starts_with(prefix.as_str())
        }
        (ToolPattern::Label(label), ToolPattern::Exact(_)) => labels(inner, skill).contains(label),
        (outer, inner) => outer == inner,
    }
}

/// What the tools can do that a matcher selects, as far as it is known.
pub(super) fn labels(matcher: &Matcher, skill: &Skill) -> Labels {
    let mut known = match (&matcher.tool, &matcher.server) {
        (ToolPattern::Exact(name), ServerPattern::Bare) => builtin_labels(name),
        (ToolPattern::Label(label), _) => Labels::from([label.clone()]),
        (ToolPattern::Any, _) if !matcher.paths.is_empty() && matcher.commands.is_empty() => {
            let accesses = matcher.paths.iter().map(|test| if test.access == Access::Write { WRITE } else { READ });
            accesses.map(str::to_owned).collect()
        }
        _ => Labels::new(),
    };
    let noted = |note: &&ToolNote| match (&note.matcher.tool, &matcher.tool) {
        (ToolPattern::Prefix(prefix), ToolPattern::Exact(name)) => name.starts_with(prefix.as_str()),
        (noted, tool) => noted == tool,
    };
    known.extend(skill.tools.iter().filter(noted).flat_map(|note| &note.labels).cloned());
    known
}

fn covers_server(outer: &ServerPattern, inner: &ServerPattern) -> bool {
    // A bare name forbids on every server.
    *outer == ServerPattern::Bare || outer == inner
}

fn covers_conditions(outer: &Matcher, inner: &Matcher) -> bool {
    outer.args.iter().all(|test| inner.args.contains(test))
        && covers_commands(&outer.commands, &inner.commands)
        && outer.paths.iter().all(|test| inner.paths.iter().any(|other| covers_path(test, other)))
        && (outer.invokes.is_none() || outer.invokes == inner.invokes)
        && (outer.agent.is_none() || outer.agent == inner.agent)
        && outer.except.iter().all(|other| inner.except.contains(other))
}

fn covers_commands(outer: &[String], inner: &[String]) -> bool {
    let covered = |inner: &String| outer.iter().any(|outer| covers_words(outer, inner));
    outer.is_empty() || (!inner.is_empty() && inner.iter().all(covered))
}

fn covers_path(outer: &PathTest, inner: &PathTest) -> bool {
    outer.access == inner.access && path_fits(&outer.pattern, &path_of(&inner.pattern))
}

/// A path that a pattern selects and as few others as possible.
fn path_of(pattern: &str) -> String {
    let one = choices(pattern).into_iter().next().unwrap_or_default();
    let (mut path, mut rest) = (String::new(), one.as_str());
    while let Some(at) = rest.find(['*', '?']) {
        let (before, after) = rest.split_at(at);
        path.push_str(before);
        path.push(ANY);
        rest = after.trim_start_matches(['*', '?']);
    }
    path + rest
}
