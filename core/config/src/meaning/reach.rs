//! Phases that no sequence of calls makes current, and phases that can never be done.

use std::collections::BTreeSet;

use phasegate_core::Code;
use phasegate_core::condition::Condition;
use phasegate_core::matcher::{Matcher, ToolPattern};
use phasegate_core::policy::{Leave, Phase};

use super::possible::Possible;
use crate::build::builder::Built;
use crate::node::Span;
use crate::report::Finding;
use crate::suggestion::listed;

/// Reports what is never reached and what is never done.
///
/// Phases that a mistake `damaged` are passed over, and those that are never done because of a `misspelt` name.
pub(super) fn check(
    built: &Built,
    possible: &Possible<'_>,
    damaged: &[bool],
    misspelt: &BTreeSet<usize>,
    findings: &mut Vec<Finding>,
) {
    let reached = reached(possible);
    for (at, (phase, places)) in built.skill.phases.iter().zip(&built.places.phases).enumerate() {
        if damaged.get(at) == Some(&true) {
            continue;
        }
        if !possible.can_be_done(at) && !misspelt.contains(&at) {
            findings.push(never_done(possible, at, phase, places.done_when));
        }
        if built.skill.finish_required && phase.next.is_empty() && !phase.asks() {
            findings.push(never_finished(phase, places.key));
        }
        if reached.get(at) == Some(&false) {
            findings.push(never_reached(possible, at, phase, places.key).lenient(built.skill.compat));
        }
    }
}

fn never_finished(phase: &Phase, span: Span) -> Finding {
    let message = format!("the skill must be finished, and its last phase `{}` is never done", phase.name);
    Finding::error(Code::PhaseNeverDone, span, message)
        .cause("a phase is done when its `done_when` holds, and it has none")
        .suggest("say by `done_when` what finishes it")
}

fn never_reached(possible: &Possible<'_>, at: usize, phase: &Phase, span: Span) -> Finding {
    let finding = Finding::error(Code::PhaseUnreachable, span, format!("phase `{}` is never reached", phase.name));
    if phase.allowed.is_empty() {
        return finding.cause("it allows nothing, so no call asks to enter it");
    }
    let before = at.checked_sub(1).and_then(|before| Some((before, possible.skill.phases.get(before)?)));
    match before {
        Some((before, earlier)) if phase.allowed.iter().all(|matcher| possible.allows(before, matcher)) => finding
            .cause(format!(
                "phase `{}` before it allows each of its calls, so none of them leads on from there",
                earlier.name
            ))
            .suggest(format!("take its calls out of `{}`, or give that phase `leave: on_done`", earlier.name)),
        _ => finding.cause(
            "in the phases before it, what it allows is forbidden, belongs to another phase, or waits for something that cannot happen",
        ),
    }
}

fn never_done(possible: &Possible<'_>, at: usize, phase: &Phase, span: Span) -> Finding {
    let mut asked: Vec<&Matcher> = Vec::new();
    phase.done_when.iter().for_each(|condition| wanted(condition, &mut asked));
    asked.retain(|matcher| !possible.can_be_made(at, matcher));
    let names = listed(asked.iter().map(|matcher| matcher.text.as_str()).collect::<BTreeSet<_>>());
    let finding = Finding::error(Code::PhaseNeverDone, span, format!("phase `{}` can never be done", phase.name))
        .cause(format!("its `done_when` asks for {names}, and no such call can be made in it"));
    let phases = &possible.skill.phases;
    let forbidden = asked.iter().filter(|matcher| possible.allows(at, matcher));
    let mut forbidden = forbidden.filter_map(|matcher| Some((matcher, possible.forbids(at, matcher)?)));
    if let Some((matcher, by)) = forbidden.next() {
        let labels = if matches!(by.tool, ToolPattern::Label(_)) {
            ", or give the tool its labels under `tools`: one without any is taken to have all but `read`"
        } else {
            ""
        };
        return finding.suggest(format!("do not forbid `{}` by `{}`{labels}", matcher.text, by.text));
    }
    let takes = |at: usize, matcher: &Matcher| possible.allows(at, matcher) && possible.can_be_made(at, matcher);
    let others = phases.iter().enumerate().filter(|(at, _)| asked.iter().any(|matcher| takes(*at, matcher)));
    let others: Vec<&str> = others.map(|(_, other)| other.name.as_str()).collect();
    if others.is_empty() {
        return finding.suggest(format!("let the phase allow {names}"));
    }
    let others = listed(others);
    finding.suggest(format!("let the phase allow {names}, or ask for it in a phase that allows it: {others}"))
}

/// The calls that a condition wants to have seen.
fn wanted<'c>(condition: &'c Condition, found: &mut Vec<&'c Matcher>) {
    match condition {
        Condition::All(parts) | Condition::Any(parts) => parts.iter().for_each(|part| wanted(part, found)),
        Condition::Call(test) => found.push(&test.matcher),
        Condition::Not(_)
        | Condition::Fact(_)
        | Condition::Approved(_)
        | Condition::Unchanged(_)
        | Condition::Artifact(_)
        | Condition::Says(_) => {}
    }
}

/// Which phases can become current, if those that can never be done could be: that is reported for itself.
fn reached(possible: &Possible<'_>) -> Vec<bool> {
    let phases = &possible.skill.phases;
    let mut reached = vec![false; phases.len()];
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        let Some(mark @ false) = reached.get_mut(at) else { continue };
        *mark = true;
        open.extend(possible.leads(at));
        if let Some(phase) = phases.get(at).filter(|phase| phase.leave == Leave::OnDone) {
            // The first edge that needs nothing is taken; what stands after it never is.
            let shadow =
                phase.next.iter().position(|edge| edge.when.is_none()).map_or(phase.next.len(), |first| first + 1);
            open.extend(phase.next.iter().take(shadow).map(|edge| edge.to));
            open.extend(phase.back.iter().filter(|back| back.on_failure).map(|back| back.to));
        }
    }
    reached
}
