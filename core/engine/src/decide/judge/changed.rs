//! What a skill says of what a call was seen to do to a file: whether a run of it forbids that, and whether one begins.

use super::{SkillCall, SkillPart};
use crate::calls::analysis::{Access, PathUse, SimpleCommand, Verdict};
use crate::calls::tool::{Call, WRITE, only_reads};
use crate::policy::matcher::{Matcher, Subject, Use};
use crate::state::Run;
use crate::state::redacted_tests::Fit;

impl SkillCall<'_> {
    /// Whether the run forbids the call the change of a file. Where only some parts of a line are forbidden to, nobody knows
    /// which of them did.
    pub(crate) fn forbids_change(&self, run: &Run, change: &PathUse) -> Fit {
        let Some(phase) = self.skill.phase_index(&run.phase).and_then(|index| self.skill.phases.get(index)) else {
            return Fit::No;
        };
        let lines = || self.skill.global_forbidden.iter().chain(&phase.forbidden);
        let fit = |part: &SkillPart<'_>| {
            lines().filter(|line| !part.is_lifted(line)).map(|line| part.changes(line, change)).max()
        };
        let fits = self.changing().map(|part| fit(part).unwrap_or(Fit::No));
        let (least, most) =
            fits.fold((Fit::Yes, Fit::No), |(least, most), fit| (Fit::min(least, fit), Fit::max(most, fit)));
        if most == Fit::No { Fit::No } else { least.max(Fit::Doubt) }
    }

    /// Whether a run of the skill would have begun before the call, had it said that it changes the file.
    pub(crate) fn begins_by_change(&self, matcher: &Matcher, change: &PathUse) -> bool {
        self.changing().any(|part| part.changes(matcher, change) != Fit::No)
    }

    /// The parts that may have changed a file. One that was taken for one that only reads did nothing, where another does more.
    fn changing(&self) -> impl Iterator<Item = &SkillPart<'_>> {
        let whole = self.parts.is_empty().then_some(&self.whole);
        let parts = move || self.parts.iter().chain(whole);
        let acts = parts().any(|part| !only_reads(&part.labels));
        parts().filter(move |part| (!acts || !only_reads(&part.labels)) && !part.names_all())
    }
}

impl SkillPart<'_> {
    /// Whether it is a command that is known to talk to another machine, and to change no file which it does not name: `git fetch`.
    fn names_all(&self) -> bool {
        let analysis = &self.call.analysis;
        let known = |command: &SimpleCommand| {
            matches!(command.verdict, Verdict::Write | Verdict::Send) && command.besides && command.network
        };
        let writes = analysis.paths.iter().any(|path| path.access != Access::Read);
        !analysis.commands.is_empty() && analysis.commands.iter().all(known) && !writes
    }

    /// Whether the line selects the part as one that changes the file.
    fn changes(&self, line: &Matcher, change: &PathUse) -> Fit {
        if !line.paths.iter().any(|test| test.access == Access::Write) {
            return Fit::No;
        }
        let mut call: Call = (*self.call).clone();
        let commands = &mut call.analysis.commands;
        commands.iter_mut().for_each(|command| command.besides = false);
        let command = (commands.len() == 1).then_some(0);
        call.analysis.paths = alloc::vec![PathUse { command, ..change.clone() }];
        let mut labels = self.labels.clone().into_owned();
        labels.insert(WRITE.into());
        let subject = Subject { call: &call, labels: &labels, named: true, ..self.subject(Use::Forbid) };
        line.fit(subject, self.skill.permitted_servers(), Use::Forbid)
    }
}
