//! The answer to a call that was not forwarded: the original's text, and the same as an object.
//!
//! This is the only place that formats a denial; the relay, the adapter and in-process guards use it.

#[cfg(feature = "guarded")]
use phasegate_adapter::guarded::Denial;
use phasegate_adapter::{Problem, text};
use phasegate_core::Decision;
use phasegate_core::values::canonical::Sorted;
use serde_json::{Value, json};

use crate::message::object::{Object, replaced};

/// The key in `_meta` under which the object stands where `structuredContent` is not free for it.
pub const META: &str = "dev.phasegate/denial";

/// A denial in both forms.
#[derive(Clone, Debug, PartialEq)]
pub struct Denied {
    /// The text that the agent reads.
    pub text: String,
    /// The same as an object, with the original's keys.
    pub structured: Value,
}

/// What the result of a call must look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// The revision of the request is 2026-07-28 or later: a result says that it is complete.
    pub modern: bool,
    /// The tool declares a form for `structuredContent`. A client may check what it gets against it, also in an error.
    pub declared: bool,
}

/// The denial of a decision, or of a question that no person can answer here.
pub fn denial(decision: &Decision) -> Denied {
    Denied { text: text::denial(decision), structured: text::structured(decision) }
}

/// Why a call does not run, as the agent reads it. `tool` is the name by which the client called it.
#[cfg(feature = "guarded")]
pub fn of(why: &Denial, tool: &str) -> Denied {
    match why {
        Denial::Decision(decision) => denial(decision),
        Denial::Problem(fault) => problem(tool, fault),
    }
}

/// The key in `_meta` under which a warning stands where an answer has no list of content to add it to.
pub const WARNING: &str = "dev.phasegate/warning";

/// The warning about a call that runs although it breaks a rule.
pub fn warning(decision: &Decision) -> String {
    text::warning(decision)
}

/// The result of a call with a warning in it, beside what the server answered; the rest stays the same bytes.
pub fn warned(result: &[u8], warning: &str) -> Option<Vec<u8>> {
    let read = Object::read(result).ok()?;
    let block = Sorted(&json!({"type": "text", "text": warning})).to_string();
    if let Some(list) = read.get("content").and_then(|list| list.strip_suffix(']')) {
        let comma = if list.trim_end().ends_with('[') { "" } else { "," };
        return replaced(result, "content", &format!("{list}{comma}{block}]"));
    }
    let meta = read.get("_meta").unwrap_or("{}");
    let meta = replaced(meta.as_bytes(), WARNING, &Value::from(warning).to_string())?;
    replaced(result, "_meta", std::str::from_utf8(&meta).ok()?)
}

/// The denial of a call that could not be decided.
pub fn problem(tool: &str, problem: &Problem) -> Denied {
    let structured = json!({
        "code": problem.code,
        "current_phase": "",
        "error": problem.code.id(),
        "reason": problem.message,
        "recovery": problem.remedy(),
        "skill": "",
        "tool": tool,
    });
    Denied { text: problem.text(), structured }
}

impl Denied {
    /// The result of the call, as JSON text.
    pub fn result(&self, form: Form) -> String {
        let mut result = json!({"content": [{"type": "text", "text": self.text}], "isError": true});
        if let Value::Object(fields) = &mut result {
            let (key, value) = if form.declared {
                ("_meta", json!({META: self.structured}))
            } else {
                ("structuredContent", self.structured.clone())
            };
            fields.insert(key.to_owned(), value);
            if form.modern {
                fields.insert("resultType".to_owned(), Value::from("complete"));
            }
        }
        Sorted(&result).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::warned;

    #[test]
    fn a_warning_is_added_and_the_rest_stays() {
        let block = r#"{"text":"w","type":"text"}"#;
        for (result, expected) in [
            (r#"{"content" : [ ],"x":1.0}"#, format!(r#"{{"content" : [ {block}],"x":1.0}}"#)),
            (r#"{"content":[{"a":1} ]}"#, format!(r#"{{"content":[{{"a":1}} ,{block}]}}"#)),
            (r#"{"task":{}}"#, r#"{"task":{},"_meta":{"dev.phasegate/warning":"w"}}"#.to_owned()),
            (
                r#"{"content":7,"_meta":{"k":1}}"#,
                r#"{"content":7,"_meta":{"k":1,"dev.phasegate/warning":"w"}}"#.to_owned(),
            ),
        ] {
            assert_eq!(String::from_utf8(warned(result.as_bytes(), "w").unwrap()).unwrap(), expected);
        }
        assert_eq!(warned(b"[]", "w"), None);
    }
}
