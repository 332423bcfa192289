//! The driver: an event of a session in, its outcome and its records out (rules 8).
//!
//! Every way that records decides through here: a hook and a control command with one event, the session cache with a
//! batch, a probe on a store in memory.

pub mod decide;
pub mod open_frame;
pub mod frames;
pub mod failure_mode;
pub mod probe;
pub mod project_command;
pub mod hook;
mod alarms;
mod distrust;
mod effects;
mod not_in_force;
mod policy_choice;
mod record;
mod shell;
mod suspects;
mod sweep;
mod unaccepted;
mod undoing;
mod words;
mod prompt_files;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use phasegate_adapter::{FailureMode, Problem, Refusal};
use phasegate_core::calls::reported_numbers;
use phasegate_core::policy::{Mode, Policy, Skill};
use phasegate_core::shell::classifier::Classifier;
use phasegate_core::{Decision, Effect, Event, EventKind, Outcome, State, state};
use phasegate_shell::Readers;
use phasegate_store::journal::Journal;
use phasegate_store::store::Store;
use serde_json::{Value, json};

use crate::analysis::{self, Shell};
use crate::bounds;
use crate::clients::servers::is_among;
use crate::deadline::Deadline;
use crate::driver::decide::{Decided, decide};
use crate::driver::failure_mode::Known;
use crate::effects::directory_snapshot::Watching;
use crate::facts;
use crate::operate::audit;
use crate::operate::step_trial::StepTrial;
use crate::project::first_look::{FirstLook, first_look};
use crate::project::{Project, kept_root, session_began};
use crate::runtime::Runtime;
use crate::sessions::integrity::{IntegrityCheck, repairable};
use crate::sessions::lineage::{self, Origin, Reached};
use crate::sessions::loaded::{LoadedProject, LoadedSession};
use crate::sessions::outer_sessions;
use crate::sessions::redact::leaves_out;
use crate::sessions::snapshot::SessionChange;
use crate::sessions::{gone_calls, is_strict};

/// Both journals of a session, locked, and all that a decision depends on.
pub struct Driver<'a> {
    /// Where configs and policies are found.
    pub runtime: &'a Runtime,
    store: &'a dyn Store,
    /// The project.
    pub project: Project,
    /// The session's id.
    pub session: String,
    /// What is loaded, and locked.
    pub loaded: Loaded,
    /// The engine's state, as it was loaded or is after the last event.
    pub state: State,
    /// What configs say of failures, where they were asked.
    configs: Option<FailureMode>,
    /// What the person is to be told with the answer to this event.
    notice: Option<String>,
    /// The folder in the project that the client was started in, as far as that is said; else the project's root.
    pub(crate) start: PathBuf,
    /// The platform whose client sent the frame of this event.
    pub(crate) client: Option<String>,
    /// Whether this program is the client's shell, as the client says.
    is_shell: bool,
    /// Whether the client reads its user's settings in another folder than usual.
    is_elsewhere: bool,
    /// Whether the client starts a skill by the frame of this event.
    starts_skill: bool,
    /// The commands of which the call that is decided would change what they obey.
    changes: BTreeSet<Readers>,
    /// What is watched, as the look before this event left it.
    watched: Option<Watching>,
}

/// What a driver has loaded: a process that stays keeps it between events.
#[derive(Debug)]
pub struct Loaded {
    /// The project's journal, locked.
    pub project_journal: Journal,
    /// The session's journal, locked.
    pub session_journal: Journal,
    /// The project.
    pub shared: LoadedProject,
    /// The session.
    pub own: LoadedSession,
}

impl Loaded {
    /// Checks that the parts of the state know of each other as they should. `root` is what is kept of where the session
    /// began.
    ///
    /// # Errors
    ///
    /// As for [`IntegrityCheck::check`].
    pub fn check(
        &mut self,
        project: &Project,
        session: &str,
        root: &dyn Fn() -> Result<Option<PathBuf>, Problem>,
    ) -> Result<(), Problem> {
        let check = IntegrityCheck {
            project,
            remembered: self.shared.remembered,
            session,
            root,
            project_journal: &self.project_journal,
            session_journal: &self.session_journal,
            snapshot: &self.shared.snapshot,
            lost: self.own.snapshot.lost,
            saw: self.own.snapshot.project,
        };
        let presence = check.check()?;
        self.own.change(SessionChange::Lost(presence.lost));
        (self.own.rooted, self.own.without_policy) = (presence.rooted, false);
        Ok(())
    }
}

