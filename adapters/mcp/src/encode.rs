//! Answers to a client, as JSON text.

use phasegate_core::values::canonical::Sorted;
use phasegate_core::{Code, Decision};
use serde_json::{Value, json};

use crate::message::Malformed;
use crate::message::id::Id;

/// What is said of a call that goes on although something is wrong with it. No agent hears it: a client that only lists
/// and calls has no place for it.
pub(crate) fn warning(decision: &Decision) -> String {
    let code = decision.code.map(|code| format!(" [{code}]")).unwrap_or_default();
    format!("phasegate{code}: {} (the call was let through)", decision.reason)
}

/// The answer to a request: this result.
pub fn answered(id: &Id, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// The answer to a request: this error. Without an id where the request's could not be read.
pub fn failed(id: Option<&Id>, number: i64, text: &str, code: Option<Code>) -> String {
    let id = id.map_or_else(|| "null".to_owned(), Id::json);
    let mut error = json!({"code": number, "message": text});
    if let (Value::Object(fields), Some(code)) = (&mut error, code) {
        fields.insert("data".to_owned(), json!({"code": code}));
    }
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, Sorted(&error))
}

/// The answer to bytes that are no message.
pub fn malformed(malformed: &Malformed) -> String {
    failed(malformed.id.as_ref(), malformed.fault.number(), &malformed.text, Some(Code::BadInput))
}
