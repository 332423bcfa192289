//! One guarded call, for every server that holds a [`Guard`]: begin the session, decide the call, run it, record how it
//! ended, end the session.
//!
//! The MCP relay, the guard inside a server and the tower layer all use [`GuardedCalls`], so that the same
//! fault gets the same code in each of them:
//!
//! | fault | the call |
//! |---|---|
//! | the guard answers with a problem | denied with the problem's code |
//! | the session cannot begin, or a skill not be put in force in it | denied with that problem's code; the next event tries again |
//! | the guard panics | denied with `internal` |
//! | the guard answers without a decision | denied with `internal` |
//! | nothing guards the project, now or before | runs, and nothing is recorded |

use std::any::Any;
use std::collections::HashMap;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{SystemTime, UNIX_EPOCH};

use phasegate_core::calls::reported_numbers::Reported;
use phasegate_core::events::event::{By, CallOutcome, PermissionOutcome, SessionSource};
use phasegate_core::policy::Mode;
use phasegate_core::policy::access::Stated;
use phasegate_core::{Code, Decision, Effect, Event, EventKind, Outcome};
use serde_json::{Value, json};

use crate::{Guard, Problem, text};

/// A session, as a server knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedSession {
    /// Its id, as the guard is given it.
    pub id: String,
    /// Who is behind it, where the server has established that.
    pub principal: Option<String>,
    /// How the session begins, if it begins here; `None` for a session that another process begins and ends.
    pub begins: Option<SessionSource>,
}

impl GuardedSession {
    /// A session that begins and ends in this process.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), principal: None, begins: Some(SessionSource::Startup) }
    }

    /// A session that another process begins and ends.
    pub fn of_others(id: impl Into<String>) -> Self {
        Self { begins: None, ..Self::new(id) }
    }

    /// The session with this principal.
    #[must_use]
    pub fn of_principal(self, principal: Option<String>) -> Self {
        Self { principal, ..self }
    }

    /// An event of this session.
    #[must_use]
    pub fn event(&self, kind: EventKind) -> Event {
        Event { principal: self.principal.clone(), ..Event::new(&self.id, kind) }
    }
}

/// A skill that is in force in each session of a server, put there by who started the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its name.
    pub skill: String,
    /// The least strict mode of its runs; `None`: as the configs say.
    pub mode: Option<Mode>,
}

/// A call that runs, and whose outcome is recorded when it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardedCall {
    /// The session it belongs to.
    pub session: GuardedSession,
    /// The id that all events of the call carry.
    pub id: String,
    /// The tool's name, as policies use it.
    pub tool: String,
}

/// What is seen of the end of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallEnd {
    /// How it ended.
    pub outcome: CallOutcome,
    /// The numbers that its result reports.
    pub reported: Reported,
}

impl From<CallOutcome> for CallEnd {
    fn from(outcome: CallOutcome) -> Self {
        Self { outcome, reported: Reported::new() }
    }
}

/// Whether a call runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Ruling {
    /// It runs, and [`GuardedCalls::ended`] records how it ended.
    Runs {
        /// The call.
        call: GuardedCall,
        /// In warn mode: why the call would have been denied. The agent reads it beside the answer.
        warning: Option<Box<Decision>>,
    },
    /// It runs, because nothing guards the project and nothing ever did. Nothing is recorded.
    Unguarded,
    /// It runs, because the host's own guard has decided it and records its outcome.
    DecidedByHost,
    /// It does not run.
    Denied(Denial),
}

/// Why a call does not run.
#[derive(Clone, Debug, PartialEq)]
pub enum Denial {
    /// The policy denies it, or asks a person, which a server cannot do.
    Decision(Box<Decision>),
    /// The guard could not decide it.
    Problem(Problem),
}

impl Denial {
    /// The text that the agent reads: what the call is, and what to do now.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Decision(decision) => text::denial(decision),
            Self::Problem(problem) => problem.text(),
        }
    }

    /// The stable code, if the denial has one.
    #[must_use]
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Decision(decision) => decision.code,
            Self::Problem(problem) => Some(problem.code),
        }
    }
}

/// What the guard said of a call.
#[derive(Clone, Debug)]
pub struct Ruled {
    /// Whether the call runs.
    pub ruling: Ruling,
    /// What else changed, where the guard decided.
    pub step: Option<Outcome>,
}

/// A call before it is decided.
#[derive(Clone, Debug)]
pub struct Proposed {
    /// The event, an [`EventKind::ToolCall`].
    pub event: EventKind,
    /// The ids by which the host may already have decided the call: see [`Guard::decided`].
    pub host_ids: Vec<String>,
    /// What the server states of the call: see [`Stated`].
    pub stated: Option<Box<Stated>>,
}

impl From<EventKind> for Proposed {
    fn from(event: EventKind) -> Self {
        Self { event, host_ids: Vec::new(), stated: None }
    }
}

/// Numbers the calls of this process, over whatever connection they come.
static CALLS: AtomicU64 = AtomicU64::new(1);

