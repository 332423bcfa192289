//! Probing: what calls would be answered now, with nothing recorded and nothing moved.

use std::sync::Arc;

use phasegate_adapter::Problem;
use phasegate_core::{Code, Decision, Event, EventKind, Outcome, Policy, State, state};

use crate::analysis::{self, Shell};
use crate::journal::read_last;
use crate::kept::{KeptProject, KeptSession, kept};
use crate::lineage::{self, Origin, Reached};
use crate::policy_store::{Current, KeptSettings, summary};
use crate::project::Project;
use crate::runtime::Runtime;
use crate::transaction::settle;
use crate::{audit, witness};

/// What the next event of a session would be decided by.
pub struct Standing {
    /// The policy.
    pub policy: Arc<Policy>,
    /// The settings.
    pub settings: KeptSettings,
    /// The state.
    pub state: State,
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
        events: Vec<Event>,
    ) -> Result<Option<Vec<Decision>>, Problem> {
        let Some(mut standing) = self.standing(project, session)? else { return Ok(None) };
        if let Some(first) = events.first() {
            self.join(project, session, first, &mut standing)?;
        }
        self.probe_from(project, session, (&standing, events)).map(Some)
    }

    /// As [`Runtime::probe`], from where the session stands.
    pub fn probe_from(
        &self,
        project: &Project,
        session: &str,
        (standing, events): (&Standing, Vec<Event>),
    ) -> Result<Vec<Decision>, Problem> {
        let decide = |mut event: Event| {
            if event.session.is_empty() {
                event.session = session.to_string();
            }
            let step = self.probed(project, standing, event)?;
            Ok(step.decision.unwrap_or_else(Decision::allow))
        };
        events.into_iter().map(decide).collect()
    }

    /// What one event would lead to.
    fn probed(&self, project: &Project, standing: &Standing, mut event: Event) -> Result<Outcome, Problem> {
        event.time.get_or_insert_with(self.now);
        if let EventKind::ToolCall { analysis, .. } = &mut event.kind {
            (analysis.redacted, analysis.open) = (None, false);
        }
        analysis::open(&mut event);
        let logs = audit::log::paths(self, &project.root, &standing.settings);
        let protected = || self.protected(Some(&project.root), &logs);
        analysis::complete(&mut event, &project.root, &Shell::of(&standing.settings), &protected);
        settle(&standing.policy, &standing.state, &event, &project.root).map(|(step, _)| step)
    }

    /// The runs that the session would join, if it began with this event.
    fn join(&self, project: &Project, session: &str, first: &Event, standing: &mut Standing) -> Result<(), Problem> {
        let reached = Reached { locations: &self.locations, project, session, state: &standing.state };
        let mut events = vec![first.clone()];
        lineage::complete(&Origin::default(), &reached, &mut events)?;
        events.pop();
        for join in events {
            if let EventKind::Join { runs, .. } = &join.kind {
                let session = state::Session { runs: runs.clone(), ..state::Session::default() };
                let joined = State { session, ..State::default() };
                standing.policy = self.store.completed(&standing.policy, &joined)?;
            }
            let outcome = self.probed(project, standing, join)?;
            outcome.apply_to(&mut standing.state);
        }
        Ok(())
    }

    /// Where a session stands, without locks; `None`: nothing guards the project and nothing ever did.
    fn standing(&self, project: &Project, session: &str) -> Result<Option<Standing>, Problem> {
        let remembered = project.remembered()?;
        project.check_folders(&self.locations.state)?;
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
            let policy = Arc::new(self.store.load(&last.policy, &own_state.policy_digest, &state)?);
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
        let policy = Arc::new(self.store.with_earlier(policy, &state)?);
        Ok(Some(Standing { policy, settings, state }))
    }
}
