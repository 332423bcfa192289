//! Calls that a line may mean, and those that only some phases may make: writes of artifacts (rules 3.2, 3.3).

use alloc::borrow::Cow;

use super::SkillPart;
use crate::calls::analysis::{Access, CallAnalysis, PathUse, Verdict, Word};
use crate::calls::parts;
use crate::calls::tool::{Call, SHELL};
use crate::policy::Phase;
use crate::policy::matcher::{Matcher, PathTest, Subject, Use};
use crate::prelude::*;
use crate::state::redacted_tests::Fit;

impl SkillPart<'_> {
    /// The calls that write what the phase may not write: artifacts that other phases produce, or runs beside this one. A
    /// call that names no path is no doubt for the latter.
    pub(super) fn reserved<'p>(&'p self, phase: &'p Phase) -> impl Iterator<Item = &'p Matcher> {
        let names = self.call.analysis.paths.iter().any(|path| path.access != Access::Read);
        let of_others = if names { self.of_others.as_slice() } else { &[] };
        self.skill.reserved_in(phase).chain(of_others.iter().copied())
    }

    /// Whether the call may write such an artifact. A program that nobody can see into is doubt for
    /// no artifact; what it is given is none either where a line of the phase names its command.
    pub(super) fn is_reserved(&self, phase: &Phase) -> bool {
        let mut writes = self.reserved(phase).peekable();
        // Who makes a folder writes no artifact.
        if writes.peek().is_none() || self.only_makes_folders() {
            return false;
        }
        let opaque =
            self.call.analysis.commands.iter().any(|command| command.verdict > Verdict::Write && !command.obeyed);
        let names = |line: &Matcher| !line.commands.is_empty() && self.one(line, Use::Permit);
        let call =
            if opaque && phase.allowed.iter().any(names) { self.redirected() } else { Cow::Borrowed(&*self.call) };
        writes.any(|writes| self.may_mean_by(&call, core::slice::from_ref(writes)).is_some())
    }

    /// Whether the call names such an artifact as a file that it writes. Of a call that a person approved, that is all that
    /// counts: what else it may change, they were told.
    pub(super) fn names_reserved(&self, phase: &Phase) -> bool {
        let CallAnalysis { paths, in_project, .. } = &self.call.analysis;
        let written = |path: &&PathUse| path.access != Access::Read && !path.folder && path.below.is_empty();
        let names = |line: &&Matcher| {
            let named = |test: &PathTest| {
                in_project.values().any(|path| test.pattern.fits(path))
                    || paths.iter().filter(written).any(|path| test.fits_path(path, Use::Forbid) == Fit::Yes)
            };
            line.paths.iter().any(named)
        };
        self.reserved(phase).filter(names).any(|line| self.may_mean(core::slice::from_ref(line)).is_some())
    }

    /// Whether all that the call changes are folders that it makes.
    pub(super) fn only_makes_folders(&self) -> bool {
        let mut changed = self.call.analysis.paths.iter().filter(|path| path.access != Access::Read).peekable();
        changed.peek().is_some() && changed.all(|path| path.folder)
    }

    /// The call with those of its paths alone that its redirections name.
    fn redirected(&self) -> Cow<'_, Call> {
        let mut call = self.call.as_ref().clone();
        let redirections = call.analysis.commands.iter().flat_map(|command| &command.redirections);
        let named: Vec<_> = redirections.map(|(_, word)| word.clone()).collect();
        call.analysis.paths.retain(|path| named.iter().any(|word| *word == Word::Known(path.written.clone())));
        Cow::Owned(call)
    }

    /// The first line that may mean the call. A program that nobody can see into is doubt for no path.
    pub(super) fn may_mean<'m>(&self, lines: &'m [Matcher]) -> Option<&'m Matcher> {
        self.may_mean_by(&self.call, lines)
    }

    fn may_mean_by<'m>(&self, call: &Call, lines: &'m [Matcher]) -> Option<&'m Matcher> {
        let call = parts::naming(call);
        let subject = Subject { call: &call, named: self.labels.contains(SHELL), ..self.subject(Use::Forbid) };
        let servers = self.skill.permitted_servers();
        lines.iter().find(|matcher| matcher.matches(subject, servers, Use::Forbid))
    }
}
