//! Probing: what calls would be answered now, with nothing recorded and nothing moved.

use phasegate_adapter::Problem;
use phasegate_core::{Code, Decision, Event, EventKind, Policy, State, Step};

use crate::joining::{self, Origin, Reached};
use crate::journal::read_last;
use crate::kept::{KeptProject, KeptSession, kept};
use crate::policy_store::{Current, KeptSettings, summary};
use crate::project::Project;
use crate::reading::{self, Shell};
use crate::runtime::Runtime;
use crate::transaction::settle;
use crate::{audit, place, witness};

/// What the next event of a session would be decided by.
pub(crate) struct Standing {
    pub(crate) policy: Policy,
    pub(crate) settings: KeptSettings,
    pub(crate) state: State,
}

impl Runtime {
    /// What each of these calls would be answered if it were the session's next event. A call whose `input` is null stands
    /// for every call of its tool: it is denied only where each of them is. Journals are read without their
    /// locks, and nothing is written but the store of compiled policies. An event that is no call is allowed. `None`:
    /// nothing guards the project and nothing ever did.
    ///
    /// # Errors
    ///
    /// What would keep the event from being decided, as far as the ends of the two journals show it.
    pub fn probe(
        &self,
        project: &Project,
        session: &str,
        mut events: Vec<Event>,
    ) -> Result<Option<Vec<Decision>>, Problem> {
        let Some(mut standing) = self.standing(project, session)? else { return Ok(None) };
        for event in &mut events {
            if event.session.is_empty() {
                event.session = session.to_string();
            }
        }
        if let Some(first) = events.first() {
            self.join(project, session, first, &mut standing)?;
        }
        let decide = |event| self.probed(project, &standing, event).map(|step| step.decision);
        let answers: Result<Vec<_>, _> = events.into_iter().map(decide).collect();
        Ok(Some(answers?.into_iter().map(|answer| answer.unwrap_or_else(Decision::allow)).collect()))
    }

    /// What one event would lead to.
    pub(crate) fn probed(&self, project: &Project, standing: &Standing, mut event: Event) -> Result<Step, Problem> {
        event.time.get_or_insert_with(self.now);
        if let EventKind::ToolCall { reading, .. } = &mut event.kind {
            (reading.shortened, reading.open) = (None, false);
        }
        reading::open(&mut event);
        let logs = audit::log::paths(self, &project.root, &standing.settings);
        let protected = || self.protected(Some(&project.root)).with_logs(&logs);
        reading::complete(&mut event, &project.root, &Shell::of(&standing.settings), &protected);
        settle(&standing.policy, &standing.state, &event, &project.root).map(|(step, _)| step)
    }

    /// The runs that the session would join, if it began with this event.
    pub(crate) fn join(
        &self,
        project: &Project,
        session: &str,
        first: &Event,
        standing: &mut Standing,
    ) -> Result<(), Problem> {
        let reached = Reached { locations: &self.locations, project, session, state: &standing.state };
        let mut events = vec![first.clone()];
        joining::complete(&Origin::default(), &reached, &mut events)?;
        events.pop();
        for join in events {
            standing.state = self.probed(project, standing, join)?.state;
        }
        let policy = std::mem::take(&mut standing.policy);
        standing.policy = self.store.with_earlier(policy, &standing.state)?;
        Ok(())
    }

    /// Where a session stands, without locks; `None`: nothing guards the project and nothing ever did.
    fn standing(&self, project: &Project, session: &str) -> Result<Option<Standing>, Problem> {
        let remembered = project.remembered()?;
        place::check_folders(&self.locations.state, project)?;
        let shared = read_last(&project.journal())?;
        let own = read_last(&project.session_journal(session))?;
        let began = own.as_ref().filter(|last| !last.policy.is_empty());
        let mut current = None;
        if remembered.is_none() && own.is_none() {
            let found = self.current(project)?;
            if matches!(found, Current::Unguarded) {
                witness::check_unguarded(project)?;
                return Ok(None);
            }
            current = Some(found);
        }
        let (shared, own_state): (KeptProject, KeptSession) = (kept(shared.as_ref())?, kept(own.as_ref())?);
        if own_state.lost || (own.is_none() && shared.lost) {
            return Err(witness::lost(session));
        }
        let state = State { session: own_state.session, project: shared.project };
        if let Some(last) = began {
            let policy = self.store.load(&last.policy, &own_state.policy_digest, &state)?;
            return Ok(Some(Standing { policy, settings: own_state.settings, state }));
        }
        let current = current.map_or_else(|| self.current(project), Ok)?;
        let (policy, settings) = match current {
            Current::Ready(ready) => (ready.policy, ready.settings),
            Current::Unguarded => (Policy::default(), own_state.settings),
            Current::Invalid { diagnostics, .. } => {
                return Err(Problem::new(Code::PolicyInvalid, summary(&diagnostics)));
            }
        };
        if remembered.is_some() && policy.skills.is_empty() && settings.mode.is_none() {
            let root = project.root.display();
            return Err(Problem::new(Code::PolicyMissing, format!("`{root}` was guarded and has no config any more")));
        }
        Ok(Some(Standing { policy: self.store.with_earlier(policy, &state)?, settings, state }))
    }
}
