//! An invocation as it is read.

use serde_json::{Map, Value};

use crate::call::Call;
use crate::strict;

/// The interceptor's name.
pub const NAME: &str = "phasegate";
/// The one event that is validated.
pub(super) const EVENT: &str = "tools/call";

/// An error of the protocol: its number and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The number, as JSON-RPC has it.
    pub number: i64,
    /// What is wrong.
    pub text: String,
}

/// When the interceptor is invoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Before the call is forwarded.
    Request,
    /// When it was answered.
    Response,
}

impl Phase {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
        }
    }
}

/// An invocation of this interceptor.
#[derive(Debug)]
pub(super) struct Invocation {
    pub(super) phase: Phase,
    /// The parameters of the call, or its result.
    pub(super) payload: Value,
    /// The server of the tool, as the interceptor's configuration says.
    pub(super) server: Option<String>,
    /// The session that the invoker names.
    pub(super) session: Option<String>,
    /// What the invoker calls the operation, in both phases.
    pub(super) trace: Option<String>,
}

impl Invocation {
    /// Reads the parameters of `interceptor/invoke`.
    pub(super) fn read(params: &[u8]) -> Result<Self, Refused> {
        let invalid = |text: String| Refused { number: -32602, text };
        let text = std::str::from_utf8(params).map_err(|_| invalid("`params` is not UTF-8".into()))?;
        let params = strict::read(text).map_err(|error| invalid(format!("`params`: {error}")))?;
        let word = |name: &str| params.get(name).and_then(Value::as_str);
        match word("name") {
            Some(NAME) => {}
            other => return Err(invalid(format!("there is no interceptor `{}`", other.unwrap_or_default()))),
        }
        if word("event") != Some(EVENT) {
            let event = word("event").unwrap_or_default();
            return Err(invalid(format!("`{NAME}` validates `{EVENT}`, and not `{event}`")));
        }
        let phase = match word("phase") {
            Some("request") => Phase::Request,
            Some("response") => Phase::Response,
            _ => return Err(invalid("`phase` is neither `request` nor `response`".into())),
        };
        let inside = |name: &str, key: &str| {
            let text = params.get(name)?.get(key)?.as_str()?;
            Some(text.to_owned()).filter(|text| !text.is_empty())
        };
        let (trace, span) = (inside("context", "traceId"), inside("context", "spanId"));
        Ok(Self {
            phase,
            payload: params.get("payload").cloned().unwrap_or_default(),
            server: inside("config", "server"),
            session: inside("context", "sessionId"),
            trace: trace.map(|trace| format!("{trace}/{}", span.unwrap_or_default())),
        })
    }

    /// The call in the payload: the request's parameters, or, in earlier texts of the draft, the whole request.
    pub(super) fn call(&self) -> Result<Call, String> {
        let params = match self.payload.get("method") {
            Some(method) if method == EVENT => self.payload.get("params").unwrap_or(&Value::Null),
            Some(method) => return Err(format!("the payload is a request of {method}")),
            None => &self.payload,
        };
        let name = params.get("name").and_then(Value::as_str).ok_or("the payload names no tool")?;
        let input = match params.get("arguments") {
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(object @ Value::Object(_)) => object.clone(),
            Some(_) => return Err("the arguments in the payload are not an object".into()),
        };
        Ok(Call { name: name.to_owned(), input, host_ids: Vec::new(), modern: false })
    }
}
