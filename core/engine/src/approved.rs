//! Approved calls: those about which the platform need not ask its user (rules 3.7).

use crate::analysis::PathUse;
use crate::decision::{Decision, Effect};
use crate::policy::{Approve, Policy};
use crate::tool::{BASH, Call, NETWORK, only_reads};

/// The built-in tools that look at the project, and ask nobody.
const LOOKERS: [&str; 6] = ["Read", "Grep", "Glob", "LS", "NotebookRead", BASH];

/// Whether the call is approved: no gate has anything to say, and it only reads, in the project, and talks to nobody.
pub(crate) fn is_approved(policy: &Policy, call: &Call, decision: &Decision) -> bool {
    let known = call.tool.server.is_some() || LOOKERS.contains(&call.tool.name.as_str());
    policy.approve == Approve::Reads && decision.effect == Effect::Allow && known && reads_here(call)
}

/// Whether every part of the call only reads, at paths of the project.
fn reads_here(call: &Call) -> bool {
    let analysis = &call.analysis;
    let sends = call.tool.labels.contains(NETWORK) || analysis.commands.iter().any(|command| command.network);
    let inside = |path: &PathUse| path.resolved.as_deref().is_some_and(|path| !path.starts_with('/'));
    let read_line = call.tool.name != BASH || call.tool.server.is_some() || !analysis.commands.is_empty();
    only_reads(&call.tool.labels)
        && !sends
        && !call.background
        && read_line
        && analysis.guarded.is_empty()
        && analysis.invokes.is_none()
        && analysis.paths.iter().all(inside)
}
