//! What can happen in a phase at all: which calls it takes, and whether it can be done.

use std::cell::OnceCell;

use phasegate_core::condition::Condition;
use phasegate_core::matcher::{Matcher, Use};
use phasegate_core::policy::{Edge, Leave, Optional, Phase, Skill, Unlisted, UnlistedLine};
use phasegate_core::tool::only_reads;

use super::table::Table;

/// A skill with its sample calls, and which of its phases can be done.
pub(super) struct Possible<'s> {
    pub(super) skill: &'s Skill,
    table: Table,
    ways: Vec<OnceCell<Ways>>,
    done: Vec<bool>,
}

/// What can follow a phase.
struct Ways {
    /// The place of each phase, breadth first along the edges, without the start; `None`: it does not follow.
    place: Vec<Option<usize>>,
    /// Whether the phase can be entered, by edges that may be usable.
    open: Vec<bool>,
}

impl<'s> Possible<'s> {
    pub(super) fn new(skill: &'s Skill) -> Self {
        let ways = skill.phases.iter().map(|_| OnceCell::new()).collect();
        let mut possible = Self { skill, table: Table::of(skill), ways, done: Vec::new() };
        possible.done = skill.phases.iter().enumerate().map(|(at, phase)| possible.satisfiable_in(at, phase)).collect();
        possible
    }

    /// Whether the phase has no `done_when`, or one that can hold.
    pub(super) fn can_be_done(&self, at: usize) -> bool {
        self.done.get(at).copied().unwrap_or(true)
    }

    fn satisfiable_in(&self, at: usize, phase: &Phase) -> bool {
        phase.done_when.as_ref().is_none_or(|condition| self.satisfiable(at, condition))
    }

    fn satisfiable(&self, at: usize, condition: &Condition) -> bool {
        match condition {
            Condition::All(parts) => parts.iter().all(|part| self.satisfiable(at, part)),
            // An empty list stands for parts that were reported and taken out.
            Condition::Any(parts) => parts.is_empty() || parts.iter().any(|part| self.satisfiable(at, part)),
            Condition::Call(test) => self.can_be_made(at, &test.matcher),
            Condition::Not(_)
            | Condition::Fact(_)
            | Condition::Approved(_)
            | Condition::Unchanged(_)
            | Condition::Artifact(_)
            | Condition::Says(_) => true,
        }
    }

    /// Whether a call that the matcher selects can be made in the phase.
    pub(super) fn can_be_made(&self, at: usize, matcher: &Matcher) -> bool {
        let selected = self.table.selected(matcher, self.skill);
        selected.into_iter().any(|sample| self.made_in(at, sample) || self.enters_forbidden(at, sample))
    }

    /// Whether the phase allows a call that the matcher selects, whatever it forbids.
    pub(super) fn allows(&self, at: usize, matcher: &Matcher) -> bool {
        self.table.selected(matcher, self.skill).into_iter().any(|sample| self.table.allows(at, sample))
    }

