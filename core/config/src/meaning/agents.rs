//! Types of subagents that nobody has.

use phasegate_core::Code;
use phasegate_core::calls::analysis::Invocation;
use phasegate_core::policy::matcher::AgentTest;

use super::uses;
use crate::build::builder::Built;
use crate::input::Known;
use crate::read::report::Finding;
use crate::read::suggestion::{did_you_mean, listed};

/// The types that agent hosts have without a file.
const HOST_AGENTS: [&str; 9] = [
    "Explore",
    "Plan",
    "build",
    "explore",
    "general",
    "general-purpose",
    "output-style-setup",
    "plan",
    "statusline-setup",
];

/// Whether agent hosts have a subagent of this type without a file.
pub fn is_host_agent(kind: &str) -> bool {
    HOST_AGENTS.contains(&kind)
}

/// Reports them: as warnings, because a plugin or a teammate's folder may have one.
pub(super) fn check(built: &Built, known: &Known, findings: &mut Vec<Finding>) {
    let Some(own) = &known.agents else { return };
    let is_known = |kind: &str| kind.is_empty() || kind.contains('*') || own.contains(kind) || is_host_agent(kind);
    let all = || own.iter().map(String::as_str).chain(["main", "subagent"]).chain(HOST_AGENTS);
    let suggested =
        |kind: &str| did_you_mean(kind, all()).unwrap_or_else(|| format!("the types here are {}", listed(all())));
    // The lines of a phase that a subagent does are its own: what is wrong with its type is wrong once.
    let mut told: Vec<&str> = Vec::new();
    for (phase, places) in built.skill.phases.iter().zip(&built.places.phases) {
        let Some(kind) = phase.done_by.as_deref().filter(|kind| !is_known(kind) && !told.contains(kind)) else {
            continue;
        };
        told.push(kind);
        let message = format!(
            "no file defines a subagent of the type `{kind}`, so nothing does the phase `{}` until one does",
            phase.name
        );
        findings.push(Finding::warning(Code::MatcherNeverMatches, places.done_by, message).suggest(suggested(kind)));
    }
    for used in uses::all(built) {
        let kind = match (&used.matcher.agent, used.matcher.invokes.as_deref()) {
            (Some(AgentTest::Kind(kind)), _) | (_, Some(Invocation::Agent(kind))) => kind,
            _ => continue,
        };
        if is_known(kind) || told.contains(&kind.as_str()) {
            continue;
        }
        let nothing = if used.place.forbids() { "forbids nothing" } else { "means no call" };
        let message = format!("no file defines a subagent of the type `{kind}`, so this {nothing} until one does");
        findings.push(Finding::warning(Code::MatcherNeverMatches, used.span, message).suggest(suggested(kind)));
    }
}
