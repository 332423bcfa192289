//! What the agent has to say, as written.

use phasegate_core::evidence::condition::{Condition, SaysTest};
use phasegate_core::policy::input::fault;
use phasegate_core::{Code, FactKey};
use serde_json::json;

use super::builder::{Builder, child};
use crate::read::node::Node;
use crate::read::report::Finding;
use crate::source::ConditionSource;

/// Builds the condition on the agent's words. Only the compat form takes an agent's word.
pub(super) fn condition(builder: &mut Builder<'_>, source: &ConditionSource, node: &Node, parts: &mut Vec<Condition>) {
    let Some(pattern) = &source.says else {
        if source.except.is_some() {
            let span = child(node, "except").span;
            let finding =
                Finding::error(Code::ConfigMissing, span, "`except` says something about `says`, which is missing");
            builder.findings.push(finding.suggest("add `says`, or remove `except`"));
        }
        return;
    };
    let span = child(node, "says").span;
    if !builder.lenient {
        let finding = Finding::error(Code::ConfigValue, span, "`says` takes the agent's word, which proves nothing");
        let finding = finding.cause("a message is what the agent claims; only the compat form takes it for evidence");
        return builder
            .findings
            .push(finding.suggest("ask for what the guard sees (`ok`, `tests`, `artifact`), or write `form: compat`"));
    }
    for (key, written) in [("says", Some(pattern)), ("except", source.except.as_ref())] {
        let Some(why) = written.and_then(|written| fault(written)) else { continue };
        let finding =
            Finding::error(Code::ConfigValue, child(node, key).span, format!("`{key}` is no regular expression"));
        return builder.findings.push(finding.cause(why).suggest("write one in the syntax of the crate `regex`"));
    }
    parts.push(Condition::Says(SaysTest {
        atom: builder.next_atom(),
        fact: FactKey::new("says", &json!([pattern, source.except])),
        text: pattern.clone(),
    }));
}
