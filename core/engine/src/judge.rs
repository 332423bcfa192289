//! One call in one run: the situation for the decision table, and where the answer leads.

use alloc::vec::Vec;

use crate::decide::{Done, Line, Next, Situation, decide};
use crate::eval::World;
use crate::graph::{self, Here, Transition};
use crate::matcher::{Matcher, Subject, Use};
use crate::policy::{Phase, Skill, Unlisted};
use crate::state::Run;
use crate::tool::{Call, EXECUTE, Labels, READ, only_reads};

/// Who calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller<'a> {
    /// The subagent's id, or `None` for the main agent.
    pub(crate) agent: Option<&'a str>,
    /// The agent's kind; empty where not known.
    pub(crate) kind: &'a str,
}

/// What the table says of a call in a run.
#[derive(Clone, Debug)]
pub(crate) struct Ruling {
    pub(crate) line: Line,
    /// The phase a move leads to, or the one that a violation of `not-done` would need.
    pub(crate) transition: Option<Transition>,
}

/// A call as one skill sees it: with the labels that it has there.
pub(crate) struct SkillCall<'a> {
    skill: &'a Skill,
    call: &'a Call,
    labels: Labels,
    caller: Caller<'a>,
}

impl<'a> SkillCall<'a> {
    pub(crate) fn new(skill: &'a Skill, call: &'a Call, caller: Caller<'a>) -> Self {
        let mut this = Self { skill, call, labels: call.tool.labels.clone(), caller };
        let mut labels = this.labels.clone();
        for note in &skill.tools {
            let (permits, forbids) = (this.one(&note.matcher, Use::Permit), this.one(&note.matcher, Use::Forbid));
            labels.extend(note.labels.iter().filter(|label| if *label == READ { permits } else { forbids }).cloned());
        }
        this.labels = labels;
        this
    }

    /// Whether one matcher applies.
    pub(crate) fn one(&self, matcher: &Matcher, used: Use) -> bool {
        let subject =
            Subject { call: self.call, labels: &self.labels, agent: self.caller.agent, agent_kind: self.caller.kind };
        matcher.matches(subject, self.skill.permitted_servers(), used)
    }

    /// What the tool can do, as the platform and the skill say.
    pub(crate) fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Whether the skill itself says that the tool runs programs.
    pub(crate) fn may_execute(&self) -> bool {
        self.labels.contains(EXECUTE)
    }

    fn any(&self, matchers: &[Matcher], used: Use) -> bool {
        matchers.iter().any(|matcher| self.one(matcher, used))
    }

    /// Whether a phase that is not current lists the call. In the compat form its `forbidden` list does not count.
    fn belongs_to(&self, phase: &Phase) -> bool {
        self.any(&phase.allowed, Use::Permit) && (self.skill.compat || !self.any(&phase.forbidden, Use::Forbid))
    }

    fn passes_unlisted(&self) -> bool {
        match self.skill.unlisted {
            Unlisted::Allow => true,
            Unlisted::ReadOnly => only_reads(&self.labels),
            Unlisted::Deny => false,
        }
    }

    /// Judges the call in a run of the skill.
    pub(crate) fn judge(&self, world: &mut World<'_>, run: &Run) -> Ruling {
        let skill = self.skill;
        let here = skill.phase_index(&run.phase).unwrap_or_default();
        let Some(phase) = skill.phases.get(here) else {
            return Ruling { line: Line::UnlistedDenied, transition: None };
        };
        let allowed = self.any(&phase.allowed, Use::Permit);
        let forbidden = self.any(&phase.forbidden, Use::Forbid);
        let global_forbidden = self.any(&skill.global_forbidden, Use::Forbid);
        let done = world.done(run, phase);
        let settled = global_forbidden || (allowed && !forbidden);
        let transition = if settled {
            None
        } else {
            graph::find(world, skill, run, Here { index: here, done }, &mut |next| self.belongs_to(next))
        };
        let back = if settled { None } else { self.rollback(world, run, phase) };
        let line = decide(Situation {
            global_forbidden,
            allowed,
            forbidden,
            returns: self.returns(run),
            done,
            next: match &transition {
                None => Next::None,
                Some(transition) if transition.open => Next::Open,
                Some(_) => Next::Closed,
            },
            back: back.is_some(),
            unlisted_passes: self.passes_unlisted(),
        });
        let transition = if line == Line::Back {
            back.map(|to| Transition { to, between: Vec::new(), open: true })
        } else {
            transition
        };
        Ruling { line, transition }
    }

    /// Whether the current phase of a run lists the call, and the run is not done.
    pub(crate) fn is_for(&self, world: &mut World<'_>, run: &Run) -> bool {
        let phase = self.skill.phase_index(&run.phase).and_then(|index| self.skill.phases.get(index));
        phase.is_some_and(|phase| self.any(&phase.allowed, Use::Permit) && world.done(run, phase) != Done::Yes)
    }

    /// What a run forbids of a call that one of its parts judges; `None`: nothing.
    pub(crate) fn forbidden_by(&self, run: &Run) -> Option<Ruling> {
        let phase = self.skill.phase_index(&run.phase).and_then(|index| self.skill.phases.get(index));
        let line = if self.any(&self.skill.global_forbidden, Use::Forbid) {
            Line::GlobalForbidden
        } else if phase.is_some_and(|phase| self.any(&phase.forbidden, Use::Forbid)) {
            Line::Forbidden
        } else {
            return None;
        };
        Some(Ruling { line, transition: None })
    }

    fn returns(&self, run: &Run) -> bool {
        let before = run.provisional.as_ref().and_then(|before| self.skill.phase_index(&before.phase));
        before
            .and_then(|index| self.skill.phases.get(index))
            .is_some_and(|phase| self.any(&phase.allowed, Use::Permit) && !self.any(&phase.forbidden, Use::Forbid))
    }

    fn rollback(&self, world: &mut World<'_>, run: &Run, phase: &Phase) -> Option<usize> {
        phase.back.iter().find_map(|back| {
            let target = self.skill.phases.get(back.to)?;
            let open = (!back.on_failure || run.failed)
                && times_back(run, &phase.name, &target.name) < back.limit
                && world.holds(back.when.as_ref(), run);
            (open && self.belongs_to(target)).then_some(back.to)
        })
    }
}

/// How often a run went back from one phase to another.
pub(crate) fn times_back(run: &Run, from: &str, to: &str) -> u32 {
    run.backs.iter().find(|(a, b, _)| a == from && b == to).map_or(0, |(_, _, times)| *times)
}
