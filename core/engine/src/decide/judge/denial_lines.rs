//! The lines of a policy that a denial names, and the phases that they belong to.

use super::allow_list::UnmetLine;
use super::{SkillCall, SkillPart};
use crate::answers::doubt::NamedLine;
use crate::decide::Line;
use crate::decide::graph::Transition;
use crate::policy::matcher::{Matcher, ToolPattern, Use};
use crate::policy::{DenialText, Phase};
use crate::prelude::*;

impl<'a> SkillCall<'a> {
    /// The first phase that lists the call or a part of it, whether a way leads there or not.
    pub(crate) fn first_listed(&self) -> Option<&'a Phase> {
        self.skill.phases.iter().find(|phase| self.is_one_of(phase.enters()))
    }

    /// The first phase that consists of runs and lists the call at the gate of its waves.
    pub(crate) fn listed_at_gate(&self) -> Option<&'a Phase> {
        let of_runs = self.skill.phases.iter().filter(|phase| phase.run.is_some());
        of_runs.into_iter().find(|phase| self.is_one_of(phase.lines(true).iter()))
    }

    /// Whether one of the lines lists the call or a part of it.
    fn is_one_of<'l>(&self, mut lines: impl Iterator<Item = &'l Matcher>) -> bool {
        lines.any(|line| self.parts.iter().chain([&self.whole]).any(|part| part.one(line, Use::Permit)))
    }
}

impl SkillCall<'_> {
    /// What the policy says of the call where a line of `unlisted` denies it.
    pub(crate) fn said_of_unlisted(&self, phase: &Phase) -> Option<Box<str>> {
        let mut lines = self.parts.iter().chain([&self.whole]).filter_map(|part| part.unlisted_line(phase));
        lines.find(|line| !line.passes)?.why.as_deref().map(Box::from)
    }
}

impl SkillPart<'_> {
    /// The line of the policy that a denial names.
    pub(super) fn decided_by(&self, line: Line, phase: &Phase, to: Option<&Transition>) -> Option<NamedLine> {
        match (line, to) {
            (Line::NotDone, Some(to)) => self.linked(phase).or_else(|| self.doubted_by(to)),
            (Line::UnlistedDenied, _) => self.denied_by(phase).or_else(|| self.nearly_listed(phase)),
            _ => self.forbidden_by(line, phase),
        }
    }

    /// The line that forbids the call, if it is about more than a tool.
    pub(super) fn forbidden_by(&self, line: Line, phase: &Phase) -> Option<NamedLine> {
        let lines = match line {
            Line::GlobalForbidden => self.skill.global_forbidden.iter().collect(),
            Line::Forbidden => phase.forbidden.iter().chain(self.reserved(phase)).collect::<Vec<_>>(),
            Line::Allowed
            | Line::Returned
            | Line::Entered
            | Line::NotDone
            | Line::Back
            | Line::Unlisted
            | Line::Confined
            | Line::UnlistedDenied => return None,
        };
        // A line that surely means the call says more than one that may.
        let sure = lines.iter().copied().find(|matcher| self.one(matcher, Use::Permit));
        let by = sure.or_else(|| lines.iter().copied().find(|matcher| self.one(matcher, Use::Forbid)))?;
        let named = matches!(by.tool, ToolPattern::Exact(_));
        let of_tool =
            named && by.commands.is_empty() && by.paths.is_empty() && by.args.is_empty() && by.invokes.is_none();
        // The layout of the original names no line.
        let names = !self.skill.compat || self.skill.denial_text == DenialText::Blocked;
        (!of_tool && names).then(|| self.reserved_line(by).unwrap_or_else(|| self.named_line(by, Use::Forbid)))
    }

    /// The line of an artifact that other phases produce, with their names.
    fn reserved_line(&self, by: &Matcher) -> Option<NamedLine> {
        let artifacts = self.skill.artifacts.iter().enumerate();
        let (at, artifact) =
            artifacts.into_iter().find(|(_, artifact)| artifact.writes.iter().any(|line| core::ptr::eq(line, by)))?;
        let phases = self.skill.phases.iter().filter(|phase| phase.produces.contains(&at));
        let names: Vec<_> = phases.map(|phase| format!("\"{}\"", phase.name)).collect();
        let named = self.named_line(by, Use::Forbid);
        let line = format!("{}, the artifact `{}` of the phase {}", named.line, artifact.name, names.join(" or "));
        let phases = names.join(" or ");
        let does = format!("changes the artifact `{}`, which phase {phases} makes", artifact.name);
        Some(NamedLine { line: line.into(), does: Some(does.into()), ..named })
    }

    /// The line of `unlisted` that denies the call.
    fn denied_by(&self, phase: &Phase) -> Option<NamedLine> {
        let line = self.unlisted_line(phase).filter(|line| !line.passes && !self.skill.compat)?;
        Some(self.named_line(&line.matcher, Use::Forbid))
    }

    /// The line of the phase that may mean the call and lists only what it surely means.
    fn nearly_listed(&self, phase: &Phase) -> Option<NamedLine> {
        let mut lines = phase.allowed.iter().filter(|_| !self.skill.compat);
        lines.find_map(|matcher| Some(self.named_line(matcher, Use::Permit)).filter(|line| line.doubt.is_some()))
    }

    /// The line of the phase that would list the call if the file that it writes had no other name.
    fn linked(&self, phase: &Phase) -> Option<NamedLine> {
        let line = phase.allowed.iter().find(|line| line.lies_elsewhere(&self.call))?;
        Some(self.named_line(line, Use::Permit))
    }

    /// A line whose own condition does not hold.
    pub(super) fn unmet_line(&self, unmet: UnmetLine) -> Option<NamedLine> {
        let line = self.skill.phases.get(unmet.phase)?.allowed.get(unmet.line)?;
        Some(self.named_line(line, Use::Forbid))
    }

    fn named_line(&self, matcher: &Matcher, used: Use) -> NamedLine {
        NamedLine::of(matcher, self.subject(used), self.skill.permitted_servers(), used)
    }

    /// The line by which the call may belong to a phase that does not surely list it.
    fn doubted_by(&self, transition: &Transition) -> Option<NamedLine> {
        let target = self.skill.phases.get(transition.to).filter(|target| !self.belongs_to(target))?;
        self.may_belong_to(target).map(|line| self.named_line(line, Use::Forbid))
    }
}
