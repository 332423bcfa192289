//! What a request is refused with: an HTTP status, and an error in the form of JSON-RPC.

use hyper::StatusCode;
use phasegate_core::values::canonical::Sorted;
use serde_json::{Value, json};

use crate::message::Malformed;
use crate::message::id::Id;

/// Why a request goes no further.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::http) struct Refusal {
    /// The status of the answer.
    pub(in crate::http) status: StatusCode,
    /// The error's number in JSON-RPC or the protocol.
    pub(in crate::http) number: i64,
    /// What is wrong, as a fragment, and what helps.
    pub(in crate::http) text: String,
    /// What else the protocol wants said.
    pub(in crate::http) data: Option<Value>,
}

impl Refusal {
    pub(in crate::http) fn new(status: StatusCode, number: i64, text: impl Into<String>) -> Self {
        Self { status, number, text: text.into(), data: None }
    }

    /// A request that says different things in different places, or not what it must.
    pub(in crate::http) fn header_mismatch(text: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, -32020, text)
    }

    /// An unsupported revision, with those that can be spoken instead.
    pub(in crate::http) fn unsupported_version(requested: &str, supported: &[&str]) -> Self {
        Self {
            data: Some(json!({"supported": supported, "requested": requested})),
            ..Self::new(StatusCode::BAD_REQUEST, -32022, format!("the protocol version `{requested}` is not supported"))
        }
    }

    /// The body of the answer.
    pub(in crate::http) fn body(&self, id: Option<&Id>) -> Vec<u8> {
        let mut error = json!({"code": self.number, "message": self.text});
        if let (Some(error), Some(data)) = (error.as_object_mut(), &self.data) {
            error.insert("data".into(), data.clone());
        }
        // Without an id, revisions differ: `null` is JSON-RPC's own, and read by all of them.
        Sorted(&json!({"jsonrpc": "2.0", "id": id, "error": error})).to_string().into_bytes()
    }
}

impl From<&Malformed> for Refusal {
    fn from(malformed: &Malformed) -> Self {
        Self::new(StatusCode::BAD_REQUEST, malformed.fault.number(), malformed.text.clone())
    }
}
