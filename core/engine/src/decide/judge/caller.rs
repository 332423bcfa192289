//! Who calls.

use crate::policy::Skill;
use crate::state::Run;

/// Who calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller<'a> {
    /// The subagent's id, or `None` for the main agent.
    pub(crate) agent: Option<&'a str>,
    /// The agent's kind; empty where not known.
    pub(crate) kind: &'a str,
}

impl<'a> Caller<'a> {
    /// The caller as a run sees it. A subagent is of the type that does a phase only where a call of the present visit
    /// started it: what it was told is about that visit.
    pub(crate) fn in_run(self, skill: &Skill, run: &Run) -> Caller<'a> {
        let does = skill.phases.iter().any(|phase| phase.done_by.as_deref() == Some(self.kind));
        let is_known = !does || self.agent.is_none_or(|agent| run.started(agent));
        Caller { kind: if is_known { self.kind } else { "" }, ..self }
    }
}
