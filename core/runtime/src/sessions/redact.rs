//! What a record does not repeat (rules 8.6): long texts, and arguments that the settings name, are replaced by their
//! digest and length. What matchers found in them stands beside it, so that the record can still be decided again.

use std::collections::BTreeSet;

use phasegate_core::state::redaction::redacted;
use phasegate_core::values::canonical::Sorted;
use phasegate_core::{Event, Policy};
use serde_json::{Value, json};

use phasegate_store::digest::sha256_hex;

/// The longest text that is kept as it is, in bytes.
const LONGEST: usize = 4 * 1024;
/// The largest value that is kept, in bytes of JSON.
const MAX_FRAME_BYTES: usize = 64 * 1024;
/// The fields of an event that hold what others wrote, besides the arguments of a call.
const FIELDS: [&str; 5] = ["output", "text", "prompt", "message", "content"];
/// The argument that holds a shell line.
const COMMAND: &str = "command";

/// An event as it goes into a record. `names` are the arguments and fields that are not kept.
pub fn shortened(event: &Event, policy: &Policy, names: &BTreeSet<String>) -> Value {
    let mut value = event.to_value();
    let parts = shorten_event(&mut value, names);
    if let (Some(call), false) = (event.call(), parts.is_empty())
        && let Some(fields) = value.as_object_mut()
    {
        let before = serde_json::to_value(redacted(policy, event, &call, &parts)).unwrap_or_default();
        let analysis = fields.entry("reading").or_insert_with(|| json!({}));
        if parts.iter().any(|part| part.is_empty() || part == COMMAND) {
            hide_words(analysis);
        }
        if let Some(analysis) = analysis.as_object_mut() {
            analysis.insert("shortened".to_string(), before);
        }
    }
    value
}

/// Whether a record of these arguments leaves some of them out, or may.
pub fn leaves_out(input: &Value, names: &BTreeSet<String>) -> bool {
    fn size(value: &Value, names: &BTreeSet<String>) -> usize {
        match value {
            Value::String(text) if text.len() > LONGEST => MAX_FRAME_BYTES,
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(|item| size(item, names)).sum(),
            Value::Object(fields) if fields.keys().any(|name| names.contains(name)) => MAX_FRAME_BYTES,
            Value::Object(fields) => fields.values().map(|value| size(value, names)).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        }
    }
    size(input, names) > MAX_FRAME_BYTES / 4
}

/// Shortens an event. The arguments of a call that are not kept, as names with dots between them.
pub fn shorten_event(event: &mut Value, names: &BTreeSet<String>) -> Vec<String> {
    let mut work = Work { names, parts: Vec::new() };
    let Value::Object(fields) = event else { return work.parts };
    for name in FIELDS {
        if let Some(value) = fields.get_mut(name) {
            // What is left out of these, no matcher reads.
            Work { names: &BTreeSet::new(), parts: Vec::new() }.whole(value, names.contains(name));
        }
    }
    if let Some(input) = fields.get_mut("input") {
        work.whole(input, false);
    }
    work.parts
}

struct Work<'a> {
    names: &'a BTreeSet<String>,
    parts: Vec<String>,
}

