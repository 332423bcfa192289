//! Calls that steps of an approved plan permit (rules 3.8).

use alloc::vec::Vec;

use super::{SkillCall, SkillPart};
use crate::analysis::{RunsIn, SimpleCommand, Status};
use crate::matcher::{Matcher, Use};
use crate::policy::Phase;
use crate::state::Run;

impl SkillPart<'_> {
    /// Whether it runs once, where it stands, and its commands in the root of the project: a step says neither a folder nor
    /// how often.
    fn runs_once_here(&self) -> bool {
        self.call.analysis.commands.iter().all(|command| !command.repeats && command.runs_in == RunsIn::Root)
    }

    /// Whether the exit status of the line tells that the part succeeded, or the step means the whole line.
    fn is_proven(&self, line: &Matcher) -> bool {
        let lost = |command: &SimpleCommand| command.status == Status::Lost;
        line.is_whole_line(&self.call) || !self.call.analysis.commands.iter().any(lost)
    }

    /// For each part of a call the place of the step that permits it. A step permits one part.
    pub(super) fn by_steps(parts: &[&SkillPart<'_>], run: &Run, phase: &Phase) -> Vec<Option<usize>> {
        let steps = run.steps.as_ref().filter(|_| phase.steps.is_some() && run.phase == phase.name);
        let mut used: Vec<usize> = Vec::new();
        let step = |part: &&SkillPart<'_>| {
            if !part.runs_once_here() {
                return None;
            }
            let mut ready = steps?.ready().filter(|(at, _)| !used.contains(at));
            let fits = |line: &Matcher| part.one(line, Use::Permit) && part.is_proven(line);
            let (at, _) = ready.find(|(_, lines)| lines.iter().any(fits))?;
            used.push(at);
            Some(at)
        };
        parts.iter().map(step).collect()
    }
}

impl SkillCall<'_> {
    /// The places of the steps that permit the parts of the call, of a call that the phase lists.
    pub(crate) fn steps(&self, run: &Run) -> Vec<usize> {
        let phase = self.skill.phase_index(&run.phase).and_then(|index| self.skill.phases.get(index));
        let Some(phase) = phase.filter(|_| run.steps.is_some()) else { return Vec::new() };
        SkillPart::by_steps(&self.judged(phase), run, phase).into_iter().flatten().collect()
    }
}
