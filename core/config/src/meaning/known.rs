//! What is known: the tools of agent hosts, labels, and what a config says of its own tools.

use std::collections::BTreeSet;

use phasegate_core::events::event::builtin_labels;
use phasegate_core::policy::Skill;
use phasegate_core::policy::matcher::ToolPattern;

/// The names of the tools that agent hosts have.
const HOST_TOOLS: &str = "Agent AskUserQuestion Bash BashOutput Edit EnterPlanMode ExitPlanMode Glob Grep KillShell LS LSP \
    ListMcpResourcesTool MultiEdit NotebookEdit NotebookRead PowerShell Read ReadMcpResourceTool SendMessage \
    Skill SlashCommand Task TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate TodoWrite ToolSearch \
    WebFetch WebSearch Write";
const LABELS: [&str; 5] = ["delegate", "execute", "network", "read", "write"];

/// What is known where a list stands.
pub(super) struct Known<'s> {
    /// Every label that some tool has.
    pub(super) labels: BTreeSet<&'s str>,
    /// The names that `tools` lists.
    pub(super) noted: BTreeSet<&'s str>,
    prefixes: Vec<&'s str>,
}

impl<'s> Known<'s> {
    /// What hosts have, and what these skills say of tools.
    pub(super) fn of(skills: impl IntoIterator<Item = &'s Skill>) -> Self {
        let mut known = Self { labels: LABELS.into_iter().collect(), noted: BTreeSet::new(), prefixes: Vec::new() };
        for note in skills.into_iter().flat_map(|skill| &skill.tools) {
            known.labels.extend(note.labels.iter().map(String::as_str));
            match &note.matcher.tool {
                ToolPattern::Exact(name) => drop(known.noted.insert(name)),
                ToolPattern::Prefix(prefix) => known.prefixes.push(prefix),
                ToolPattern::Any | ToolPattern::Label(_) => {}
            }
        }
        known
    }

    /// Whether `tools` says something of a tool of this name.
    pub(super) fn notes(&self, name: &str) -> bool {
        self.noted.contains(name) || self.prefixes.iter().any(|prefix| name.starts_with(prefix))
    }
}

/// The names of the tools that agent hosts have.
pub(super) fn host_tools() -> impl Iterator<Item = &'static str> {
    HOST_TOOLS.split_whitespace()
}

/// Whether an agent host has a tool of this name.
pub(super) fn is_host_tool(name: &str) -> bool {
    host_tools().any(|known| known == name) || !builtin_labels(name).is_empty()
}
