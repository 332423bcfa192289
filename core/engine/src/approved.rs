//! Approved calls: those about which the platform need not ask its user (rules 3.7).

use crate::analysis::{CallAnalysis, PathUse, SimpleCommand, Word};
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
        && analysis.commands.iter().all(|command| stays_here(command, analysis))
}

/// Whether every word of a command is known, and none names what may lie outside of the project. The program may.
fn stays_here(command: &SimpleCommand, analysis: &CallAnalysis) -> bool {
    let program = command.words.iter().take(1).all(|word| matches!(word, Word::Known(_)));
    let assigned = command.assignments.iter().map(|(_, word)| word);
    let redirected = command.redirections.iter().map(|(_, word)| word);
    let mut words = command.words.iter().skip(1).chain(assigned).chain(redirected);
    program
        && words.all(|word| match word {
            Word::Known(text) => !may_leave(text) || analysis.paths.iter().any(|path| path.written == *text),
            _ => false,
        })
}

/// Whether a word may name a path outside of the project: an absolute one, one of a home folder, or one that goes up. A
/// path that the analysis knows is looked at there.
fn may_leave(word: &str) -> bool {
    let option = word.starts_with('-') && word.contains('/');
    let leaves = |piece: &str| piece.starts_with(['/', '~']) || piece.split('/').any(|part| part == "..");
    option || word.split(['=', ':', ',']).any(leaves)
}

#[cfg(test)]
mod tests {
    use super::may_leave;

    #[test]
    fn words_that_lead_out_are_seen() {
        for word in ["/etc", "~", "~/x", "../a", "a/../../b", "-C/x", "--dir=/x", "--dir=~", "a:/x", "-I../x"] {
            assert!(may_leave(word), "{word}");
        }
        for word in ["src/a.rs", "-la", "HEAD~1", "HEAD..main", "--name-only", "a/b/c", "."] {
            assert!(!may_leave(word), "{word}");
        }
    }
}
