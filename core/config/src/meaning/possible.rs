//! What can happen in a phase at all: which calls it takes, and whether it can be done.

use phasegate_core::condition::Condition;
use phasegate_core::matcher::{Matcher, Use};
use phasegate_core::policy::{Edge, Leave, Optional, Phase, Skill, Unlisted};
use phasegate_core::tool::{EXECUTE, READ, WRITE};

use super::sample::{self, Sample};

/// A skill with its sample calls, and which of its phases can be done.
pub(super) struct Possible<'s> {
    pub(super) skill: &'s Skill,
    samples: Vec<Sample>,
    done: Vec<bool>,
}

impl<'s> Possible<'s> {
    pub(super) fn new(skill: &'s Skill) -> Self {
        let mut possible = Self { skill, samples: sample::all(skill), done: Vec::new() };
        possible.done = (0..skill.phases.len())
            .map(|at| skill.phases.get(at).is_none_or(|phase| possible.satisfiable_in(at, phase)))
            .collect();
        possible
    }

    /// Whether the phase has no `done_when`, or one that can hold.
    pub(super) fn can_be_done(&self, at: usize) -> bool {
        self.done.get(at).copied().unwrap_or(true)
    }

    fn satisfiable_in(&self, at: usize, phase: &Phase) -> bool {
        phase.done_when.as_ref().is_none_or(|condition| self.satisfiable(at, phase, condition))
    }

    fn satisfiable(&self, at: usize, phase: &Phase, condition: &Condition) -> bool {
        match condition {
            Condition::All(parts) => parts.iter().all(|part| self.satisfiable(at, phase, part)),
            // An empty list stands for parts that were reported and taken out.
            Condition::Any(parts) => parts.is_empty() || parts.iter().any(|part| self.satisfiable(at, phase, part)),
            Condition::Call(test) => self.can_be_made(at, phase, &test.matcher),
            Condition::Not(_) | Condition::Fact(_) | Condition::Approved(_) => true,
        }
    }

    fn selected(&self, matcher: &Matcher) -> impl Iterator<Item = &Sample> {
        self.samples.iter().filter(|sample| sample.fits(matcher, self.skill, Use::Permit))
    }

    /// Whether a call that the matcher selects can be made in the phase.
    pub(super) fn can_be_made(&self, at: usize, phase: &Phase, matcher: &Matcher) -> bool {
        self.selected(matcher).any(|sample| self.made_in(at, phase, sample) || self.enters_forbidden(at, sample))
    }

    /// Whether the phase allows a call that the matcher selects, whatever it forbids.
    pub(super) fn allows(&self, phase: &Phase, matcher: &Matcher) -> bool {
        self.selected(matcher).any(|sample| sample.fits_any(&phase.allowed, self.skill, Use::Permit))
    }

    /// What forbids in the phase a call that the matcher selects.
    pub(super) fn forbids(&self, phase: &'s Phase, matcher: &Matcher) -> Option<&'s Matcher> {
        let lists = || phase.forbidden.iter().chain(&self.skill.global_forbidden);
        self.selected(matcher).find_map(|sample| lists().find(|other| sample.all_forbidden_by(other, self.skill)))
    }

    /// Whether the call is made in the phase, and does not lead elsewhere.
    fn made_in(&self, at: usize, phase: &Phase, sample: &Sample) -> bool {
        let forbidden = sample.all_forbidden(&phase.forbidden, self.skill);
        if forbidden || sample.all_forbidden(&self.skill.global_forbidden, self.skill) {
            return false;
        }
        sample.fits_any(&phase.allowed, self.skill, Use::Permit)
            || (self.following(at, sample).is_none() && self.passes(sample))
    }

    /// Whether the call may enter the phase although the phase forbids it, as in the compat form.
    fn enters_forbidden(&self, at: usize, sample: &Sample) -> bool {
        let mut others = self.skill.phases.iter().enumerate().filter(|(other, _)| *other != at);
        self.skill.compat && others.any(|(other, phase)| self.leads_to(other, phase, sample).contains(&at))
    }

    fn passes(&self, sample: &Sample) -> bool {
        match self.skill.unlisted {
            Unlisted::Allow => true,
            Unlisted::ReadOnly => {
                let labels = &sample.labels;
                labels.contains(READ) && !labels.contains(WRITE) && !labels.contains(EXECUTE)
            }
            Unlisted::Deny => false,
        }
    }

    /// The phases that some sample call may lead to from this one, whatever the evidence.
    pub(super) fn leads(&self, at: usize) -> Vec<usize> {
        let Some(phase) = self.skill.phases.get(at) else { return Vec::new() };
        self.samples.iter().flat_map(|sample| self.leads_to(at, phase, sample)).collect()
    }

    fn leads_to(&self, at: usize, phase: &Phase, sample: &Sample) -> Vec<usize> {
        let forbidden = sample.all_forbidden(&phase.forbidden, self.skill);
        let stays = sample.fits_any(&phase.allowed, self.skill, Use::Permit) && !forbidden;
        if stays || sample.all_forbidden(&self.skill.global_forbidden, self.skill) {
            return Vec::new();
        }
        let mut leads = Vec::new();
        if let Some(to) = self.following(at, sample) {
            if !self.along(at, &|from, edge| edge.early || self.passable(at, from)).contains(&to) {
                return leads;
            }
            if !forbidden || (phase.done_when.is_some() && self.waits(phase)) {
                leads.push(to);
            }
            // A rollback edge matters only if the transition is open and the call is forbidden here.
            if !forbidden {
                return leads;
            }
        }
        let takes = |to: &usize| self.skill.phases.get(*to).is_some_and(|phase| self.belongs(phase, sample));
        leads.extend(phase.back.iter().map(|back| back.to).filter(takes));
        leads
    }

    fn passable(&self, here: usize, from: usize) -> bool {
        let passed = |phase: &Phase| phase.done_when.is_none() || phase.optional != Optional::No;
        self.skill.phases.get(from).is_some_and(|phase| if from == here { self.waits(phase) } else { passed(phase) })
    }

    /// Whether a call may find the phase done: one that is left at once by an edge that needs nothing is gone by then.
    fn waits(&self, phase: &Phase) -> bool {
        let needs = |edge: &Edge| {
            edge.when.is_some() || self.skill.phases.get(edge.to).is_some_and(|next| next.requires.is_some())
        };
        phase.leave == Leave::OnCall || phase.done_when.is_none() || phase.next.iter().all(needs)
    }

    fn belongs(&self, phase: &Phase, sample: &Sample) -> bool {
        sample.fits_any(&phase.allowed, self.skill, Use::Permit)
            && (self.skill.compat || !sample.all_forbidden(&phase.forbidden, self.skill))
    }

    /// The first following phase that takes the call, breadth first.
    fn following(&self, start: usize, sample: &Sample) -> Option<usize> {
        let takes = |at: &usize| self.skill.phases.get(*at).is_some_and(|phase| self.belongs(phase, sample));
        self.along(start, &|_, _| true).into_iter().find(takes)
    }

    /// The phases along usable edges, breadth first, without the start.
    fn along(&self, start: usize, usable: &dyn Fn(usize, &Edge) -> bool) -> Vec<usize> {
        let mut seen = vec![start];
        let mut next = 0;
        while let Some(from) = seen.get(next).copied() {
            next += 1;
            for edge in self.skill.phases.get(from).map(|phase| phase.next.as_slice()).unwrap_or_default() {
                if !seen.contains(&edge.to) && usable(from, edge) {
                    seen.push(edge.to);
                }
            }
        }
        seen.split_off(1)
    }
}
