//! Names that nothing has: labels that nobody gives, tools that are probably misspelt.

use std::collections::{BTreeMap, BTreeSet};

use phasegate_core::Code;
use phasegate_core::event::builtin_labels;
use phasegate_core::matcher::{Matcher, ServerPattern, ToolPattern};

use crate::build::Built;
use crate::nearest::{did_you_mean, listed, slip};
use crate::node::Span;
use crate::report::Finding;

/// The canonical names of the tools that agent hosts have.
const HOST_TOOLS: [&str; 24] = [
    "Agent",
    "AskUserQuestion",
    "Bash",
    "Edit",
    "EnterPlanMode",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "LS",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "Read",
    "Skill",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Write",
    "TaskCreate",
    "TaskUpdate",
];
const LABELS: [&str; 5] = ["delegate", "execute", "network", "read", "write"];

/// Warns of names that nothing has.
pub(super) fn check(built: &Built, findings: &mut Vec<Finding>) {
    let matchers = matchers(built);
    labels(built, &matchers, findings);
    servers(built, &matchers, findings);
    tools(built, &matchers, findings);
    no_servers(built, findings);
}

fn matchers(built: &Built) -> Vec<(&Matcher, Span)> {
    let skill = &built.skill;
    let mut all: Vec<(&Matcher, Span)> = Vec::new();
    all.extend(skill.global_forbidden.iter().zip(built.places.global_forbidden.iter().copied()));
    for (phase, places) in skill.phases.iter().zip(&built.places.phases) {
        all.extend(phase.allowed.iter().zip(places.allowed.iter().copied()));
        all.extend(phase.forbidden.iter().zip(places.forbidden.iter().copied()));
        all.extend(places.conditions.iter().map(|(matcher, span)| (matcher, *span)));
    }
    all
}

fn labels(built: &Built, matchers: &[(&Matcher, Span)], findings: &mut Vec<Finding>) {
    let given = built.skill.tools.iter().flat_map(|note| &note.labels).map(String::as_str);
    let known: BTreeSet<&str> = LABELS.into_iter().chain(given).collect();
    for (matcher, span) in matchers {
        let ToolPattern::Label(label) = &matcher.tool else { continue };
        if known.contains(label.as_str()) {
            continue;
        }
        let suggestion = did_you_mean(label, known.iter().copied())
            .unwrap_or_else(|| format!("the labels are {}; `tools` can give others", listed(known.iter().copied())));
        findings.push(
            Finding::warning(Code::MatcherNeverMatches, *span, format!("no tool has the label `{label}`"))
                .suggest(suggestion),
        );
    }
}

fn servers(built: &Built, matchers: &[(&Matcher, Span)], findings: &mut Vec<Finding>) {
    let listed: Vec<&str> = built.skill.servers.iter().map(String::as_str).collect();
    for (matcher, span) in matchers {
        let ServerPattern::Named(server) = &matcher.server else { continue };
        if listed.contains(&server.as_str()) {
            continue;
        }
        if let Some(meant) = listed.iter().find(|known| slip(server, known)) {
            findings.push(
                Finding::warning(
                    Code::MatcherNeverMatches,
                    *span,
                    format!("server `{server}` is not listed under `servers`"),
                )
                .suggest(format!("did you mean `{meant}`?")),
            );
        }
    }
}

/// Tools of MCP servers by bare names, where the skill lists no server: an allowed list then means a host's own tools only.
fn no_servers(built: &Built, findings: &mut Vec<Finding>) {
    if built.skill.seed || !built.skill.servers.is_empty() {
        return;
    }
    let phases = built.skill.phases.iter().zip(&built.places.phases);
    let mut allowed = phases.flat_map(|(phase, places)| phase.allowed.iter().zip(&places.allowed));
    // The canonical names of the hosts' own tools begin with a capital letter.
    let foreign = allowed.find(|(matcher, _)| match &matcher.tool {
        ToolPattern::Exact(name) | ToolPattern::Prefix(name) => {
            matcher.server == ServerPattern::Bare
                && name.starts_with(|first: char| first.is_ascii_lowercase())
                && !name.starts_with("mcp__")
        }
        ToolPattern::Any | ToolPattern::Label(_) => false,
    });
    if let Some((matcher, span)) = foreign {
        let name = matcher.text.split(' ').next().unwrap_or_default();
        findings.push(
            Finding::warning(
                Code::MatcherNeverMatches,
                *span,
                format!("`{name}` matches no tool of an MCP server here"),
            )
            .cause("a name without a server allows the tools of the servers that the skill lists, and it lists none")
            .suggest(format!("add `servers: [NAME]` to the skill, or write `mcp__NAME__{name}`")),
        );
    }
}

/// A name that is used once, and differs by a slip from one that a host has, that `tools` lists, or that is used more often.
fn tools(built: &Built, matchers: &[(&Matcher, Span)], findings: &mut Vec<Finding>) {
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for (matcher, _) in matchers {
        if let ToolPattern::Exact(name) = &matcher.tool {
            *uses.entry(name).or_default() += 1;
        }
    }
    let noted = built.skill.tools.iter().filter_map(|note| match &note.matcher.tool {
        ToolPattern::Exact(name) => Some(name.as_str()),
        ToolPattern::Any | ToolPattern::Prefix(_) | ToolPattern::Label(_) => None,
    });
    let known: BTreeSet<&str> = HOST_TOOLS.into_iter().chain(noted).collect();
    for (matcher, span) in matchers {
        let ToolPattern::Exact(name) = &matcher.tool else { continue };
        let own = uses.get(name.as_str()).copied().unwrap_or_default();
        if known.contains(name.as_str()) || !builtin_labels(name).is_empty() {
            continue;
        }
        let used_more = uses.iter().filter(|(_, count)| **count > own).map(|(other, _)| *other);
        if let Some(meant) = known.iter().copied().chain(used_more).find(|other| slip(name, other)) {
            findings.push(
                Finding::warning(Code::MatcherNeverMatches, *span, format!("`{name}` is probably misspelt"))
                    .cause("another tool has nearly the same name")
                    .suggest(format!("did you mean `{meant}`?")),
            );
        }
    }
}