impl<'a> Driver<'a> {
    /// Locks and loads. `None`: nothing guards the project and nothing ever did; the disk was not touched.
    ///
    /// # Errors
    ///
    /// The state cannot be used, with the failure mode as far as it is known by then.
    pub fn open(
        runtime: &'a Runtime,
        store: &'a dyn Store,
        project: Project,
        session: &str,
        deadline: &Deadline,
    ) -> Result<Option<Self>, Refusal> {
        let remembered = project.remembered();
        let path = project.session_journal(session);
        let Some(look) = first_look(runtime, &project, &remembered, &path)? else { return Ok(None) };
        let load = || {
            let remembered = remembered.clone()?;
            project.check_folders(&runtime.locations.state)?;
            let (project_journal, snapshot) = Journal::open(store, &project.journal(), deadline)?;
            let shared = LoadedProject { snapshot, remembered, ..LoadedProject::default() };
            let (session_journal, snapshot) = Journal::open(store, &path, deadline)?;
            let own = LoadedSession { snapshot, ..LoadedSession::default() };
            let mut loaded = Loaded { project_journal, session_journal, shared, own };
            loaded.check(&project, session, &|| kept_root(&runtime.locations, session))?;
            Ok(loaded)
        };
        let loaded = load().map_err(|problem| repairable(problem, session));
        let unopened = || look.unopened(&project, remembered.as_ref().copied(), session);
        let loaded = loaded.map_err(|problem| runtime.refuse(&project, unopened(), problem))?;
        Ok(Some(Self::new(runtime, store, project, session, loaded, look)))
    }

    /// The driver of a session whose journals are in order.
    pub fn new(
        runtime: &'a Runtime,
        store: &'a dyn Store,
        project: Project,
        session: &str,
        mut loaded: Loaded,
        look: FirstLook,
    ) -> Self {
        let session_state = std::mem::take(&mut loaded.own.snapshot.session);
        let project_state = std::mem::take(&mut loaded.shared.snapshot.project);
        let state = State { session: session_state, project: project_state };
        let FirstLook { configs, .. } = look;
        let project_root = project.root.clone();
        Self {
            runtime,
            store,
            project,
            session: session.to_string(),
            loaded,
            state,
            configs,
            notice: None,
            start: project_root,
            client: None,
            is_shell: false,
            is_elsewhere: false,
            starts_skill: false,
            changes: BTreeSet::new(),
            watched: None,
        }
    }

    /// What stays when the driver is done.
    pub fn over(mut self) -> Loaded {
        self.loaded.own.snapshot.session = self.state.session;
        self.loaded.shared.snapshot.project = self.state.project;
        self.loaded
    }

    /// Decides one event and records it.
    ///
    /// # Errors
    ///
    /// No policy can be used, or the record cannot be written.
    pub fn decide(&mut self, event: Event) -> Result<Outcome, Problem> {
        let (event, decided) = self.judge(event, false)?;
        let denied = decided.outcome.decision.as_ref().is_some_and(|decision| decision.effect == Effect::Deny);
        self.note_judged(&event, denied);
        let changes = std::mem::take(&mut self.changes);
        let passes = decided.outcome.decision.as_ref().is_none_or(|decision| decision.lets_through());
        if !passes {
            self.hold_notice();
        } else if !matches!(event.kind, EventKind::SessionEnd {}) {
            self.take_held_notice();
        }
        if !changes.is_empty() && passes {
            let before = self.loaded.own.snapshot.distrusted.iter().copied();
            self.loaded.own.change(SessionChange::Distrusted(before.chain(changes).collect()));
        }
        self.tell_shell(&event, &decided.outcome)?;
        self.watch(&event, &decided.outcome);
        let mut outcome = self.record(&event, decided)?;
        self.tell_of_skill(&event, &mut outcome);
        self.tell_what_to_put_back(&event, &mut outcome);
        if self.asks_for_nothing(&event) {
            outcome.decision = Some(Decision { approved: true, ..Decision::allow() });
        }
        self.tell(&mut outcome);
        Ok(outcome)
    }

    /// Adds to what the person is to be told with the answer to this event.
    fn add_notice(&mut self, text: &str) {
        let before = self.notice.take().map(|before| format!("{before} ")).unwrap_or_default();
        self.notice = Some(before + text);
    }

    /// Keeps what the person is to be told for the next answer: one that denies goes to the agent alone.
    fn hold_notice(&mut self) {
        if self.notice.is_some() {
            self.take_held_notice();
            let notice = self.notice.take();
            self.loaded.own.change(SessionChange::HeldNotice(notice));
        }
    }

    /// Tells with this answer what an earlier one could not.
    fn take_held_notice(&mut self) {
        let Some(held) = self.loaded.own.snapshot.held_notice.clone() else { return };
        let now = self.notice.replace(held);
        now.iter().for_each(|now| self.add_notice(now));
        self.loaded.own.change(SessionChange::HeldNotice(None));
    }