/// Gives a guard the calls of one server. Shared by all its connections and sessions.
pub struct GuardedCalls {
    guard: Arc<dyn Guard>,
    /// What the ids of this process's calls and sessions begin with.
    process: String,
    /// The skills that are put in force in each session before its first event.
    held: Vec<Held>,
    /// The sessions that begin here, or in which a skill is put in force. The inner lock is fair, so events keep their
    /// order meanwhile.
    begun: Mutex<HashMap<String, Arc<tokio::sync::Mutex<bool>>>>,
}

impl std::fmt::Debug for GuardedCalls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GuardedCalls").field("process", &self.process).finish_non_exhaustive()
    }
}

impl GuardedCalls {
    /// Calls that this guard decides. `kind` is a word for the kind of server; ids of calls and sessions begin with it.
    pub fn new(guard: Arc<dyn Guard>, kind: &str) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let process = format!("{kind}-{}-{}", std::process::id(), since.as_nanos());
        Self { guard, process, held: Vec::new(), begun: Mutex::default() }
    }

    /// The same, with skills that each session has in force from its first event on.
    #[must_use]
    pub fn holding(self, held: Vec<Held>) -> Self {
        Self { held, ..self }
    }

    /// The guard.
    #[must_use]
    pub fn guard(&self) -> &dyn Guard {
        self.guard.as_ref()
    }

    /// What tells this process's sessions from those of others.
    #[must_use]
    pub fn process(&self) -> &str {
        &self.process
    }

    /// An id that no other call or session of any process has.
    #[must_use]
    pub fn fresh_id(&self) -> String {
        format!("{}-{}", self.process, CALLS.fetch_add(1, Ordering::Relaxed))
    }

    /// Begins a session, unless it has begun or begins elsewhere, and puts the skills in force that it is to have.
    ///
    /// # Errors
    ///
    /// The guard could not record that, or the configs have no such skill. The session's next event tries again.
    pub async fn begin(&self, session: &GuardedSession) -> Result<(), Problem> {
        if session.begins.is_none() && self.held.is_empty() {
            return Ok(());
        }
        let begun = Arc::clone(self.begun().entry(session.id.clone()).or_default());
        let mut begun = begun.lock().await;
        if !*begun {
            if let Some(source) = session.begins {
                drop(self.handle(session, EventKind::SessionStart { source, parent: None }).await?);
            }
            for held in &self.held {
                self.put_in_force(session, held).await?;
            }
            *begun = true;
        }
        Ok(())
    }

    async fn put_in_force(&self, session: &GuardedSession, held: &Held) -> Result<(), Problem> {
        let mut args = json!({"skill_name": held.skill, "scope": "session"});
        if let (Some(mode), Some(fields)) = (held.mode, args.as_object_mut()) {
            fields.insert("mode".to_owned(), mode.word().into());
        }
        let command = EventKind::Command { by: By::Human, name: "activate_skill".to_owned(), args };
        let step = self.handle(session, command).await?;
        match step.decision {
            Some(decision) if decision.effect == Effect::Deny => {
                let text = format!("the skill `{}` cannot be put in force: {}", held.skill, decision.reason);
                Err(Problem::new(decision.code.unwrap_or(Code::Internal), text))
            }
            _ => Ok(()),
        }
    }

    /// Records the end of a session that began here. A later event under its id begins it anew.
    pub async fn end(&self, session: &GuardedSession) {
        let begun = self.begun().remove(&session.id);
        if session.begins.is_some()
            && let Some(begun) = begun
            && *begun.lock().await
        {
            // A session whose end is not recorded is one that is silent.
            drop(self.handle(session, EventKind::SessionEnd {}).await);
        }
    }

    /// Gives the guard an event of a session. `None`: nothing guards the project, and nothing ever did.
    ///
    /// # Errors
    ///
    /// The guard could not work; a call must then be denied.
    pub async fn give(&self, session: &GuardedSession, kind: EventKind) -> Result<Option<Outcome>, Problem> {
        self.give_event(session, session.event(kind)).await
    }

    async fn give_event(&self, session: &GuardedSession, event: Event) -> Result<Option<Outcome>, Problem> {
        let step = match self.begin(session).await {
            Ok(()) => self.handle_event(session, event).await,
            Err(problem) => Err(problem),
        };
        match step {
            Ok(step) => Ok(Some(step)),
            Err(problem) if problem.code == Code::PolicyMissing && self.unguarded().await => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// Decides a call. Whatever keeps it from being decided denies it, and so does a question: nobody can be asked here.
    pub async fn decide(&self, session: &GuardedSession, proposed: Proposed) -> Ruled {
        let id = match &proposed.event {
            EventKind::ToolCall { id: Some(id), .. } => id.clone(),
            _ => String::new(),
        };
        let ruled = self.propose(session, proposed).await;
        if matches!(&ruled.ruling, Ruling::Denied(Denial::Decision(decision)) if decision.effect == Effect::Ask) {
            self.refused(session, &id).await;
        }
        ruled
    }

    /// Decides a call for a server that can have a person asked: the call of a question stays open. If nobody is asked
    /// after all, or the answer is no, [`GuardedCalls::refused`] ends it.
    pub async fn propose(&self, session: &GuardedSession, proposed: Proposed) -> Ruled {
        let Proposed { event, host_ids, stated } = proposed;
        let (id, tool) = match &event {
            EventKind::ToolCall { id, tool, .. } => (id.clone().unwrap_or_default(), tool.clone()),
            _ => (String::new(), String::new()),
        };
        if session.begins.is_none() && !host_ids.is_empty() && self.decided_by_host(session, &event, host_ids).await {
            return Ruled { ruling: Ruling::DecidedByHost, step: None };
        }
        let event = Event { stated, ..session.event(event) };
        match self.give_event(session, event).await {
            Ok(Some(mut step)) => {
                let ruling = match step.decision.take() {
                    Some(decision) if decision.lets_through() => {
                        let call = GuardedCall { session: session.clone(), id, tool };
                        let warning = (decision.effect == Effect::Warn).then(|| Box::new(decision));
                        Ruling::Runs { call, warning }
                    }
                    Some(decision) => Ruling::Denied(Denial::Decision(Box::new(decision))),
                    None => Ruling::Denied(Denial::Problem(Problem::new(Code::Internal, "the call was not decided"))),
                };
                Ruled { ruling, step: Some(step) }
            }
            Ok(None) => Ruled { ruling: Ruling::Unguarded, step: None },
            Err(problem) => Ruled { ruling: Ruling::Denied(Denial::Problem(problem)), step: None },
        }
    }

    /// Records that the call of a question does not run. A person can still answer by its name.
    pub async fn refused(&self, session: &GuardedSession, id: &str) {
        let event = EventKind::Permission { id: Some(id.to_owned()), outcome: PermissionOutcome::Refused };
        // The call is denied whether that is recorded or not.
        drop(self.handle(session, event).await);
    }

    /// Records how a call ended. Its answer has gone out or goes out all the same.
    ///
    /// # Errors
    ///
    /// The guard could not record it; the call then proves nothing.
    pub async fn ended(&self, call: GuardedCall, end: impl Into<CallEnd>) -> Result<Outcome, Problem> {
        let CallEnd { outcome, reported } = end.into();
        let kind = EventKind::ToolResult {
            id: Some(call.id),
            outcome: Some(outcome),
            ok: None,
            exit_code: None,
            output: None,
            tests: Vec::new(),
            reported,
            tool: Some(call.tool),
            input: None,
        };
        self.handle(&call.session, kind).await
    }

    /// Whether nothing guards the project and nothing ever did. A guard that panics guards.
    pub async fn unguarded(&self) -> bool {
        caught(async { self.guard.unguarded().await }).await.unwrap_or(false)
    }

    /// Which of these tools every call is denied of now: see [`Guard::probe`]. A tool is given as the call that stands for
    /// all of its calls. `false` for all of them where the guard cannot say: each call is still decided when it comes.
    pub async fn forbidden(&self, session: &GuardedSession, calls: Vec<EventKind>) -> Vec<bool> {
        let count = calls.len();
        let events = calls.into_iter().map(|kind| session.event(kind)).collect();
        match caught(async { self.guard.probe(&session.id, events).await }).await {
            Ok(Ok(answers)) if answers.len() == count => {
                answers.iter().map(|decision| !decision.lets_through()).collect()
            }
            _ => vec![false; count],
        }
    }

    async fn decided_by_host(&self, session: &GuardedSession, call: &EventKind, ids: Vec<String>) -> bool {
        let event = session.event(call.clone());
        caught(async { self.guard.decided(&session.id, &event, ids).await }).await.unwrap_or(false)
    }

    async fn handle(&self, session: &GuardedSession, kind: EventKind) -> Result<Outcome, Problem> {
        self.handle_event(session, session.event(kind)).await
    }

    async fn handle_event(&self, session: &GuardedSession, event: Event) -> Result<Outcome, Problem> {
        let handled = caught(async { self.guard.handle(&session.id, event).await }).await;
        handled.unwrap_or_else(|_| Err(Problem::new(Code::Internal, "the guard panicked while it decided")))
    }

    fn begun(&self) -> MutexGuard<'_, HashMap<String, Arc<tokio::sync::Mutex<bool>>>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What stands for every call of a tool: see [`Guard::probe`].
#[must_use]
pub fn every_call(tool: &str, server: Option<&str>, labels: Option<phasegate_core::calls::tool::Labels>) -> EventKind {
    EventKind::ToolCall {
        id: None,
        tool: tool.to_owned(),
        native: None,
        server: server.map(ToOwned::to_owned),
        input: Value::Null,
        labels,
        background: false,
        analysis: phasegate_core::calls::analysis::CallAnalysis::default(),
    }
}

/// What a future answers.
///
/// # Errors
///
/// It panics: with this message.
pub async fn caught<T>(future: impl Future<Output = T>) -> Result<T, String> {
    let mut future = pin!(future);
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => Poll::Ready(Err(panic_message(panic.as_ref()))),
    })
    .await
}

/// What a panic says; empty where it says nothing.
#[must_use]
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
