//! What can happen in a phase at all: which calls it takes, and whether it can be done.

use phasegate_core::condition::Condition;
use phasegate_core::matcher::Use;
use phasegate_core::policy::{Edge, Optional, Phase, Skill, Unlisted};
use phasegate_core::tool::{EXECUTE, READ, WRITE};

use super::sample::{self, Sample};

/// A skill with its sample calls, and which of its phases can be done.
pub(super) struct Possible<'s> {
    pub(super) skill: &'s Skill,
    samples: Vec<Sample>,
    done: Vec<bool>,
}

/// What becomes of a sample call in a phase, whatever the evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is made in the phase.
    Stays,
    /// It may lead to one of these phases.
    Leads(Vec<usize>),
    /// It is a violation.
    Violates,
}

impl<'s> Possible<'s> {
    pub(super) fn new(skill: &'s Skill) -> Self {
        let mut possible = Self { skill, samples: sample::all(skill), done: Vec::new() };
        possible.done =
            (0..skill.phases.len()).map(|at| skill.phases.get(at).is_none_or(|phase| possible.satisfiable_in(at, phase))).collect();
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
            Condition::Call(test) => self
                .samples
                .iter()
                .any(|sample| sample.fits(&test.matcher, self.skill, Use::Permit) && self.made_in(at, phase, sample)),
            Condition::Not(_) | Condition::File(_) | Condition::Approved(_) => true,
        }
    }

    /// Whether the call is made in the phase, and does not lead elsewhere.
    fn made_in(&self, at: usize, phase: &Phase, sample: &Sample) -> bool {
        let forbidden = sample.fits_any(&phase.forbidden, self.skill, Use::Forbid);
        if forbidden || sample.fits_any(&self.skill.global_forbidden, self.skill, Use::Forbid) {
            return false;
        }
        sample.fits_any(&phase.allowed, self.skill, Use::Permit)
            || (self.following(at, sample, &|_, _| true).is_none() && self.passes(sample))
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

    /// What becomes of each sample call in the phase.
    pub(super) fn fates(&self, at: usize) -> impl Iterator<Item = Fate> {
        self.samples.iter().filter_map(move |sample| Some(self.fate(at, self.skill.phases.get(at)?, sample)))
    }

    fn fate(&self, at: usize, phase: &Phase, sample: &Sample) -> Fate {
        if sample.fits_any(&self.skill.global_forbidden, self.skill, Use::Forbid) {
            return Fate::Violates;
        }
        if self.made_in(at, phase, sample) {
            return Fate::Stays;
        }
        let forbidden = sample.fits_any(&phase.forbidden, self.skill, Use::Forbid);
        let mut leads = Vec::new();
        if let Some(to) = self.following(at, sample, &|_, _| true) {
            let usable = |from: usize, edge: &Edge| edge.early || self.passable(at, from);
            let open = self.following(at, sample, &usable) == Some(to);
            let unlocked = !forbidden || (phase.done_when.is_some());
            if open && unlocked {
                leads.push(to);
            }
        }
        let takes = |to: &usize| self.skill.phases.get(*to).is_some_and(|phase| self.belongs(phase, sample));
        leads.extend(phase.back.iter().map(|back| back.to).filter(takes));
        if leads.is_empty() { Fate::Violates } else { Fate::Leads(leads) }
    }

    fn passable(&self, here: usize, from: usize) -> bool {
        let passed = |phase: &Phase| phase.done_when.is_none() || phase.optional != Optional::No;
        from == here || self.skill.phases.get(from).is_some_and(passed)
    }

    fn belongs(&self, phase: &Phase, sample: &Sample) -> bool {
        sample.fits_any(&phase.allowed, self.skill, Use::Permit)
            && (self.skill.seed || !sample.fits_any(&phase.forbidden, self.skill, Use::Forbid))
    }

    /// The first phase along usable edges that takes the call, breadth first.
    fn following(&self, start: usize, sample: &Sample, usable: &dyn Fn(usize, &Edge) -> bool) -> Option<usize> {
        let mut seen = vec![start];
        let mut next = 0;
        while let Some(from) = seen.get(next).copied() {
            next += 1;
            for edge in self.skill.phases.get(from).map(|phase| phase.next.as_slice()).unwrap_or_default() {
                if seen.contains(&edge.to) || !usable(from, edge) {
                    continue;
                }
                if self.skill.phases.get(edge.to).is_some_and(|phase| self.belongs(phase, sample)) {
                    return Some(edge.to);
                }
                seen.push(edge.to);
            }
        }
        None
    }
}
