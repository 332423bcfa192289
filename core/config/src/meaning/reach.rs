//! Phases that no call enters, and phases that can never be done, as far as their lists alone tell.
//!
//! What is in doubt is not reported: a phase that is called unreachable and is not would deny a whole project.

use std::collections::BTreeSet;

use phasegate_core::Code;
use phasegate_core::calls::tool::{READ, only_reads};
use phasegate_core::evidence::condition::Condition;
use phasegate_core::policy::matcher::{Matcher, ToolPattern};
use phasegate_core::policy::{Leave, Phase, Skill, Unlisted};

use super::cover::{covers, labels};
use super::overlap::overlap;
use super::rollback::after;
use crate::build::builder::Built;
use crate::read::node::Span;
use crate::read::report::Finding;
use crate::read::suggestion::listed;

/// Reports what is never reached and what is never done.
///
/// Phases that a mistake `damaged` are passed over.
pub(super) fn check(built: &Built, damaged: &[bool], findings: &mut Vec<Finding>) {
    let skill = &built.skill;
    let lists = Lists { skill, after: after(skill) };
    for (at, (phase, places)) in skill.phases.iter().zip(&built.places.phases).enumerate() {
        if damaged.get(at) == Some(&true) {
            continue;
        }
        if !lists.can_be_done(at, phase) {
            findings.push(never_done(&lists, at, phase, places.done_when));
        }
        if skill.finish_required && phase.next.is_empty() && !phase.asks() {
            findings.push(never_finished(phase, places.key));
        }
        if let Some(why) = lists.never_entered(at, phase) {
            findings.push(never_reached(phase, &why, places.key).lenient(skill.compat));
        }
    }
}

fn never_finished(phase: &Phase, span: Span) -> Finding {
    let message = format!("the skill must be finished, and its last phase `{}` is never done", phase.name);
    Finding::error(Code::PhaseNeverDone, span, message)
        .cause("a phase is done when its `done_when` holds, and it has none")
        .suggest("say by `done_when` what finishes it")
}

