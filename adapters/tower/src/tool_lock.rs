//! The tool lock: a stage before a tool, which admits a call or denies it.
//! The documentation of the crate has an example.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use async_trait::async_trait;
use phasegate_adapter::guarded::{GuardedCalls, caught, panic_message};
use phasegate_adapter::{Guard, Problem};
use phasegate_core::events::event::CallOutcome;
use phasegate_core::policy::access::{AccessMode, same_version};
use phasegate_core::{Code, DenialReason};

use crate::admission::{Admission, Admitted, Refusal, Request, Verdict};
use crate::asking::ADAPTER;
use crate::denied::{AdmissionEvent, StageError, ToolAdmissionDenied};
use crate::order::Order;
use crate::unended::Unended;

type Listener<T> = Arc<dyn Fn(&T) + Send + Sync>;

/// How a stage behaves. It is read once, when the stage is made.
#[derive(Clone, Default)]
pub struct ToolLockOptions {
    default_access: AccessMode,
    on_event: Option<Listener<AdmissionEvent>>,
    on_deny: Option<Listener<DenialReason>>,
    on_warning: Option<Listener<str>>,
}

impl ToolLockOptions {
    /// The access of requests that state none; `normal` where this is not said.
    #[must_use]
    pub fn default_access(self, access: AccessMode) -> Self {
        Self { default_access: access, ..self }
    }

    /// Gets each denial as an event, in the order of `at`, before the listener of [`ToolLockOptions::on_deny`].
    /// Other threads that deny calls wait until both listeners are done. A listener may use the stage itself, and must
    /// not wait for a call that another thread makes through it.
    #[must_use]
    pub fn on_event(self, listener: impl Fn(&AdmissionEvent) + Send + Sync + 'static) -> Self {
        Self { on_event: Some(Arc::new(listener)), ..self }
    }

    /// Gets the reason of each denial.
    #[must_use]
    pub fn on_deny(self, listener: impl Fn(&DenialReason) + Send + Sync + 'static) -> Self {
        Self { on_deny: Some(Arc::new(listener)), ..self }
    }

    /// Gets the text for the agent where a call runs that a rule in warn mode would have denied.
    #[must_use]
    pub fn on_warning(self, listener: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { on_warning: Some(Arc::new(listener)), ..self }
    }
}

impl std::fmt::Debug for ToolLockOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolLockOptions").field("default_access", &self.default_access).finish_non_exhaustive()
    }
}

/// A stage that admits calls or denies them. Clones are the same stage, and count denials together.
///
/// `ended` says how a call ended, by what it answered: see [`Layer`](crate::Layer).
#[derive(Clone)]
pub struct ToolLock<E> {
    stage: Arc<Stage>,
    ended: E,
}

struct Stage {
    admission: Arc<dyn Admission>,
    options: ToolLockOptions,
    /// Counts the denials, and says whose listeners are told next.
    order: Order,
}

impl<E> std::fmt::Debug for ToolLock<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolLock").field("options", &self.stage.options).finish_non_exhaustive()
    }
}

impl<E> ToolLock<E> {
    /// A stage that asks this guard.
    pub fn new(guard: Arc<dyn Guard>, options: ToolLockOptions, ended: E) -> Self {
        Self::of(Arc::new(GuardedCalls::new(guard, "lock")), options, ended)
    }

    /// A stage that asks another admission than a guard.
    pub fn of(admission: Arc<dyn Admission>, options: ToolLockOptions, ended: E) -> Self {
        Self { stage: Arc::new(Stage { admission, options, order: Order::default() }), ended }
    }

    /// Refuses where nothing guards the project, for the start of a server: without configs, calls would run.
    ///
    /// # Errors
    ///
    /// `policy-missing`: nothing guards the project, and nothing ever did.
    pub async fn require_guarded(&self) -> Result<(), Problem> {
        let why = "nothing guards the project, so every call would run: write its `.phasegate/config.yaml`";
        let guards = caught(self.stage.admission.guards()).await.unwrap_or(true);
        if guards { Ok(()) } else { Err(Problem::new(Code::PolicyMissing, why)) }
    }

    /// The version of the rules that is in force in a session, to tell its caller of: what [`Request::told_of`] states.
    /// Nothing is recorded, and no listener is told. `None`: there is none, as where nothing guards the project.
    ///
    /// # Errors
    ///
    /// It cannot be told, as where the configs have mistakes. Then calls are denied, too.
    pub async fn version(&self, session: &str) -> Result<Option<String>, String> {
        caught(self.stage.admission.in_force(session)).await?
    }

    /// Records the end of a session. A later call under its id begins it anew.
    pub async fn end(&self, session: &str) {
        // A session whose end is not recorded is one that is silent.
        drop(caught(self.stage.admission.session_ended(session)).await);
    }

    /// Runs `next` if the call is admitted, and gives what it gives: its value or its error. `next` is not called for a
    /// call that is denied. Whoever drops the future drops what `next` made; a panic of it goes on. Either ends the call.
    ///
    /// # Errors
    ///
    /// [`StageError::Denied`]: the call is not admitted. [`StageError::Next`]: `next` failed.
    pub async fn run<T, X, F>(&self, request: Request, next: impl FnOnce() -> F) -> Result<T, StageError<X>>
    where
        F: Future<Output = Result<T, X>>,
        E: Fn(&T) -> CallOutcome,
    {
        let admitted = self.admit(request).await.map_err(StageError::Denied)?;
        self.record(admitted, next().await).await.map_err(StageError::Next)
    }

