//! What a server says of its tools, as digests: state and journal keep no descriptions.

use phasegate_core::EventKind;
use phasegate_core::values::canonical::Sorted;
use serde_json::{Value, json};

use phasegate_store::digest::sha256_hex;

/// The parts of a tool's description that a model or a rule uses.
const PARTS: [&str; 5] = ["description", "inputSchema", "outputSchema", "annotations", "title"];

/// Turns the tools of a `tools` event into their names and digests. Digests stay as they are.
pub(super) fn shorten(kind: &mut EventKind) {
    let EventKind::Tools { tools, .. } = kind else { return };
    for tool in tools {
        let name = tool.get("name").cloned().unwrap_or_default();
        let whole = |fields: &serde_json::Map<String, Value>| fields.keys().any(|key| key != "name" && key != "sha256");
        if tool.as_object().is_none_or(|fields| whole(fields) || !fields.contains_key("sha256")) {
            *tool = json!({"name": name, "sha256": digest(tool)});
        }
    }
}

/// The digest of a tool's description, whatever the order of its keys.
fn digest(tool: &Value) -> String {
    let parts: Value = PARTS.iter().map(|part| tool.get(*part).cloned().unwrap_or_default()).collect();
    sha256_hex(Sorted(&parts).to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortened(tools: Value) -> Vec<Value> {
        let mut kind = EventKind::Tools { server: "s".into(), tools: tools.as_array().unwrap().clone() };
        shorten(&mut kind);
        shorten(&mut kind);
        let EventKind::Tools { tools, .. } = kind else { unreachable!("it was one") };
        tools
    }

    #[test]
    fn a_tools_digest_follows_what_models_and_rules_go_by() {
        let tools = shortened(json!([
            {"name": "a", "description": "x", "inputSchema": {"type": "object", "required": []}},
            {"inputSchema": {"required": [], "type": "object"}, "description": "x", "name": "a", "_meta": {"n": 1}},
            {"name": "a", "description": "x", "inputSchema": {"type": "object", "required": []}, "sha256": "0"},
            {"name": "a", "description": "y", "inputSchema": {"type": "object", "required": []}},
            {"name": "a", "description": "x", "inputSchema": {"type": "object", "required": []},
             "annotations": {"readOnlyHint": true}},
            {"name": "b"},
        ]));
        let digests: Vec<&str> = tools.iter().map(|tool| tool["sha256"].as_str().unwrap()).collect();
        assert!(tools.iter().all(|tool| tool.as_object().unwrap().len() == 2), "{tools:?}");
        assert_eq!((digests[0], digests[0]), (digests[1], digests[2]));
        assert_eq!(digests.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
    }
}
