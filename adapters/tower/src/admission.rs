//! Admission: who may make which call, as the stage asks it.

use async_trait::async_trait;
use phasegate_adapter::guarded::GuardedCall;
use phasegate_core::DenialReason;
use phasegate_core::events::event::CallOutcome;
use phasegate_core::policy::access::AccessMode;

use crate::call::Call;

/// A call that asks to be admitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The call, with its arguments. Session and principal are the server's to set, never the agent's.
    pub call: Call,
    /// The access that it is made with; `None`: the stage's own.
    pub access: Option<AccessMode>,
    /// The version of the rules that the caller was told of; `None`: it was told of none, so none is compared.
    pub version: Option<String>,
}

impl Request {
    /// A request for this call, with the access of the stage and without a version.
    #[must_use]
    pub fn new(call: Call) -> Self {
        Self { call, access: None, version: None }
    }

    /// The request with this access.
    #[must_use]
    pub fn with_access(self, access: AccessMode) -> Self {
        Self { access: Some(access), ..self }
    }

    /// The request of a caller that was told of this version of the rules.
    #[must_use]
    pub fn told_of(self, version: impl Into<String>) -> Self {
        Self { version: Some(version.into()), ..self }
    }

    /// Who calls: the principal, else the session.
    #[must_use]
    pub fn caller(&self) -> &str {
        self.call.principal.as_deref().unwrap_or(&self.call.session)
    }
}

impl From<Call> for Request {
    fn from(call: Call) -> Self {
        Self::new(call)
    }
}

/// Whether a call is admitted.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It runs.
    Admitted(Admitted),
    /// It does not run.
    Denied(Refusal),
}

impl Verdict {
    /// It runs, and there is no more to say.
    #[must_use]
    pub fn admitted() -> Self {
        Admitted::default().into()
    }
}

impl From<Admitted> for Verdict {
    fn from(admitted: Admitted) -> Self {
        Self::Admitted(admitted)
    }
}

impl From<Refusal> for Verdict {
    fn from(refusal: Refusal) -> Self {
        Self::Denied(refusal)
    }
}

impl From<DenialReason> for Verdict {
    fn from(reason: DenialReason) -> Self {
        Refusal::new(reason).into()
    }
}

/// A call that runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Admitted {
    /// What the agent is told beside the answer: a rule in warn mode would have denied the call.
    pub warning: Option<String>,
    /// The call, where its outcome is recorded.
    pub call: Option<GuardedCall>,
}

/// A call that does not run.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// Why.
    pub reason: DenialReason,
    /// The text for the agent: why, how to get on, and what it may call now. Empty where there is no more than the reason.
    pub advice: String,
    /// The name under which a person lets the same call run, where it needs one: `phasegate approve NAME`.
    pub approval: Option<String>,
}

impl Refusal {
    /// A refusal for this reason, with no more to say.
    #[must_use]
    pub fn new(reason: DenialReason) -> Self {
        Self { reason, advice: String::new(), approval: None }
    }

    /// The refusal with this text for the agent.
    #[must_use]
    pub fn with_advice(self, advice: impl Into<String>) -> Self {
        Self { advice: advice.into(), ..self }
    }
}

/// Decides whether calls are admitted. The guard of a project does; a server may bring one of its own.
///
/// An error says that nothing could be decided, and a panic does too: the stage then denies the call.
#[async_trait]
pub trait Admission: Send + Sync {
    /// The version of the rules; `None`: [`Admission::evaluate`] compares the version of the request itself.
    ///
    /// # Errors
    ///
    /// It cannot be told.
    async fn version(&self, request: &Request) -> Result<Option<String>, String>;

    /// The version of the rules that is in force in a session, to tell callers of; `None`: nobody knows one.
    ///
    /// # Errors
    ///
    /// It cannot be told, as where the configs have mistakes.
    async fn in_force(&self, session: &str) -> Result<Option<String>, String> {
        self.version(&Request::new(Call::new(session, ""))).await
    }

    /// Whether anything guards these calls. By default this admission does.
    async fn guards(&self) -> bool {
        true
    }

    /// Takes note that a session is over.
    async fn session_ended(&self, _session: &str) {}

    /// Decides a call. Its access is set: the request's, else the stage's.
    ///
    /// # Errors
    ///
    /// It cannot be decided.
    async fn evaluate(&self, request: &Request) -> Result<Verdict, String>;

    /// Takes note of how an admitted call ended. Where its future was dropped or panicked, this one is polled once.
    async fn ended(&self, _admitted: Admitted, _outcome: CallOutcome) {}

    /// Takes note that a listener of the stage panicked with this message. By default it is logged.
    fn listener_failed(&self, listener: &str, message: &str) {
        tracing::error!(listener, message, "a listener of the tool lock panicked; the call is denied all the same");
    }
}
