//! The conditions that are asked while a run is in a phase.

use alloc::collections::BTreeSet;

use crate::evidence::condition::{CallTest, Condition, UnchangedTest};
use crate::policy::matcher::Use;
use crate::policy::{Optional, Skill};

/// Calls `visit` with every call test that a call decided in phase `here` can prove.
pub(crate) fn each_call<'s>(skill: &'s Skill, here: usize, visit: &mut dyn FnMut(&'s CallTest, Use)) {
    conditions(skill, here).for_each(|condition| condition.each_use(Use::Permit, visit));
}

/// The conditions that are asked while the run is in phase `here`: the phase's own `done_when`, and those that look at the
/// whole run.
pub(crate) fn conditions(skill: &Skill, here: usize) -> impl Iterator<Item = &Condition> {
    skill.phases.iter().enumerate().flat_map(move |(index, phase)| {
        let optional = match &phase.optional {
            Optional::When(condition) => Some(&**condition),
            Optional::No | Optional::Never | Optional::Yes => None,
        };
        let own = phase.done_when.iter().chain(&phase.failed_when).filter(move |_| index == here);
        let edges = phase.next.iter().filter_map(|edge| edge.when.as_ref());
        let backs = phase.back.iter().filter_map(|back| back.when.as_ref());
        phase.line_conditions().chain(&phase.requires).chain(own).chain(optional).chain(edges).chain(backs)
    })
}

/// Calls `visit` with all that has to be as it was when the visit of phase `here` began. A line of another phase asks for what
/// is so when that one is entered.
pub(crate) fn each_unchanged<'s>(skill: &'s Skill, here: usize, visit: &mut dyn FnMut(&'s UnchangedTest)) {
    let mut elsewhere = BTreeSet::new();
    for (_, phase) in skill.phases.iter().enumerate().filter(|(index, _)| *index != here) {
        let lines = phase.line_conditions();
        lines.for_each(|line| line.each_unchanged(&mut |test| elsewhere.extend([test.atom])));
    }
    for condition in conditions(skill, here) {
        condition.each_unchanged(&mut |test| {
            if !elsewhere.contains(&test.atom) {
                visit(test);
            }
        });
    }
}

/// The conditions that a phase's own visit is asked for.
pub(crate) fn own_conditions(skill: &Skill, phase: usize) -> impl Iterator<Item = &Condition> {
    skill.phases.get(phase).into_iter().flat_map(|phase| phase.done_when.iter().chain(&phase.failed_when))
}
