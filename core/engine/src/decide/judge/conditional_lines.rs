//! Lines that have a condition of their own (rules 3.2).

use super::allow_list::{Listed, Unmet, UnmetLine};
use super::{SkillCall, SkillPart};
use crate::decide::graph::{Here, Transition};
use crate::evidence::condition::{Condition, Truth};
use crate::evidence::eval::World;
use crate::policy::matcher::{Matcher, Use};
use crate::policy::{LineRequires, Phase, Skill};
use crate::prelude::*;
use crate::state::Run;

impl<'a> SkillCall<'a> {
    /// The same, where the lines of `forbidden` forbid nothing whose `until` holds for the run. `doubt`: nor those of which
    /// that is not known.
    pub(crate) fn lifting(mut self, world: &mut World<'_>, run: &Run, doubt: bool) -> Self {
        let until =
            self.skill.phases.iter().flat_map(|phase| phase.forbidden_until.iter().map(move |one| (phase, one)));
        let meant = |line: &Matcher| {
            let mut parts = self.parts.iter().chain(&self.tasks).chain([&self.whole]);
            doubt || parts.any(|part| part.one(line, Use::Forbid))
        };
        let mut lifted: Vec<&Matcher> = Vec::new();
        for (phase, until) in until {
            // No file is looked at for a line that is not about the call.
            let Some(line) = phase.forbidden.get(until.line).filter(|line| meant(line)) else { continue };
            let truth = world.truth_for(&until.condition, run, &self.whole.call);
            if truth == Truth::Yes || doubt && truth == Truth::Unknown {
                lifted.push(line);
            }
        }
        if lifted.is_empty() {
            return self;
        }
        for part in self.parts.iter_mut().chain(&mut self.tasks).chain([&mut self.whole]) {
            part.lifted.clone_from(&lifted);
        }
        self
    }

    /// What the line waits for that forbids the call; `None`: a line that forbids it waits for nothing.
    pub(crate) fn forbidden_until(&self, run: &Run) -> Option<&'a Condition> {
        let phase = present(self.skill, run)?;
        let parts = self.judged(phase);
        let forbids = |line: &Matcher| parts.iter().any(|part| part.one(line, Use::Forbid));
        let forbidding = phase.forbidden.iter().enumerate().filter(|(_, line)| forbids(line));
        let waits = |(at, _): (usize, &Matcher)| phase.forbidden_until.iter().find(|until| until.line == at);
        let each: Vec<&LineRequires> = forbidding.map(waits).collect::<Option<_>>()?;
        each.first().map(|until| &until.condition)
    }
}

fn present<'a>(skill: &'a Skill, run: &Run) -> Option<&'a Phase> {
    skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index))
}

impl SkillPart<'_> {
    /// Whether a line of `forbidden` forbids nothing, as its `until` holds.
    pub(super) fn is_lifted(&self, line: &Matcher) -> bool {
        self.lifted.iter().any(|lifted| core::ptr::eq(*lifted, line))
    }

    /// Whether the phase lists the call, by a line whose condition holds.
    pub(super) fn listed(&self, world: &mut World<'_>, run: &Run, phase: &Phase) -> Listed {
        let elsewhere = phase.run.as_ref().filter(|_| run.phase != phase.name);
        if let Some(runs) = elsewhere {
            return if self.any(&runs.enters, Use::Permit) { Listed::Yes } else { Listed::No };
        }
        let lines = phase.lines(run.at_gate());
        if phase.line_requires.is_empty() {
            return if self.any(lines, Use::Permit) { Listed::Yes } else { Listed::No };
        }
        let mut unmet = None;
        let lines = lines.iter().enumerate();
        for (line, _) in lines.filter(|(_, matcher)| self.one(matcher, Use::Permit)) {
            if self.holds(world, run, phase, line) {
                return Listed::Yes;
            }
            unmet = unmet.or(Some(line));
        }
        unmet.map_or(Listed::No, Listed::Unmet)
    }

    /// A way to a following phase is open only if the line there that lists the call asks for nothing more.
    pub(super) fn bound(&self, world: &mut World<'_>, run: &Run, mut to: Transition, unmet: &mut Unmet) -> Transition {
        if to.open
            && let Some(phase) = self.skill.phases.get(to.to)
        {
            // What is missing there is what is told, whatever the phase lacks that the call is made in.
            let mut there = Unmet::default();
            to.open = there.note(to.to, self.listed(world, run, phase)) == Listed::Yes;
            unmet.0 = there.0.or(unmet.0);
        }
        to
    }

    /// The first line of the phase that may mean the call and whose condition does not hold.
    fn doubted_line(&self, world: &mut World<'_>, run: &Run, phase: &Phase) -> Option<usize> {
        let bound = phase.line_requires.iter().map(|requires| requires.line);
        let mut may = bound.filter(|line| phase.allowed.get(*line).is_some_and(|line| self.may_be(line)));
        may.find(|line| !self.holds(world, run, phase, *line))
    }

    /// Takes note of the first line of the phase that may mean the call, where nothing else is in doubt.
    pub(super) fn note_doubt(&self, world: &mut World<'_>, run: &Run, here: Here, unmet: &mut Unmet) {
        let Some(phase) = self.skill.phases.get(here.index).filter(|_| unmet.0.is_none()) else { return };
        unmet.0 = self.doubted_line(world, run, phase).map(|line| UnmetLine { phase: here.index, line });
    }

    fn holds(&self, world: &mut World<'_>, run: &Run, phase: &Phase, line: usize) -> bool {
        phase.required_by(line).is_none_or(|condition| world.holds_for(condition, run, &self.call))
    }

    /// Whether the line may mean the call, where a program that nobody can see into is doubt for no path.
    fn may_be(&self, line: &Matcher) -> bool {
        self.may_mean(core::slice::from_ref(line)).is_some()
    }
}
