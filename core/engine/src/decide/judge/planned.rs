//! Calls that steps of an approved plan permit (rules 3.8).

use serde_json::Value;

use super::{SkillCall, SkillPart};
use crate::calls::analysis::{Access, PathUse, RunsIn, SimpleCommand};
use crate::calls::tool::only_reads;
use crate::policy::Phase;
use crate::policy::matcher::{ArgIs, ArgTest, Matcher, Use};
use crate::policy::steps::{Step, Steps};
use crate::prelude::*;
use crate::shell::same_line::{command_in_words, in_words};
use crate::state::Run;

impl SkillPart<'_> {
    /// Whether it runs once, where it stands, and its commands in the root of the project: a step says neither a folder nor
    /// how often.
    fn runs_once_here(&self) -> bool {
        self.call.analysis.commands.iter().all(|command| !command.repeats && command.runs_in == RunsIn::Root)
    }

    /// Whether the exit status of the line tells that the part succeeded, or the step means the whole line.
    fn is_proven(&self, line: &Matcher) -> bool {
        let lost = |command: &SimpleCommand| !command.status.tells();
        line.is_whole_line(&self.call) || !self.call.analysis.commands.iter().any(lost)
    }

    /// Whether a step permits the part.
    fn is_of(&self, step: &Step) -> bool {
        let fits = |line: &Matcher| self.one(line, Use::Permit) && self.is_proven(line) && self.keeps_to(line);
        self.runs_once_here() && (step.lines.iter().any(fits) || self.has_words_of(step))
    }

    /// Whether the part changes nothing but what the line names: a line that names paths, none of which is written, permits no
    /// write. One that names the command has been read with what the command does.
    fn keeps_to(&self, line: &Matcher) -> bool {
        let names = |access| line.paths.iter().any(|test| test.access == access);
        let is_command =
            |test: &ArgTest| test.path == "command" && matches!(test.is, ArgIs::Equal(_) | ArgIs::OneOf(_));
        let named = !line.commands.is_empty() || line.args.iter().any(is_command);
        if line.paths.is_empty() || names(Access::Write) || named {
            return true;
        }
        let writes = |path: &PathUse| matches!(path.access, Access::Write | Access::Remove);
        !self.call.analysis.paths.iter().any(writes) && (names(Access::Execute) || only_reads(&self.labels))
    }

    /// Whether it is one command, of the same words as the step's.
    fn has_words_of(&self, step: &Step) -> bool {
        let [command] = self.call.analysis.commands.as_slice() else { return false };
        let words = command_in_words(command).filter(|_| command.status.tells());
        words.is_some_and(|words| step.in_words.contains(&words)) && self.is_of_tool(step)
    }

    /// Whether a line of the step means the call, whatever its command is.
    fn is_of_tool(&self, step: &Step) -> bool {
        let any = |line: &Matcher| Matcher { commands: Vec::new(), ..line.clone() };
        step.lines.iter().any(|line| !line.commands.is_empty() && self.one(&any(line), Use::Permit))
    }

    /// Whether the step's command is the whole line, letter by letter or word by word, and the line begins in the root of
    /// the project. What the line does then, the person has read.
    fn is_whole_of(&self, step: &Step) -> bool {
        let commands = &self.call.analysis.commands;
        let letters = |line: &Matcher| line.is_whole_line(&self.call) && self.one(line, Use::Permit);
        let words = || {
            let line = self.call.command().and_then(Value::as_str)?;
            in_words(line, commands).filter(|words: &String| step.in_words.contains(words) && self.is_of_tool(step))
        };
        self.call.analysis.starts_in == RunsIn::Root && (step.lines.iter().any(letters) || words().is_some())
    }
}

impl SkillCall<'_> {
    /// For each of these parts of the call the place of the step that permits it. A step permits one part, or the whole
    /// line.
    pub(super) fn by_steps(&self, parts: &[&SkillPart<'_>], run: &Run, phase: &Phase) -> Vec<Option<usize>> {
        let steps = run.steps.as_ref().filter(|_| phase.steps.is_some() && run.phase == phase.name);
        let ready = || steps.into_iter().flat_map(Steps::ready);
        if let Some((at, _)) = ready().find(|(_, step)| self.whole.is_whole_of(step)) {
            return parts.iter().map(|_| Some(at)).collect();
        }
        let mut used: Vec<usize> = Vec::new();
        let step = |part: &&SkillPart<'_>| {
            let (at, _) = ready().find(|(at, step)| !used.contains(at) && part.is_of(step))?;
            used.push(at);
            Some(at)
        };
        parts.iter().map(step).collect()
    }

    /// The places of the steps that permit the parts of the call, of a call that the phase lists.
    pub(crate) fn steps(&self, run: &Run) -> Vec<usize> {
        let phase = self.skill.phase_index(&run.phase).and_then(|index| self.skill.phases.get(index));
        let Some(phase) = phase.filter(|_| run.steps.is_some()) else { return Vec::new() };
        let mut places: Vec<usize> = self.by_steps(&self.judged(phase), run, phase).into_iter().flatten().collect();
        places.dedup();
        places
    }
}
