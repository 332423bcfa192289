//! What clients have in common whose plugin speaks with a bridge: the form of what the guard says.

use serde_json::Value;

use super::frame::{Frame, Reply};
use super::played::Said;

/// What the guard said in a reply of the bridge.
pub(super) fn said(frame: &Frame) -> Said {
    let reply: Value = serde_json::from_str(&frame.reply.stdout).unwrap_or_default();
    let text = |key: &str| reply.get(key).and_then(Value::as_str).map(str::to_string);
    match (text("deny"), text("ask")) {
        (Some(_), Some(question)) => Said::Ask(question),
        (Some(reason), None) => Said::Stop(reason),
        (None, _) => Said::Go(text("context").unwrap_or_default()),
    }
}

/// The reply of a bridge as a hook with the same frame gives it.
pub(super) fn as_hook(reply: &str) -> Reply {
    let parsed: Value = serde_json::from_str(reply).unwrap_or_default();
    let denied = parsed.get("deny").is_some();
    let stdout = if parsed.is_null() { String::new() } else { format!("{reply}\n") };
    Reply { stdout, stderr: String::new(), status: Some(if denied { 2 } else { 0 }) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_form_of_a_reply_is_understood() {
        let told = |reply: &str| {
            let frame = Frame {
                args: Vec::new(),
                environment: BTreeMap::new(),
                files: BTreeMap::new(),
                record: Vec::new(),
                input: String::new(),
                reply: as_hook(reply),
            };
            (said(&frame), frame.reply.status)
        };
        assert_eq!(told("null"), (Said::Go(String::new()), Some(0)));
        assert_eq!(told(r#"{"context":"c"}"#), (Said::Go("c".into()), Some(0)));
        assert_eq!(told(r#"{"deny":"no"}"#), (Said::Stop("no".into()), Some(2)));
        assert_eq!(told(r#"{"ask":"may it?","deny":"no"}"#), (Said::Ask("may it?".into()), Some(2)));
    }
}
