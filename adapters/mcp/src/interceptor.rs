//! The guard as an interceptor: a validator of tool calls. A client, a gateway or a host asks it before it forwards a
//! call, and reports how the call ended.
//!
//! This is the draft of the interceptors extension (SEP-1763, continued as SEP-2624;
//! `io.modelcontextprotocol/interceptors`): `interceptors/list` and `interceptor/invoke`, for the event `tools/call` in
//! both phases. Only this module depends on the draft. `interceptor/executeChain` is a convenience for callers with
//! several interceptors, and is not offered.
//!
//! The invoker is trusted as a platform is: it says which session a call belongs to (`context.sessionId`), and what the
//! call returned. The invoker blocks calls, so every failure to decide is answered with `valid: false` and the severity
//! `error`.

mod payload;
mod sessions;

use phasegate_adapter::Problem;
use phasegate_adapter::guarded::{GuardedCalls, GuardedSession, Proposed, Ruling};
use phasegate_core::event::CallOutcome;
use phasegate_core::{Code, Decision, EventKind};
use serde_json::{Map, Value, json};

use crate::denial::{self, Denied};
use crate::events::{self, Named};
use crate::{outcome, own};
use payload::{EVENT, Invocation, Phase};
pub use payload::{NAME, Refused};
use sessions::Sessions;

/// The method that lists interceptors.
pub const LIST: &str = "interceptors/list";
/// The method that invokes one.
pub const INVOKE: &str = "interceptor/invoke";
/// The extension's name among a server's capabilities.
pub const EXTENSION: &str = "io.modelcontextprotocol/interceptors";
/// What an invoker does with the answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// An invalid call does not run.
    Enforce,
    /// Every call runs; what would have been blocked is recorded.
    Audit,
}

/// The validator of one connection.
#[derive(Debug)]
pub struct Interceptor {
    mode: Mode,
    sessions: Sessions,
}