impl Work<'_> {
    fn whole(&mut self, value: &mut Value, named: bool) {
        self.shorten(value, "");
        if let Ok(text) = serde_json::to_string(value)
            && (named || text.len() > MAX_FRAME_BYTES)
        {
            self.leave_out(value, "");
        }
    }

    fn shorten(&mut self, value: &mut Value, path: &str) {
        match value {
            Value::String(text) if text.len() > LONGEST => self.leave_out(value, path),
            Value::Array(items) => items.iter_mut().for_each(|item| self.shorten(item, path)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    if self.names.contains(name) {
                        self.leave_out(value, &path);
                    } else {
                        self.shorten(value, &path);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn leave_out(&mut self, value: &mut Value, path: &str) {
        *value = match &*value {
            Value::String(text) => digest_of(text.as_bytes()),
            other => digest_of(Sorted(other).to_string().as_bytes()),
        };
        self.parts.push(path.to_string());
    }
}

/// Takes the words out of the reading of a shell line, and keeps what each command can do.
fn hide_words(analysis: &mut Value) {
    if let Some(fields) = analysis.as_object_mut() {
        fields.remove("in_part");
        fields.remove("may_run");
    }
    let commands = analysis.get_mut("commands").and_then(Value::as_array_mut);
    for command in commands.into_iter().flatten() {
        // The reason may name a word.
        if let Some(fields) = command.as_object_mut() {
            fields.remove("because");
            fields.remove("beside");
        }
        for list in ["words", "assignments", "redirections"] {
            for item in command.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                // A word, or what stands before one and the word.
                let word = match item {
                    Value::Array(pair) => pair.last_mut(),
                    word => Some(word),
                };
                if let Some(word) = word {
                    *word = json!("unknown");
                }
            }
        }
    }
}

/// The digest and length that stand for bytes that are not kept.
pub fn digest_of(bytes: &[u8]) -> Value {
    json!({"sha256": sha256_hex(bytes), "bytes": bytes.len()})
}

#[cfg(test)]
mod tests {
    use super::*;
    use phasegate_core::{Facts, State, step};

    fn none() -> BTreeSet<String> {
        BTreeSet::new()
    }

    #[test]
    fn long_texts_and_heaps_of_short_ones_become_digests() {
        let long = "x".repeat(LONGEST + 1);
        let many: Vec<_> = (0..20_000).map(|n| n.to_string()).collect();
        let mut event = json!({"event": "tool_call", "input": {"a": long, "b": "short", "c": {"d": [{"e": long}]}},
            "output": many});
        assert_eq!(shorten_event(&mut event, &none()), ["a", "c.d.e"]);
        assert_eq!(event["input"]["b"], "short");
        assert_eq!(event["input"]["a"], digest_of(long.as_bytes()));
        assert_eq!(event["input"]["c"]["d"][0]["e"], digest_of(long.as_bytes()));
        assert_eq!(event["output"]["bytes"], serde_json::to_string(&many).unwrap().len());
    }

    #[test]
    fn named_arguments_are_left_out_wherever_they_are_and_fields_by_their_own_name() {
        let names = ["content", "output"].map(str::to_string).into();
        let mut event = json!({"event": "tool_call", "output": "secret", "text": "told",
            "input": {"content": "secret", "edits": [{"content": 5}], "output": ["secret"]}});
        assert_eq!(shorten_event(&mut event, &names), ["content", "edits.content", "output"]);
        assert!(!event.to_string().contains("secret"));
        assert_eq!((&event["text"], &event["input"]["content"]), (&json!("told"), &digest_of(b"secret")));
    }

    /// A skill that asks of arguments what matchers can ask.
    const SKILL: &str = "skill: s\nmode: block\nphases:\n  one:\n    allowed:\n      - {tool: Write, args: {content: \
                         {begins: secret}}}\n      - {tool: Edit, args: {\"options.text\": {one_of: [secret, other]}}}\n      \
                         - {tool: Bash, command: \"make secret\"}\n      - {tool: Read}\n    forbidden:\n      - {tool: \
                         NotebookEdit, args: {source: secret}}\n  two:\n    allowed: [Grep]\n";

    fn policy() -> Policy {
        let file = phasegate_config::SourceFile {
            path: "s.yaml".into(),
            text: SKILL.into(),
            level: phasegate_config::Level::Project,
            kind: phasegate_config::Kind::Skill,
        };
        let compiled = phasegate_config::compile(&[file]);
        assert!(!compiled.has_errors(), "{:#?}", compiled.diagnostics);
        compiled.policy
    }

    #[test]
    fn a_record_is_decided_again_as_it_was_whatever_was_left_out_of_it() {
        let policy = policy();
        let begin = json!({"event": "skill", "name": "s", "by": "human"});
        let begun = step(&policy, &State::default(), &Event::from_value(begin).unwrap(), &Facts::new());
        let state = begun.state_after(&State::default());
        let long = format!("secret{}", "x".repeat(LONGEST));
        let (mut allowed, mut denied) = (0, 0);
        for (tool, input) in [
            ("Write", json!({"content": "secret text"})),
            ("Write", json!({"content": "another"})),
            ("Write", json!({"content": long})),
            ("Edit", json!({"options": {"text": "secret"}})),
            ("Edit", json!({"options": {"text": "public"}})),
            ("Bash", json!({"command": "make secret"})),
            ("Bash", json!({"command": "make it"})),
            ("Bash", json!({"command": format!("make secret {long}")})),
            ("NotebookEdit", json!({"source": "secret"})),
            ("NotebookEdit", json!({"source": "public"})),
            ("Read", json!({"content": long})),
        ] {
            let event = json!({"event": "tool_call", "tool": tool, "input": input});
            let event = Event::from_value(event).unwrap();
            let names = ["content", "text", "command", "source"].map(str::to_string).into();
            let record = shortened(&event, &policy, &names);
            assert!(!record["input"].to_string().contains("secret"), "{record}");
            let before = step(&policy, &state, &event, &Facts::new());
            let again = step(&policy, &state, &Event::from_value(record).unwrap(), &Facts::new());
            assert_eq!(again.decision, before.decision, "{tool} {input}");
            assert_eq!(again.changes, before.changes, "{tool} {input}");
            if before.decision.unwrap().lets_through() { allowed += 1 } else { denied += 1 }
        }
        assert!(allowed > 3 && denied > 3, "{allowed} {denied}");
    }
}
