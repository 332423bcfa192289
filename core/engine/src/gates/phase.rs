//! Phases: what the live runs say to a call (rules 3.2). The strictest run answers, of equally strict ones the first.

use serde_json::Value;

use crate::answers::decision::Effect;
use crate::answers::denial::{DecidingRun, Denial, DenialKind};
use crate::answers::remedy;
use crate::calls::analysis::Invocation;
use crate::commands::control;
use crate::decide::Line;
use crate::decide::branch_start::BranchStart;
use crate::decide::run_verdict::RunVerdict;
use crate::evidence::eval::World;
use crate::gates::gate::Context;
use crate::policy::input::Values;
use crate::policy::{DenialText, Mode, Skill};
use crate::prelude::*;
use crate::runs::inputs;
use crate::runs::standing_runs;
use crate::runs::start;
use crate::state::Run;

pub(super) fn judge(world: &mut World<'_>, context: &Context<'_>) -> Option<Denial> {
    let mut strictest: Option<&RunVerdict<'_>> = None;
    for verdict in context.verdicts.iter().filter(|verdict| verdict.broke.is_some()) {
        if strictest.is_none_or(|so_far| verdict.effect() > so_far.effect()) {
            strictest = Some(verdict);
        }
    }
    let violation = strictest.and_then(|verdict| remedy::violation(world, context, verdict));
    let without_policy = strictest_without_policy(context).into_iter().chain(without_inputs(world, context));
    let without_policy = without_policy.chain(unclear_start(world, context));
    let without_policy = without_policy.max_by_key(|denial| denial.effect);
    match (violation, without_policy) {
        (Some(violation), Some(gone)) if gone.effect > violation.effect || says_more(&gone, &violation) => Some(gone),
        (Some(violation), _) => Some(violation),
        (None, gone) => gone,
    }
}

/// Whether the first denial says why a subagent cannot be started now, of a start that is listed nowhere here.
fn says_more(unclear: &Denial, violation: &Denial) -> bool {
    let unlisted = violation.run.as_ref().is_some_and(|run| run.line == Some(Line::UnlistedDenied));
    unlisted && unclear.effect == violation.effect && matches!(unclear.kind, DenialKind::StartUnclear { .. })
}

/// A start of a subagent that may be about several runs.
fn unclear_start(world: &mut World<'_>, context: &Context<'_>) -> Option<Denial> {
    let Context { policy, state, call, caller, .. } = *context;
    let (part, kind) = BranchStart { policy, state, call, caller }.unclear(world)?;
    let run = DecidingRun {
        skill: part.skill.clone(),
        phase: Some(part.phase.clone()),
        line: None,
        began: false,
        compat: false,
    };
    let skill = policy.skill_version(&part.skill, &part.version);
    let blocked = skill.is_some_and(|skill| skill.denial_text == DenialText::Blocked);
    let attempted = match &call.analysis.invokes {
        Some(Invocation::Agent(name)) if blocked => Some(format!("{name} \u{2192} {}", part.phase)),
        _ => None,
    };
    let tool = call.tool.name.clone();
    Some(Denial { tool, run: Some(run), attempted, ..Denial::new(kind, Effect::of_violation(part.mode)) })
}

/// A skill that the call invokes and that cannot begin with what the call gives; or one that has to begin before it.
fn without_inputs(world: &mut World<'_>, context: &Context<'_>) -> Option<Denial> {
    let Context { policy, state, call, caller, .. } = *context;
    let Some(skill) = inputs::invoked(policy, call) else {
        let skill = start::unbegun(policy, state, call, caller)?;
        return Some(of_inputs(context, skill, inputs::refused(skill, &Values::new(), &Value::Null)));
    };
    let live = state.live_runs().find(|run| run.skill == skill.name).map(|run| (&run.id, &run.version));
    let live = live.filter(|(id, _)| !control::finished(world, policy, state, id));
    let values = live.and_then(|(_, version)| policy.skill_version(&skill.name, version)).map(Skill::values);
    let kind = inputs::hindered(skill, call, values.as_ref())?;
    Some(of_inputs(context, skill, kind))
}

fn of_inputs(context: &Context<'_>, skill: &Skill, kind: DenialKind) -> Denial {
    let effect = Effect::of_violation(skill.mode.unwrap_or(Mode::Warn));
    let run = DecidingRun { skill: skill.name.clone(), phase: None, line: None, began: false, compat: false };
    Denial { tool: context.call.tool.name.clone(), run: Some(run), ..Denial::new(kind, effect) }
}

/// The live runs whose policy is gone: nothing can be said for the call, so it is a violation.
fn strictest_without_policy(context: &Context<'_>) -> Option<Denial> {
    if context.is_own {
        return None;
    }
    let gone = |run: &&Run| context.policy.skill_version(&run.skill, &run.version).is_none();
    let mut strictest: Option<&Run> = None;
    for run in context.state.live_runs().filter(gone) {
        if strictest.is_none_or(|so_far| run.mode > so_far.mode) {
            strictest = Some(run);
        }
    }
    let denial = |skill: &String, kind, mode| {
        let deciding = DecidingRun { skill: skill.clone(), phase: None, line: None, began: false, compat: false };
        Denial { run: Some(deciding), ..Denial::new(kind, Effect::of_violation(mode)) }
    };
    let missing = standing_runs::missing(context.policy, context.state);
    let missing = missing.filter(|found| strictest.is_none_or(|run| found.mode > run.mode));
    missing
        .map(|found| denial(&found.skill, DenialKind::SkillMissing { skill: found.skill.clone() }, found.mode))
        .or_else(|| {
            strictest.map(|run| denial(&run.skill, DenialKind::PolicyGone { skill: run.skill.clone() }, run.mode))
        })
}