/// Why no call enters a phase.
enum Why<'s> {
    /// It allows none.
    Empty,
    /// No way leads to it.
    Apart,
    /// This phase before it allows each of its calls.
    Kept(&'s Phase),
    /// This phase before it forbids each of its calls, and is never done.
    Forbidden(&'s Phase),
}

fn never_reached(phase: &Phase, why: &Why<'_>, span: Span) -> Finding {
    let finding = Finding::error(Code::PhaseUnreachable, span, format!("phase `{}` is never reached", phase.name));
    match why {
        Why::Empty => finding.cause("it allows nothing, so no call asks to enter it"),
        Why::Apart => finding
            .cause("no other phase leads to it")
            .suggest(format!("name it under the `next` of another phase: `next: [{{to: {}}}]`", phase.name)),
        Why::Kept(earlier) => finding
            .cause(format!(
                "phase `{}` before it allows each of its calls, so none of them leads on from there",
                earlier.name
            ))
            .suggest(format!("take its calls out of `{}`, or give that phase `leave: on_done`", earlier.name)),
        Why::Forbidden(earlier) => finding
            .cause(format!("phase `{}` before it forbids each of its calls, and is never done", earlier.name))
            .suggest(format!("give `{}` a `done_when`, or do not forbid them there", earlier.name)),
    }
}

fn never_done(lists: &Lists<'_>, at: usize, phase: &Phase, span: Span) -> Finding {
    let mut asked: Vec<&Matcher> = Vec::new();
    phase.done_when.iter().for_each(|condition| wanted(condition, &mut asked));
    asked.retain(|matcher| !lists.can_be_made(at, phase, matcher));
    let names = listed(asked.iter().map(|matcher| matcher.text.as_str()).collect::<BTreeSet<_>>());
    let finding = Finding::error(Code::PhaseNeverDone, span, format!("phase `{}` can never be done", phase.name))
        .cause(format!("its `done_when` asks for {names}, and no such call can be made in it"));
    let forbidden = asked.iter().filter(|matcher| lists.allows(phase, matcher));
    if let Some((matcher, by)) = forbidden.filter_map(|one| Some((one, lists.forbids(phase, one)?))).next() {
        let labels = if matches!(by.tool, ToolPattern::Label(_)) {
            ", or give the tool its labels under `tools`: one without any is taken to have all but `read`"
        } else {
            ""
        };
        return finding.suggest(format!("do not forbid `{}` by `{}`{labels}", matcher.text, by.text));
    }
    let takes =
        |other: &&Phase| asked.iter().any(|one| lists.allows(other, one) && lists.forbids(other, one).is_none());
    let others: Vec<&str> = lists.skill.phases.iter().filter(takes).map(|other| other.name.as_str()).collect();
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

/// A skill, and for each phase which ones follow it.
struct Lists<'s> {
    skill: &'s Skill,
    after: Vec<Vec<bool>>,
}

impl<'s> Lists<'s> {
    /// Whether the phase has no `done_when`, or one that may hold.
    fn can_be_done(&self, at: usize, phase: &Phase) -> bool {
        // The calls of runs are those of other skills, and the steps of a plan permit calls that no line does.
        let other = phase.run.is_some() || phase.steps.is_some();
        other || phase.done_when.as_ref().is_none_or(|condition| self.may_hold(at, phase, condition))
    }

    fn may_hold(&self, at: usize, phase: &Phase, condition: &Condition) -> bool {
        match condition {
            Condition::All(parts) => parts.iter().all(|part| self.may_hold(at, phase, part)),
            // An empty list stands for parts that were reported and taken out.
            Condition::Any(parts) => parts.is_empty() || parts.iter().any(|part| self.may_hold(at, phase, part)),
            Condition::Call(test) => self.can_be_made(at, phase, &test.matcher),
            _ => true,
        }
    }

    /// Whether a call that the matcher selects may be made in the phase.
    fn can_be_made(&self, at: usize, phase: &Phase, matcher: &Matcher) -> bool {
        let denied = !self.skill.compat && self.forbids(phase, matcher).is_some();
        !denied && (self.allows(phase, matcher) || self.passes(at, phase, matcher))
    }

    fn allows(&self, phase: &Phase, matcher: &Matcher) -> bool {
        phase.allowed.iter().any(|line| overlap(line, matcher, self.skill))
    }

    /// The line that forbids each call of the matcher, whatever has happened.
    fn forbids(&self, phase: &'s Phase, matcher: &Matcher) -> Option<&'s Matcher> {
        let unknown = matches!(matcher.tool, ToolPattern::Exact(_)) && labels(matcher, self.skill).is_empty();
        let by_label = |line: &Matcher| {
            let other = matches!(&line.tool, ToolPattern::Label(label) if label != READ);
            unknown && other && line.args.is_empty() && line.agent.is_none() && line.except.is_empty()
        };
        let mut lines = phase.always_forbidden().map(|(_, line)| line).chain(&self.skill.global_forbidden);
        // What a line excepts does not matter where it excepts none of these calls.
        let excepts = |line: &Matcher| line.except.iter().any(|other| overlap(other, matcher, self.skill));
        let whole = |line: &Matcher| !excepts(line) && covers(&line.without_exceptions(), matcher, self.skill);
        lines.find(|line| covers(line, matcher, self.skill) || whole(line) || by_label(line))
    }

    /// Whether a call that the phase does not list may pass there.
    fn passes(&self, at: usize, phase: &Phase, matcher: &Matcher) -> bool {
        let takes = |other: &Phase| {
            let listed = other.enters().any(|line| covers(line, matcher, self.skill));
            listed && self.forbids(other, matcher).is_none()
        };
        let mut others = self.skill.phases.iter().enumerate().filter(|(to, _)| *to != at && self.follows(at, *to));
        if others.any(|(_, other)| takes(other)) {
            return false;
        }
        let (lines, otherwise) = self.skill.unlisted_in(phase);
        if lines.iter().any(|line| line.passes && overlap(&line.matcher, matcher, self.skill)) {
            return true;
        }
        let known = labels(matcher, self.skill);
        let exact = matches!(matcher.tool, ToolPattern::Exact(_) | ToolPattern::Label(_)) || !known.is_empty();
        match otherwise {
            _ if lines.iter().any(|line| !line.passes && covers(&line.matcher, matcher, self.skill)) => false,
            Unlisted::Allow => true,
            Unlisted::ReadOnly => only_reads(&known) || !exact || !matcher.commands.is_empty(),
            Unlisted::Deny => false,
        }
    }

    fn follows(&self, of: usize, phase: usize) -> bool {
        self.after.get(of).is_some_and(|after| after.get(phase) == Some(&true))
    }

    /// Why no call enters the phase, where that is sure.
    fn never_entered(&self, at: usize, phase: &'s Phase) -> Option<Why<'s>> {
        let others = || self.skill.phases.iter().enumerate().filter(move |(from, _)| *from != at);
        let before: Vec<(usize, &Phase)> =
            others().filter(|(_, from)| from.next.iter().any(|edge| edge.to == at)).collect();
        let back: Vec<&Phase> =
            others().map(|(_, from)| from).filter(|from| from.back.iter().any(|back| back.to == at)).collect();
        let by_itself = before.iter().any(|(_, from)| from.leave == Leave::OnDone || from.run.is_some())
            || back.iter().any(|from| from.leave == Leave::OnDone || from.run.is_some());
        if at == 0 || by_itself || phase.run.is_some() || phase.steps.is_some() {
            return None;
        }
        if phase.enters().next().is_none() {
            return Some(Why::Empty);
        }
        let nearest = before.iter().rev().map(|(_, from)| *from).chain(back.iter().copied()).next();
        let Some(nearest) = nearest else { return Some(Why::Apart) };
        let mut ways = before.iter().map(|(_, from)| *from).chain(back.iter().copied());
        if ways.all(|from| phase.enters().all(|line| self.keeps(from, line))) {
            return Some(Why::Kept(nearest));
        }
        let alone = back.is_empty() && before.iter().all(|(from, one)| *from == 0 && !one.asks());
        let begins = !self.skill.phases.iter().any(|one| one.next.iter().any(|edge| edge.to == 0));
        let closed = alone && begins && phase.enters().all(|line| self.forbids(nearest, line).is_some());
        closed.then_some(Why::Forbidden(nearest))
    }

    /// Whether each call of the line stays in the phase.
    fn keeps(&self, phase: &Phase, line: &Matcher) -> bool {
        let own = phase.allowed.iter().enumerate().filter(|(at, _)| phase.required_by(*at).is_none());
        let forbidden = phase.forbidden.iter().chain(&self.skill.global_forbidden);
        phase.run.is_none()
            && self.skill.reserved_in(phase).next().is_none()
            && own.into_iter().any(|(_, own)| covers(own, line, self.skill))
            && !forbidden.into_iter().any(|other| overlap(other, line, self.skill))
    }
}
