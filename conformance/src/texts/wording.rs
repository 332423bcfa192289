//! What an agent reads: every text of a denial or warning is short, says nothing twice, and suggests what exists.

use phasegate_adapter::text;
use phasegate_core::Decision;
use serde_json::{Value, json};

use crate::trial::Mismatch;

/// The most characters of a text.
pub const MAX_CHARS: usize = 600;
/// The most characters of a denial of a phase: 300, and what names of files or a call that is denied again add.
const MAX_DENIAL_CHARS: usize = 350;
/// The same where it lists the steps of a plan, or gives what a person types, which is never cut.
const MAX_GIVEN_CHARS: usize = 480;
/// What stands before such steps, and in what a person types or writes.
const GIVEN: [&str; 4] = ["Open steps: ", "/phasegate ", "`phasegate ", "labels: [read]"];
/// How a denial of a phase begins.
const DENIALS: [&str; 4] = ["Not yet (", "Not now (", "Not in phase ", "No (skill "];
/// A part of a text that is repeated counts from this length, in characters.
const MIN_REPEATED_CHARS: usize = 20;
/// What stands before the text of a file that describes a phase.
const PAGE: &str = "\n\nThe text of the phase:\n\n";
/// What stands between two texts of ours.
const NEXT: &str = "\n\nphasegate: ";
/// How a text of ours begins.
const HEADS: [&str; 12] = [
    "Phase violation: ",
    "Phase warning: ",
    "phasegate [",
    "phasegate: ",
    "phasegate let ",
    "Not yet (",
    "Not now (",
    "Not in phase ",
    "No (skill ",
    "Do not end the turn yet (",
    "BLOCKED: ",
    "WARNING: ",
];

/// Checks the text that a line of a transcript leads to.
#[must_use]
pub fn of_output(place: &str, tool: &Value, output: &Value) -> Vec<Mismatch> {
    match decided(tool, output) {
        None => Vec::new(),
        Some(Ok(decision)) => of_text(place, &text::denial(&decision)),
        Some(Err(error)) => vec![Mismatch::broken(place, error)],
    }
}

/// The decision of a line of a transcript about a tool; `None`: the call is allowed.
pub(crate) fn decided(tool: &Value, output: &Value) -> Option<serde_json::Result<Decision>> {
    let effect = output.get("decision").and_then(Value::as_str).unwrap_or("allow");
    let fields = output.as_object().filter(|_| effect != "allow")?;
    let keys = ["code", "line", "gate", "reason", "attempted", "compat", "recovery", "missing", "skill", "phase"];
    let known = fields.iter().filter(|(key, value)| keys.contains(&key.as_str()) && !value.is_null());
    let mut decision: serde_json::Map<String, Value> = known.map(|(key, value)| (key.clone(), value.clone())).collect();
    decision.insert("effect".into(), json!(effect));
    decision.insert("tool".into(), json!(tool.as_str().unwrap_or_default()));
    Some(serde_json::from_value(Value::Object(decision)))
}

/// Checks the texts of ours in a reply to a client.
#[must_use]
pub fn of_reply(place: &str, reply: &str) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    for line in reply.lines() {
        if let Ok(value) = serde_json::from_str::<Value>(line) {
            each_text(&value, &mut |text| mismatches.extend(of_text(place, text)));
        }
    }
    mismatches
}

/// Whether a text is one of ours, by how it begins.
pub(crate) fn is_ours(text: &str) -> bool {
    HEADS.iter().any(|head| text.starts_with(head))
}

