//! Where a session stands, without recording that it was asked.

use std::sync::Arc;

use phasegate_adapter::Problem;
use phasegate_core::events::event::By;
use phasegate_core::{Event, EventKind, Policy, State};
use phasegate_store::journal::read_last;
use serde_json::{Value, json};

use crate::driver::decide::{decide, not_kept};
use crate::facts;
use crate::policies::policy_store::Current;
use crate::project::Project;
use crate::runtime::Runtime;
use crate::sessions::SessionInfo;
use crate::sessions::snapshot::ProjectSnapshot;

impl Runtime {
    /// What `get_skill_phase` answers in a session, without recording that it was asked; with `None`, in a session
    /// that is still to begin.
    ///
    /// # Errors
    ///
    /// `policy-missing`: the session's policy is gone.
    pub fn status(&self, project: &Project, session: Option<&SessionInfo>) -> Result<Value, Problem> {
        self.ask(project, session, "get_skill_phase")
    }

    /// Every run that judges the calls of a session, the one that began last first, and how it gets on; with `None`, of a
    /// session that is still to begin.
    ///
    /// # Errors
    ///
    /// As for [`Runtime::status`].
    pub fn runs(&self, project: &Project, session: Option<&SessionInfo>) -> Result<Value, Problem> {
        self.ask(project, session, "runs")
    }

    /// What a person is waited for in a session, and what was approved in its live runs, without recording that it was
    /// asked: `{"waiting": [...], "approved": [...]}`; with `None`, in a session that is still to begin.
    ///
    /// # Errors
    ///
    /// As for [`Runtime::status`].
    pub fn approvals(&self, project: &Project, session: Option<&SessionInfo>) -> Result<Value, Problem> {
        self.ask(project, session, "approvals")
    }

    /// What the agent of a session is told of each run that judges its calls, without recording that it was asked.
    ///
    /// # Errors
    ///
    /// As for [`Runtime::status`].
    pub fn directives(&self, project: &Project, session: Option<&SessionInfo>) -> Result<Value, Problem> {
        self.ask(project, session, "directives")
    }

    /// What is registered of commands in a session, without recording that it was asked; with `None`, for the project.
    ///
    /// # Errors
    ///
    /// As for [`Runtime::status`].
    pub fn safety(&self, project: &Project, session: Option<&SessionInfo>) -> Result<Value, Problem> {
        self.ask(project, session, "safety")
    }

    /// The state that a session has which is still to begin: the project's half.
    ///
    /// # Errors
    ///
    /// `state-unreadable`, `state-version`: the project's journal cannot be read.
    pub fn project_state(&self, project: &Project) -> Result<State, Problem> {
        let shared = read_last::<ProjectSnapshot>(self.store.as_ref(), &project.journal())?;
        Ok(State { project: shared.map(|last| last.state.project).unwrap_or_default(), ..State::default() })
    }

    fn ask(&self, project: &Project, session: Option<&SessionInfo>, command: &str) -> Result<Value, Problem> {
        let state = match session {
            Some(session) => session.state.clone(),
            None => self.project_state(project)?,
        };
        let policy = match session.filter(|session| !session.policy.is_empty()) {
            Some(session) => self.policies.load(&session.policy, &session.policy_digest, &state)?,
            None => match self.current(project)? {
                Current::Ready(ready) => self.policies.with_earlier(ready.policy, &state)?,
                Current::Unguarded | Current::Invalid { .. } => Policy::default(),
            },
        };
        // As an agent's question does, this begins what is in force; nothing of it is kept.
        let kind = EventKind::Command { by: By::Agent, name: command.to_string(), args: json!({}) };
        let event = Event::new(&state.session.id, kind);
        let gather =
            |policy: &_, keys: &[_], found: &mut _| facts::gather(facts::World::of(project, policy), keys, found);
        Ok(decide(&mut Arc::new(policy), &state, &event, gather, not_kept)?.outcome.result.unwrap_or_default())
    }
}
