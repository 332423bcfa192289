//! Calls that are evidence of what a line means (rules 3.3).

use super::{SkillCall, SkillPart};
use crate::calls::analysis::{Access, PathUse, UNKNOWN, Word};
use crate::calls::exit_status::Status;
use crate::evidence::condition::{ReportWanted, TestsResult, TestsWanted, Wanted};
use crate::policy::matcher::{Matcher, Subject, Use};
use crate::prelude::*;
use crate::values::glob::path_fits;

/// The option that has a program print its help, and do nothing.
const HELP: &str = "--help";

impl SkillPart<'_> {
    /// Whether it runs tests, and any known runner is wanted, whatever starts it: a task of the project may.
    pub(super) fn runs_tests(&self, wanted: Wanted) -> bool {
        let runs = || self.call.analysis.commands.first().is_some_and(|command| command.tests.is_some());
        matches!(wanted, Wanted::Tests(tests) if !tests.selected) && runs()
    }

    /// Whether the call is evidence of one matcher: a folder that is made is no written file, and neither is one that is
    /// gone; a command that is asked for its help does nothing else.
    pub(super) fn shows(&self, matcher: &Matcher, used: Use) -> bool {
        let wants_help = || matcher.commands.iter().any(|text| text.contains(HELP));
        let help = used == Use::Permit && self.asks_for_help() && !wants_help();
        let named = self.named && used == Use::Forbid;
        let subject = Subject { evidence: used == Use::Permit, named, ..self.subject(used) };
        let shown = matcher.matches(subject, self.skill.permitted_servers(), used);
        shown && (matcher.paths.is_empty() || !self.only_makes_folders()) && !help
    }

    /// Whether it is one command that is asked for its help.
    fn asks_for_help(&self) -> bool {
        let [command] = self.call.analysis.commands.as_slice() else { return false };
        command.words.iter().skip(1).any(|word| matches!(word, Word::Known(word) if word == HELP))
    }
}

impl SkillCall<'_> {
    /// What the runner that the matcher selects must report.
    pub(super) fn report(&self, matcher: &Matcher, tests: TestsWanted, status: Status) -> Option<Wanted> {
        let whole = self.parts.is_empty().then_some(&self.whole);
        let mut selected = self
            .parts
            .iter()
            .chain(whole)
            .filter(|part| part.one(matcher, Use::Permit) || part.runs_tests(Wanted::Tests(tests)));
        let run = selected.find_map(|part| part.call.analysis.commands.first()?.tests)?;
        // What cannot be built may be something else.
        let run = Some(run).filter(|run| !run.beside || tests.result != TestsResult::Broken)?;
        let part = tests.result == TestsResult::Passed && !tests.selected && !run.whole;
        let through = run.through.filter(|_| status == Status::Piped);
        let wanted = ReportWanted { result: tests.result, runner: run.runner, part, unsure: run.unsure, through };
        (status.tells() || through.is_some()).then_some(Wanted::Report(wanted))
    }

    /// The files among those that these patterns select that the call writes; where it names none of them, [`UNKNOWN`].
    pub(crate) fn paths_written(&self, patterns: &[String]) -> Vec<String> {
        let writes = |path: &&PathUse| path.access != Access::Read;
        let resolved = self.whole.call.analysis.paths.iter().filter(writes).filter_map(|path| path.resolved.as_ref());
        let is_one = |path: &&String| patterns.iter().any(|pattern| path_fits(pattern, path));
        let mut found: Vec<String> = resolved.filter(is_one).cloned().collect();
        if found.is_empty() {
            found.push(UNKNOWN.into());
        }
        found
    }
}