    /// Whether the call is admitted.
    pub(crate) async fn admit(&self, request: Request) -> Result<Unended, Box<ToolAdmissionDenied>> {
        let admitted = self.stage.admit(request).await?;
        Ok(Unended::new(Arc::clone(&self.stage.admission), admitted))
    }

    /// Records how an admitted call ended, and gives its answer on.
    pub(crate) async fn record<T, X>(&self, call: Unended, answer: Result<T, X>) -> Result<T, X>
    where
        E: Fn(&T) -> CallOutcome,
    {
        let outcome = answer.as_ref().map_or(CallOutcome::Failed, &self.ended);
        call.end(outcome).await;
        answer
    }
}

impl Stage {
    async fn admit(&self, mut request: Request) -> Result<Admitted, Box<ToolAdmissionDenied>> {
        request.access.get_or_insert(self.options.default_access);
        // Whatever keeps a call from being decided, the version included, denies it.
        let refusal = match caught(self.decided(&request)).await {
            Ok(Ok(Verdict::Admitted(admitted))) => {
                let warning = admitted.warning.as_deref();
                warning.into_iter().for_each(|text| self.tell("on_warning", self.options.on_warning.as_ref(), text));
                return Ok(admitted);
            }
            Ok(Ok(Verdict::Denied(refusal))) => refusal,
            Ok(Err(message)) | Err(message) => {
                Refusal::new(DenialReason::rule_rejected(ADAPTER, format!("evaluator_threw:{message}")))
            }
        };
        Err(Box::new(self.deny(&request, refusal)))
    }

    async fn decided(&self, request: &Request) -> Result<Verdict, String> {
        let actual = self.admission.version(request).await?;
        if let (Some(expected), Some(actual)) = (&request.version, actual)
            && !same_version(expected, &actual)
        {
            return Ok(DenialReason::rule_version_mismatch(expected, actual).into());
        }
        self.admission.evaluate(request).await
    }

    fn deny(&self, request: &Request, refusal: Refusal) -> ToolAdmissionDenied {
        let (caller, tool) = (request.caller().to_owned(), request.call.tool.clone());
        let reason = Arc::new(refusal.reason);
        let turn = self.order.next();
        let event =
            AdmissionEvent { caller: caller.clone(), tool: tool.clone(), reason: Arc::clone(&reason), at: turn.at };
        self.tell("on_event", self.options.on_event.as_ref(), &event);
        self.tell("on_deny", self.options.on_deny.as_ref(), reason.as_ref());
        drop(turn);
        let advice = if refusal.advice.is_empty() { reason.render() } else { refusal.advice };
        let (http_status, approval) = (ToolAdmissionDenied::HTTP_STATUS, refusal.approval);
        ToolAdmissionDenied { reason, caller, tool, http_status, advice, approval }
    }

    /// Tells a listener. If it panics, the others and the answer are as they would be without it.
    fn tell<T: ?Sized>(&self, name: &str, listener: Option<&Listener<T>>, told: &T) {
        let Some(listener) = listener else { return };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| listener(told))) {
            let message = panic_message(panic.as_ref());
            // The report itself is a stranger's code too.
            drop(catch_unwind(AssertUnwindSafe(|| self.admission.listener_failed(name, &message))));
        }
    }
}

/// An error of any kind.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What comes after a stage: the next one, or the tool.
#[async_trait]
pub trait Next<T>: Send {
    /// Runs it.
    ///
    /// # Errors
    ///
    /// It failed.
    async fn run(self: Box<Self>) -> Result<T, BoxError>;
}

#[async_trait]
impl<T, F, R> Next<T> for F
where
    F: FnOnce() -> R + Send,
    R: Future<Output = Result<T, BoxError>> + Send,
{
    async fn run(self: Box<Self>) -> Result<T, BoxError> {
        (*self)().await
    }
}

/// A stage of a chain: it runs what comes after it, or does not.
#[async_trait]
pub trait MiddlewareStage<T>: Send + Sync {
    /// Handles a request.
    ///
    /// # Errors
    ///
    /// What `next` gives, as it is; or the stage's own: [`ToolAdmissionDenied`] of a [`ToolLock`].
    async fn handle<'n>(&self, request: Request, next: Box<dyn Next<T> + 'n>) -> Result<T, BoxError>;
}

#[async_trait]
impl<T, E> MiddlewareStage<T> for ToolLock<E>
where
    T: Send + Sync + 'static,
    E: Fn(&T) -> CallOutcome + Send + Sync,
{
    async fn handle<'n>(&self, request: Request, next: Box<dyn Next<T> + 'n>) -> Result<T, BoxError> {
        let admitted = self.admit(request).await.map_err(|denied| -> BoxError { denied })?;
        let answer = next.run().await;
        self.record(admitted, answer).await
    }
}
