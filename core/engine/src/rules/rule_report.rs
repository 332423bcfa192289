//! What the rules say of a call, rule by rule, for a person who asks why.

use alloc::collections::BTreeMap;

use phasegate_rules::{Held, Request, Truth, Value};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use crate::decide::judge::Caller;
use crate::decide::run_verdict::verdicts;
use crate::events::call::agent_kind;
use crate::events::event::Event;
use crate::evidence::eval::World;
use crate::evidence::fact::Facts;
use crate::gates::gate::Context;
use crate::gates::permitting::Asked;
use crate::policy::Policy;
use crate::prelude::*;
use crate::rules::earlier_calls::EarlierCalls;
use crate::rules::rule_request::{OfState, RuleCall};
use crate::state::State;

/// What the rules say of a call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RulesTold {
    /// What rules see of the call, beside its parts: `principal`, `action`, `resource` and `context`. A value that is not
    /// known is `{"unknown": true}`, one that is a text or another `{"maybe": TEXT}`,
    /// one of several texts or another `{"among": [TEXT, TEXT]}`, one of which a part is known `{"pieces": [TEXT, null]}`.
    pub call: Json,
    /// The parts of the call: `command` and `path` of `context`.
    pub parts: Vec<Json>,
    /// Each rule that is about the action, for each part, level by level.
    pub rules: Vec<RuleTold>,
}

/// What a rule says of a part of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleTold {
    /// The name of the rule.
    pub rule: String,
    /// `permit`, `warn`, `ask` or `deny`.
    pub effect: String,
    /// The part, from 0.
    pub part: usize,
    /// Whether the rule is about it.
    pub truth: Truth,
}

/// What the rules say of a call that would be made now. `None`: the event is no call.
pub fn rules_told(policy: &Policy, state: &State, event: &Event, facts: &Facts) -> Option<RulesTold> {
    let call = event.call()?;
    let (kind, mut world) = (agent_kind(state, event), World::new(facts));
    let caller = Caller { agent: event.subagent(), kind: &kind };
    let verdicts = verdicts(&mut world, policy, state, &call, caller);
    let asked = Asked { time: event.time, stated: event.stated.as_deref() };
    let context = Context { policy, state, event, call: &call, caller, asked, is_own: false, verdicts: &verdicts };
    let of_state = OfState::of(&mut world, &context);
    let none = BTreeMap::new();
    let mut told: Option<RulesTold> = None;
    let earlier = EarlierCalls::new(policy, state, event, &call, caller);
    for level in policy.rules.iter().flat_map(|rules| &rules.levels) {
        let own = RuleCall::new(&level.tools, &call, event, caller);
        let request = Request { facts: Some(&earlier), ..own.request(&of_state) };
        let told = told.get_or_insert_with(|| seen(&request));
        told.rules.extend(level.rules.held(&request).iter().map(rule_told));
    }
    Some(told.unwrap_or_else(|| seen(&RuleCall::new(&none, &call, event, caller).request(&of_state))))
}

fn rule_told(held: &Held<'_>) -> RuleTold {
    let effect = held.rule.forbids.map_or("permit", phasegate_rules::Effect::word);
    RuleTold { rule: held.rule.id.clone(), effect: effect.to_string(), part: held.part, truth: held.truth }
}

fn seen(request: &Request<'_>) -> RulesTold {
    let (principal, action) = (&request.principal, &request.action);
    let mut context: Map<String, Json> =
        request.context.iter().map(|(name, value)| ((*name).to_string(), json_of(value))).collect();
    context.insert("input".to_string(), json_of(&request.input));
    let call = json!({
        "principal": {
            "id": principal.id, "main": principal.main, "kind": json_of(&principal.kind), "session": principal.session,
            "user": principal.user,
        },
        "action": action.id,
        "resource": {"name": action.name, "server": action.server, "names": action.names, "labels": action.labels},
        "context": context,
    });
    let part = |value: &Option<Value<'_>>| value.as_ref().map(json_of);
    let parts = request.parts.iter().map(|one| json!({"command": part(&one.command), "path": part(&one.path)}));
    RulesTold { call, parts: parts.collect(), rules: Vec::new() }
}

fn json_of(value: &Value<'_>) -> Json {
    match value {
        Value::Bool(flag) => json!(flag),
        Value::Long(number) => json!(number),
        Value::Text(text) => json!(text),
        Value::Maybe(text) => json!({"maybe": text}),
        Value::Among(texts) => json!({"among": texts.to_vec()}),
        Value::Shape(shape) => json!({"pieces": shape.pieces}),
        Value::Entity(entity) => json!({"type": entity.kind, "id": entity.id}),
        Value::Set(items) => items.iter().map(json_of).collect(),
        Value::Record(fields) => {
            Json::Object(fields.iter().map(|(name, value)| ((*name).to_string(), json_of(value))).collect())
        }
        Value::Unknown => json!({"unknown": true}),
    }
}