    /// What forbids in the phase a call that the matcher selects.
    pub(super) fn forbids(&self, at: usize, matcher: &Matcher) -> Option<&'s Matcher> {
        let phase = self.skill.phases.get(at)?;
        // What is forbidden until something has happened can be made after it.
        let lists = || phase.always_forbidden().map(|(_, line)| line).chain(&self.skill.global_forbidden);
        let selected = self.table.selected(matcher, self.skill);
        let mut samples = selected.into_iter().filter_map(|sample| self.table.samples.get(sample));
        samples.find_map(|sample| lists().find(|other| sample.all_forbidden_by(other, self.skill)))
    }

    /// Whether the call is made in the phase, and does not lead elsewhere.
    fn made_in(&self, at: usize, sample: usize) -> bool {
        if self.table.forbids(at, sample) || self.table.forbids_everywhere(sample) {
            return false;
        }
        self.table.allows(at, sample) || (self.following(at, sample).is_none() && self.passes(at, sample))
    }

    /// Whether the call may enter the phase although the phase forbids it, as in the compat form.
    fn enters_forbidden(&self, at: usize, sample: usize) -> bool {
        let mut others = self.skill.phases.iter().enumerate().filter(|(other, _)| *other != at);
        self.skill.compat && others.any(|(other, phase)| self.leads_to(other, phase, sample).contains(&at))
    }

    fn passes(&self, at: usize, sample: usize) -> bool {
        let (Some(phase), Some(sample)) = (self.skill.phases.get(at), self.table.samples.get(sample)) else {
            return false;
        };
        let (lines, otherwise) = self.skill.unlisted_in(phase);
        let selects = |line: &&UnlistedLine| {
            if line.passes {
                sample.fits(&line.matcher, self.skill, Use::Permit)
            } else {
                sample.all_forbidden_by(&line.matcher, self.skill)
            }
        };
        if let Some(line) = lines.iter().find(selects) {
            return line.passes;
        }
        match otherwise {
            Unlisted::Allow => true,
            Unlisted::ReadOnly => only_reads(&sample.labels),
            Unlisted::Deny => false,
        }
    }

    /// The phases that some sample call may lead to from this one, whatever the evidence.
    pub(super) fn leads(&self, at: usize) -> Vec<usize> {
        let Some(phase) = self.skill.phases.get(at) else { return Vec::new() };
        // The calls of a phase that consists of runs are those of other skills.
        let open = |to: &usize| self.ways(at).is_some_and(|ways| ways.open.get(*to) == Some(&true));
        let phases = self.skill.phases.iter().enumerate();
        let runs = phases.filter(|(_, phase)| phase.run.is_some()).map(|(to, _)| to).filter(open);
        (0..self.table.samples.len()).flat_map(|sample| self.leads_to(at, phase, sample)).chain(runs).collect()
    }

    fn leads_to(&self, at: usize, phase: &Phase, sample: usize) -> Vec<usize> {
        let forbidden = self.table.forbids(at, sample);
        let stays = self.table.allows(at, sample) && !forbidden;
        if stays || self.table.forbids_everywhere(sample) {
            return Vec::new();
        }
        let mut leads = Vec::new();
        if let Some(to) = self.following(at, sample) {
            if self.ways(at).is_none_or(|ways| ways.open.get(to) != Some(&true)) {
                return leads;
            }
            if !forbidden || (phase.asks() && self.waits(phase)) {
                leads.push(to);
            }
            // A rollback edge matters only if the transition is open and the call is forbidden here.
            if !forbidden {
                return leads;
            }
        }
        leads.extend(phase.back.iter().map(|back| back.to).filter(|to| self.belongs(*to, sample)));
        leads
    }

    fn passable(&self, here: usize, from: usize) -> bool {
        let passed = |phase: &Phase| !phase.asks() || phase.optional != Optional::No;
        self.skill.phases.get(from).is_some_and(|phase| if from == here { self.waits(phase) } else { passed(phase) })
    }

    /// Whether a call may find the phase done: one that is left at once by an edge that needs nothing is gone by then.
    fn waits(&self, phase: &Phase) -> bool {
        let needs = |edge: &Edge| {
            edge.when.is_some() || self.skill.phases.get(edge.to).is_some_and(|next| next.requires.is_some())
        };
        phase.leave == Leave::OnCall || !phase.asks() || phase.next.iter().all(needs)
    }

    fn belongs(&self, at: usize, sample: usize) -> bool {
        self.table.allows(at, sample) && (self.skill.compat || !self.table.forbids(at, sample))
    }

    /// The first following phase that takes the call, breadth first.
    fn following(&self, start: usize, sample: usize) -> Option<usize> {
        let ways = self.ways(start)?;
        let takes = self.table.allowing(sample).iter().copied().filter(|at| self.belongs(*at, sample));
        let following = takes.filter_map(|at| Some(((*ways.place.get(at)?)?, at)));
        following.min().map(|(_, at)| at)
    }

    fn ways(&self, start: usize) -> Option<&Ways> {
        let ways = self.ways.get(start)?;
        Some(ways.get_or_init(|| {
            let (mut place, mut open) = (vec![None; self.skill.phases.len()], vec![false; self.skill.phases.len()]);
            for (number, at) in self.along(start, &|_, _| true).into_iter().enumerate() {
                place.get_mut(at).into_iter().for_each(|place| *place = Some(number));
            }
            for at in self.along(start, &|from, edge| edge.early || self.passable(start, from)) {
                open.get_mut(at).into_iter().for_each(|open| *open = true);
            }
            Ways { place, open }
        }))
    }

    /// The phases along usable edges, breadth first, without the start.
    fn along(&self, start: usize, usable: &dyn Fn(usize, &Edge) -> bool) -> Vec<usize> {
        let mut found = vec![start];
        let mut seen = vec![false; self.skill.phases.len()];
        seen.get_mut(start).into_iter().for_each(|seen| *seen = true);
        let mut next = 0;
        while let Some(from) = found.get(next).copied() {
            next += 1;
            for edge in self.skill.phases.get(from).map(|phase| phase.next.as_slice()).unwrap_or_default() {
                if let Some(new @ false) = seen.get_mut(edge.to)
                    && usable(from, edge)
                {
                    *new = true;
                    found.push(edge.to);
                }
            }
        }
        found.split_off(1)
    }
}