    /// Puts what the person is to be told into the outcome, behind what is there.
    fn tell(&mut self, outcome: &mut Outcome) {
        let Some(notice) = self.notice.take() else { return };
        let said = outcome.result.as_ref().and_then(|result| result.get("text")?.as_str());
        let text = match said {
            Some(said) => format!("{said}\n{notice}"),
            None => notice,
        };
        match &mut outcome.result {
            Some(Value::Object(fields)) => drop(fields.insert("text".to_owned(), Value::from(text))),
            _ => outcome.result = Some(json!({"text": text})),
        }
    }

    /// What the event would lead to, with nothing recorded. A call without arguments stands for every call of its tool.
    ///
    /// # Errors
    ///
    /// No policy can be used.
    pub fn probe(&mut self, event: Event) -> Result<Outcome, Problem> {
        Ok(self.judge(event, true)?.1.outcome)
    }

    /// Completes an event and decides it: policy, analysis of the call, facts, `step`. A call of an `open` event without
    /// arguments stands for every call of its tool.
    fn judge(&mut self, mut event: Event, open: bool) -> Result<(Event, Decided), Problem> {
        event.time.get_or_insert_with(self.runtime.now);
        if event.session.is_empty() {
            event.session.clone_from(&self.session);
        }
        if event.principal.is_some() {
            self.loaded.own.change(SessionChange::Principal(event.principal.clone()));
        }
        if let Err(problem) = self.choose_policy(&event) {
            self.name_session();
            return Err(self.note_problem(event.to_value(), problem));
        }
        if let Err(problem) = bounds::check(&event) {
            let id = event.call().and_then(|call| call.id);
            let event = json!({"event": event.name(), "session": event.session, "id": id});
            return Err(self.note_problem(event, problem));
        }
        self.keep_distrust(&event);
        reported_numbers::keep_counted(&mut event, &self.loaded.own.policy.budgets);
        // Only a record knows what was left out of it.
        if let EventKind::ToolCall { analysis, input, .. } = &mut event.kind {
            (analysis.redacted, analysis.open) = (None, false);
            analysis.unsaid = leaves_out(input, &self.loaded.own.snapshot.settings.redact);
        }
        if open {
            analysis::open(&mut event);
        }
        let (root, logs, settings) = (&self.project.root, self.audit_logs(), &self.loaded.own.snapshot.settings);
        let protected = || self.runtime.protected(Some(root), &logs).of_client(self.client.as_deref());
        let classifier = Classifier::of(&self.state, &self.loaded.own.policy.safety);
        let shell = Shell::of(settings, &self.loaded.own.snapshot.distrusted).with(classifier);
        let shell = shell.under(&self.loaded.own.policy).with_home(&self.runtime.locations.home);
        let began = || session_began(&self.runtime.locations, &self.session);
        self.changes = analysis::complete(&mut event, root, &shell, &protected, &began);
        if !open && let Some(problem) = self.refused(&mut event) {
            return Err(self.note_problem(event.to_value(), problem));
        }
        let root = &self.project.root;
        analysis::name_paths(&mut event, root, self.runtime.locations.home.to_str().unwrap_or_default());
        analysis::name_read(&mut event, root, &self.loaded.own.policy);
        analysis::count_words(&mut event, &self.loaded.own.policy);
        analysis::tell_content(&mut event, root, &|| {
            let policy = &self.loaded.own.policy;
            policy.asks_what_was_written() || policy.asks_for_code()
        });
        self.mark_unproven(&mut event);
        if let EventKind::ToolCall { analysis, .. } = &mut event.kind {
            analysis.gone = gone_calls(&self.project, &self.state).into();
        }
        if let EventKind::Join { runs, .. } = &event.kind {
            let session = state::Session { runs: runs.clone().into(), ..state::Session::default() };
            self.loaded.own.policy = self.with_earlier(&State { session, ..State::default() })?;
        }
        let policies = &self.runtime.policies;
        self.loaded.own.policy = policies.with_instance(&self.loaded.own.policy, &self.state, &event, !open)?;
        let trial = StepTrial::new(self.runtime, &self.project.root);
        let gather = |policy: &_, keys: &[_], found: &mut _| {
            facts::gather(facts::World::of(&self.project, policy).trying(&trial), keys, found)
        };
        let keep = |skill: &Skill| if open { Ok(()) } else { policies.keep(skill) };
        let decided = decide(&mut self.loaded.own.policy, &self.state, &event, gather, keep)?;
        Ok((event, decided))
    }

