//! Phases: what the live runs say to a call (rules 3.2). The strictest run answers, of equally strict ones the first.

use alloc::string::String;

use crate::decision::Effect;
use crate::denial::{DecidingRun, Denial, DenialKind};
use crate::eval::World;
use crate::gate::Context;
use crate::in_force;
use crate::remedy;
use crate::run_verdict::RunVerdict;
use crate::state::Run;

pub(super) fn judge(world: &mut World<'_>, context: &Context<'_>) -> Option<Denial> {
    let mut strictest: Option<&RunVerdict<'_>> = None;
    for verdict in context.verdicts.iter().filter(|verdict| verdict.broke.is_some()) {
        if strictest.is_none_or(|so_far| verdict.mode > so_far.mode) {
            strictest = Some(verdict);
        }
    }
    let violation = strictest.and_then(|verdict| remedy::violation(world, context, verdict));
    let without_policy = strictest_without_policy(context);
    match (violation, without_policy) {
        (Some(violation), Some(gone)) if gone.effect > violation.effect => Some(gone),
        (Some(violation), _) => Some(violation),
        (None, gone) => gone,
    }
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
        let deciding = DecidingRun { skill: skill.clone(), phase: None, line: None, began: false };
        Denial { run: Some(deciding), ..Denial::new(kind, Effect::of_violation(mode)) }
    };
    let missing = in_force::missing(context.policy, context.state);
    let missing = missing.filter(|found| strictest.is_none_or(|run| found.mode > run.mode));
    missing
        .map(|found| denial(&found.skill, DenialKind::SkillMissing { skill: found.skill.clone() }, found.mode))
        .or_else(|| {
            strictest.map(|run| denial(&run.skill, DenialKind::PolicyGone { skill: run.skill.clone() }, run.mode))
        })
}
