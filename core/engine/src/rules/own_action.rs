//! What an agent does with the guard itself, as rules see it (rules 4.9): it begins and leaves skills, enters phases by its
//! calls, registers what commands do, and ends its turn.

use serde_json::{Value, json};

use crate::answers::decision::Effect;
use crate::answers::denial::{Denial, DenialKind};
use crate::calls::analysis::{CallAnalysis, Invocation};
use crate::calls::tool::{Call, SKILL, Tool};
use crate::commands::managing::meant_root;
use crate::commands::registering::meant_program;
use crate::commands::target::target;
use crate::decide::judge::Caller;
use crate::events::event::{Event, EventKind};
use crate::evidence::eval::World;
use crate::gates::gate::Context;
use crate::gates::permitting::Asked;
use crate::policy::Policy;
use crate::prelude::*;
use crate::rules::objection::Ruled;
use crate::rules::objections::strictest;
use crate::rules::rule_request::OfState;
use crate::shell::safety::REGISTER;
use crate::state::State;
use crate::state::change::Change;
use crate::state::pins::{MANAGE, OWN_SERVER};

/// The name of the end of a turn.
const STOP: &str = "stop";

/// An action as a call of a tool of the guard's own server.
fn action(name: &str, input: Value) -> Call {
    let labels = [phasegate_rules::GUARD.to_string()].into();
    let tool = Tool { name: name.to_string(), server: Some(OWN_SERVER.to_string()), labels, native: None };
    Call { id: None, tool, input, analysis: CallAnalysis::default(), background: false }
}

/// Whether rules may be about an action of this name.
fn asked_for(policy: &Policy, name: &str) -> bool {
    let id = [OWN_SERVER, "/", name].concat();
    policy.rules.iter().flat_map(|rules| &rules.levels).any(|level| level.rules.is_about(&id))
}

/// The strictest that the rules say against what a call does beside itself: the phases that it enters, and the skill that
/// it invokes.
pub(crate) fn of_call(world: &mut World<'_>, context: &Context<'_>, state: &OfState) -> Option<Ruled> {
    let mut actions = Vec::new();
    if asked_for(context.policy, "enter_phase") {
        for verdict in context.verdicts.iter().filter(|verdict| verdict.judges) {
            let Some(run) = context.state.run(&verdict.run) else { continue };
            if let Some(Change::PhaseEntered { phase, .. } | Change::PhaseBack { phase, .. }) =
                verdict.moved(world, run)
            {
                actions
                    .push(action("enter_phase", json!({"skill_name": run.skill, "phase": phase, "from": run.phase})));
            }
        }
    }
    // As the platform takes the name, whose spelling may differ.
    let invoked = match &context.call.analysis.invokes {
        Some(Invocation::Skill(name)) => Some(name.as_str()),
        _ => context.call.input.get("skill").and_then(Value::as_str).filter(|_| context.call.tool.name == SKILL),
    };
    if let Some(skill) = invoked.and_then(|name| context.policy.invoked(name)) {
        actions.push(action("activate_skill", json!({"skill_name": skill.name})));
    }
    let said = actions.iter().filter_map(|call| strictest(&Context { call, ..*context }, state, None));
    said.reduce(|one, other| if other.effect > one.effect { other } else { one })
}

/// What the rules say against a command of an agent to the guard. Nobody is asked about one: a rule that asks denies it.
pub(crate) fn of_command(world: &mut World<'_>, policy: &Policy, state: &State, event: &Event) -> Option<DenialKind> {
    let EventKind::Command { name, args, .. } = &event.kind else { return None };
    let text = |key: &str| args.get(key).and_then(Value::as_str);
    let given = |keys: &[&str]| {
        let fields = keys.iter().filter_map(|key| Some(((*key).to_string(), Value::from(text(key)?))));
        Value::Object(fields.collect())
    };
    let call = match name.as_str() {
        "activate_skill" => action(name, given(&["skill_name", "mode"])),
        // Whoever names no skill means one all the same.
        "deactivate_skill" => left(text("skill_name").or_else(|| Some(target(state, None)?.skill.as_str()))),
        MANAGE if text("action") == Some("complete") => {
            left(text("skill_name").or_else(|| Some(meant_root(state, None)?.skill.as_str())))
        }
        REGISTER => {
            let mut input = given(&["tool", "default"]);
            if let (Value::Object(fields), Some(tool)) = (&mut input, text("tool")) {
                fields.insert("tool".to_string(), Value::from(meant_program(tool)));
            }
            action(name, input)
        }
        _ => return None,
    };
    let ruled = ruled(world, policy, state, event, &call)?;
    (ruled.effect > Effect::Warn).then(|| DenialKind::Rule(ruled.into()))
}

/// That a skill is left.
fn left(skill: Option<&str>) -> Call {
    action("deactivate_skill", skill.map_or_else(|| json!({}), |skill| json!({"skill_name": skill})))
}

/// What the rules say against the end of the main agent's turn.
pub(crate) fn of_stop(world: &mut World<'_>, policy: &Policy, state: &State, event: &Event) -> Option<Denial> {
    let call = action(STOP, json!({}));
    let ruled = ruled(world, policy, state, event, &call)?;
    let effect = ruled.effect;
    Some(Denial { tool: STOP.to_string(), ..Denial::new(DenialKind::Rule(ruled.into()), effect) })
}

fn ruled(world: &mut World<'_>, policy: &Policy, state: &State, event: &Event, call: &Call) -> Option<Ruled> {
    if !asked_for(policy, &call.tool.name) {
        return None;
    }
    let asked = Asked { time: event.time, stated: event.stated.as_deref() };
    let caller = Caller { agent: event.subagent(), kind: "" };
    let context = Context { policy, state, event, call, caller, asked, is_own: true, verdicts: &[] };
    let of_state = OfState::of(world, &context);
    strictest(&context, &of_state, None)
}
