//! Calls that are evidence of what a line means (rules 3.3).

use super::SkillPart;
use crate::analysis::Word;
use crate::matcher::{Matcher, Subject, Use};

/// The option that has a program print its help, and do nothing.
const HELP: &str = "--help";

impl SkillPart<'_> {
    /// Whether the call is evidence of one matcher: a folder that is made is no written file, and neither is one that is
    /// gone; a command that is asked for its help does nothing else.
    pub(super) fn shows(&self, matcher: &Matcher, used: Use) -> bool {
        let wants_help = || matcher.commands.iter().any(|text| text.contains(HELP));
        let help = used == Use::Permit && self.asks_for_help() && !wants_help();
        let subject = Subject { evidence: used == Use::Permit, ..self.subject(used) };
        let shown = matcher.matches(subject, self.skill.permitted_servers(), used);
        shown && (matcher.paths.is_empty() || !self.only_makes_folders()) && !help
    }

    /// Whether it is one command that is asked for its help.
    fn asks_for_help(&self) -> bool {
        let [command] = self.call.analysis.commands.as_slice() else { return false };
        command.words.iter().skip(1).any(|word| matches!(word, Word::Known(word) if word == HELP))
    }
}