    /// Why a call is refused whatever a policy says of it; else notes in it what earlier calls did, and how it would run.
    fn refused(&mut self, event: &mut Event) -> Option<Problem> {
        self.find_texts(event);
        let outer = outer_sessions::held(&self.runtime.locations, &self.loaded.own.snapshot.outer, event);
        let held = outer.or_else(|| self.held_by_alarm(event)).or_else(|| self.loads_unaccepted(event));
        if let Some(problem) = held {
            return Some(problem);
        }
        self.look_at_effects(event);
        self.note_violations(event);
        self.meet_shell(event)
    }

    /// Notes in a call whether its server is started in another way than a person accepted.
    fn mark_unproven(&self, event: &mut Event) {
        let unproven = &self.loaded.own.snapshot.unproven;
        let server = event.call().and_then(|call| call.tool.server).filter(|_| !unproven.is_empty());
        let is_unproven = server.is_some_and(|server| is_among(unproven, &server));
        if let EventKind::ToolCall { analysis, .. } = &mut event.kind {
            analysis.unproven = is_unproven;
        }
    }

    /// The events of a frame, completed: the session's lineage, if they begin it, and before them the runs that it joins.
    ///
    /// # Errors
    ///
    /// `state-unreadable`, `state-version`: the sessions whose runs may have to be joined cannot be read.
    pub fn inherit(&mut self, origin: &Origin, mut events: Vec<Event>) -> Result<Vec<Event>, Problem> {
        self.starts_skill = events.iter().any(|event| matches!(event.kind, EventKind::Skill { .. }));
        let starts = events.iter().any(|event| matches!(event.kind, EventKind::SessionStart { .. }));
        let reached = Reached {
            locations: &self.runtime.locations,
            project: &self.project,
            session: &self.session,
            state: &self.state,
            shared: &self.loaded.shared.snapshot,
            records: self.loaded.shared.snapshot.base + self.loaded.project_journal.seq(),
        };
        let begins = starts || self.state.session.events == 0;
        let found =
            if begins { outer_sessions::found(origin, &reached, &self.loaded.own.snapshot.outer) } else { None };
        match lineage::complete(origin, &reached, &mut events) {
            Ok(rests) => {
                if let Some(outer) = found {
                    self.loaded.own.change(SessionChange::Outer(outer));
                }
                rests.into_iter().for_each(|change| self.loaded.shared.change(change));
                if starts && let Err(problem) = self.sweep() {
                    tracing::warn!(code = %problem.code, "old journals cannot be removed: {}", problem.message);
                }
                Ok(events)
            }
            Err(problem) => {
                let event = events.first().map(Event::to_value).unwrap_or_default();
                Err(self.note_problem(event, problem))
            }
        }
    }

    /// What happens to a frame of the session that cannot be decided; `None`: nothing that is loaded says it.
    pub fn failure_mode(&self) -> Option<FailureMode> {
        if outer_sessions::may_hold(&self.runtime.locations, &self.loaded.own.snapshot.outer) {
            return Some(FailureMode::Closed);
        }
        self.own_failure_mode()
    }

    /// As [`Driver::failure_mode`], as far as the project itself says it.
    fn own_failure_mode(&self) -> Option<FailureMode> {
        let known = Known {
            configs: self.configs,
            remembered: self.loaded.shared.remembered,
            strict: is_strict(&self.state) || self.loaded.own.snapshot.settings.mode == Some(Mode::Block),
            has_policy: !self.version().is_empty(),
        };
        known.failure_mode()
    }

    /// Whether a frame of the session that cannot be decided is denied, as far as is known.
    fn is_closed(&self) -> bool {
        self.failure_mode().is_none_or(|mode| mode == FailureMode::Closed)
    }

    /// The problem with its failure mode.
    pub fn refuse(&self, problem: Problem) -> Refusal {
        self.runtime.refuse(&self.project, self.failure_mode(), problem)
    }

    /// The version of the policy in use, or of the last record's.
    fn version(&self) -> String {
        let known = &self.loaded.own.policy.version;
        if known.is_empty() { self.loaded.session_journal.policy().to_string() } else { known.clone() }
    }

    /// The policy in use, with the skills that live runs of `state` began with.
    fn with_earlier(&self, state: &State) -> Result<Arc<Policy>, Problem> {
        self.runtime.policies.completed(&self.loaded.own.policy, state)
    }

    fn audit_logs(&self) -> Vec<PathBuf> {
        audit::log::paths(self.runtime, &self.project.root, &self.loaded.own.snapshot.settings)
    }
}

/// The problem, which says that it could not be recorded.
pub fn unrecorded(problem: &Problem, unsaved: &Problem) -> Problem {
    let text = format!("{}; this could not be recorded either: {}", problem.message, unsaved.message);
    Problem::new(problem.code, text)
}