impl Interceptor {
    /// A validator with no calls open.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        Self { mode, sessions: Sessions::default() }
    }

    /// What stands under [`EXTENSION`] among the capabilities.
    #[must_use]
    pub fn capability() -> Value {
        json!({"supportedEvents": [EVENT]})
    }

    /// The result of a request; `None` if its method is not one of the extension's. `connection` is the session of calls
    /// that name none.
    ///
    /// # Errors
    ///
    /// The request is not in the draft's form, or means another interceptor.
    pub async fn answer(
        &self,
        method: &str,
        params: &[u8],
        connection: &GuardedSession,
        calls: &GuardedCalls,
    ) -> Option<Result<Value, Refused>> {
        match method {
            LIST => Some(Ok(self.list(params))),
            INVOKE => Some(self.invoke(params, connection, calls).await),
            _ => None,
        }
    }

    /// Ends the sessions that invocations named.
    pub async fn end(&self, calls: &GuardedCalls) {
        self.sessions.end(calls).await;
    }

    fn list(&self, params: &[u8]) -> Value {
        let asked = serde_json::from_slice::<Value>(params).unwrap_or_default();
        let event = asked.get("event").and_then(Value::as_str);
        let fits = event.is_none_or(|event| event == EVENT || event == "*");
        json!({"interceptors": if fits { vec![self.described()] } else { Vec::new() }})
    }

    /// The descriptor. Earlier versions of the draft have `hook`, later ones `hooks`; a reader of one ignores the
    /// other.
    fn described(&self) -> Value {
        let hook = |phase: &str| json!({"events": [EVENT], "phase": phase});
        let mut described = json!({
            "name": NAME,
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Allows tool calls by the phase of the skill that the session is in",
            "type": "validation",
            "hook": hook("both"),
            "hooks": [hook("request"), hook("response")],
            "failOpen": false,
            "configSchema": {
                "type": "object",
                "properties": {
                    "server": {"type": "string", "description": "the name by which skills know the tool's server"}
                },
                "additionalProperties": false,
            },
        });
        if let (Mode::Audit, Some(fields)) = (self.mode, described.as_object_mut()) {
            fields.insert("mode".to_owned(), Value::from("audit"));
        }
        described
    }

    async fn invoke(&self, params: &[u8], connection: &GuardedSession, calls: &GuardedCalls) -> Result<Value, Refused> {
        let asked = Invocation::read(params)?;
        let session = self.sessions.named(connection, asked.session.as_deref());
        let validation = match asked.phase {
            Phase::Request => self.request(&asked, &session, calls).await,
            Phase::Response => self.response(&asked, &session, calls).await,
        };
        Ok(validation.result(asked.phase, self.mode))
    }

    async fn request(&self, asked: &Invocation, session: &GuardedSession, calls: &GuardedCalls) -> Validation {
        let call = match asked.call() {
            Ok(call) => call,
            Err(text) => return Validation::denied(denial::problem("", &Problem::new(Code::BadInput, text))),
        };
        // The guard's own tools change no more than their own commands do, and those are decided where they are given.
        if own::is_own(&call.name) {
            return Validation::valid();
        }
        let server = asked.server.as_deref().unwrap_or_default();
        let mut event = events::tool_call(
            &call.name,
            call.input,
            Named { id: calls.fresh_id(), server, tool: &call.name, labels: None },
        );
        if let (EventKind::ToolCall { server, .. }, None) = (&mut event, &asked.server) {
            *server = None;
        }
        match calls.decide(session, Proposed::from(event)).await.ruling {
            Ruling::Runs { call: open, warning } => {
                self.sessions.opened(&session.id, asked.trace.as_deref(), open);
                warning.map_or_else(Validation::valid, |decision| Validation::warned(&decision))
            }
            Ruling::Unguarded | Ruling::DecidedByHost => Validation::valid(),
            Ruling::Denied(why) => Validation::denied(denial::of(&why, &call.name)),
        }
    }

    /// A result is always valid: it has happened. It ends a call only where one alone can be meant; else it proves
    /// nothing.
    async fn response(&self, asked: &Invocation, session: &GuardedSession, calls: &GuardedCalls) -> Validation {
        let open = self.sessions.ended(&session.id, asked.trace.as_deref());
        let ending = match open.len() {
            1 => outcome::of_result(asked.payload.to_string().as_bytes()),
            _ => CallOutcome::Unknown.into(),
        };
        for call in open {
            // An outcome that cannot be recorded proves nothing.
            drop(calls.ended(call, ending.clone()).await);
        }
        Validation::valid()
    }
}

/// What an invocation is answered.
struct Validation {
    valid: bool,
    severity: Option<&'static str>,
    message: Option<String>,
    info: Option<Value>,
}

impl Validation {
    fn valid() -> Self {
        Self { valid: true, severity: None, message: None, info: None }
    }

    fn denied(denied: Denied) -> Self {
        Self { valid: false, severity: Some("error"), message: Some(denied.text), info: Some(denied.structured) }
    }

    fn warned(decision: &Decision) -> Self {
        let text = denial::warning(decision);
        let info = denial::denial(decision).structured;
        Self { valid: true, severity: Some("warn"), message: Some(text), info: Some(info) }
    }

    fn result(self, phase: Phase, mode: Mode) -> Value {
        let mut result = Map::new();
        let mut put = |key: &str, value: Value| drop(result.insert(key.to_owned(), value));
        put("interceptor", NAME.into());
        put("type", "validation".into());
        put("phase", phase.word().into());
        put("valid", self.valid.into());
        if let Some(severity) = self.severity {
            put("severity", severity.into());
            put("messages", json!([{"message": self.message.unwrap_or_default(), "severity": severity}]));
        }
        if let Some(info) = self.info {
            put("info", info);
        }
        if mode == Mode::Audit {
            put("mode", "audit".into());
        }
        Value::Object(result)
    }
}