/// Visits the texts of ours in a value, in the order in which they stand.
pub(crate) fn each_text(value: &Value, visit: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) if is_ours(text) => visit(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, visit)),
        Value::Object(fields) => fields.values().for_each(|field| each_text(field, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Checks a text. The page of a phase is the author's; what stands beside it are texts of their own.
fn of_text(place: &str, text: &str) -> Vec<Mismatch> {
    let Some((before, page)) = text.split_once(PAGE) else { return of_ours(place, text) };
    let after = page.split_once(NEXT).map(|(_, after)| after).unwrap_or_default();
    let ours = before.split(NEXT).flat_map(|text| of_ours(place, text));
    ours.chain(of_text(place, after)).collect()
}

fn of_ours(place: &str, text: &str) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    // In the layout of the original the object at the end has the sentences once more.
    let original = text.starts_with("Phase violation: ") || text.starts_with("Phase warning: ");
    let text = text.split_once("\n\n{").filter(|_| original).map_or(text, |(sentences, _)| sentences);
    let denial = DENIALS.iter().any(|head| text.starts_with(head));
    let said = text.split_once("\n\n").filter(|_| denial).map_or(text, |(denial, _)| denial);
    let most = match denial {
        true if GIVEN.iter().any(|given| said.contains(given)) => MAX_GIVEN_CHARS,
        true => MAX_DENIAL_CHARS,
        false => MAX_CHARS,
    };
    let count = said.chars().count();
    if count > most {
        mismatches.push(Mismatch::new(place, "wording.length", json!(most), json!(format!("{count}: {said}"))));
    }
    for wrong in ["{file}", "Allowed tools: []"].into_iter().filter(|wrong| text.contains(wrong)) {
        mismatches.push(Mismatch::new(place, "wording.contains", Value::Null, json!(format!("{wrong}: {text}"))));
    }
    let parts = text.split(". ").flat_map(str::lines).map(|part| part.trim().trim_end_matches('.'));
    for part in parts.filter(|part| part.chars().count() >= MIN_REPEATED_CHARS) {
        let escaped = part.replace('\\', "\\\\").replace('"', "\\\"");
        if text.matches(part).count() > 1 || (escaped != part && text.contains(&escaped)) {
            mismatches.push(Mismatch::new(place, "wording.twice", Value::Null, json!(format!("{part}: {text}"))));
            break;
        }
    }
    if text.contains("would be allowed now") && (text.contains("Allowed ")) {
        mismatches.push(Mismatch::new(place, "wording.stuck", Value::Null, json!(text)));
    }
    mismatches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_long_or_says_a_thing_twice_is_found() {
        let fields = |text: &str| {
            let reply = json!({"deny": format!("Phase violation: {text}")}).to_string();
            of_reply("here", &reply).into_iter().map(|mismatch| mismatch.field).collect::<Vec<_>>()
        };
        let sentence = "Edit is forbidden in the \"look\" phase";
        assert_eq!(fields(sentence), Vec::<String>::new());
        assert_eq!(fields(&format!("{sentence}\n\n{}", json!({"phase": "look"}))), Vec::<String>::new());
        assert_eq!(fields(&format!("{sentence}\n\n{}", json!({"reason": sentence}))), Vec::<String>::new());
        assert_eq!(fields(&format!("a\n\n{sentence}. {sentence}.")), ["wording.twice"]);
        assert_eq!(fields(&"x".repeat(MAX_CHARS)), ["wording.length"]);
        let page = format!("a{PAGE}{}{NEXT}b", "y".repeat(MAX_CHARS));
        assert_eq!(fields(&page), Vec::<String>::new());
        assert_eq!(fields(&page.replace("a\n", &"x".repeat(MAX_CHARS))), ["wording.length"]);
        let denial = |count: usize| {
            let reply = json!({"deny": format!("Not yet (skill s): {}", "x".repeat(count))}).to_string();
            of_reply("here", &reply).len()
        };
        assert_eq!((denial(200), denial(MAX_DENIAL_CHARS)), (0, 1));
        assert_eq!(fields("call {\"file_path\":\"{file}\"}"), ["wording.contains"]);
        assert_eq!(fields("No call would be allowed now. Allowed tools: [a]"), ["wording.stuck"]);
    }
}
