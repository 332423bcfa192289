//! The loop breaker: a call that is denied again and again is answered with what else there is to do, and then ends the
//! turn (rules 3.2).

use serde_json::json;

use crate::answers::decision::Decision;
use crate::answers::rendering;
use crate::evidence::eval::World;
use crate::policy::Policy;
use crate::prelude::*;
use crate::runs::finish;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::redacted_tests::digest;
use crate::state::unfinished_calls::{DeniedCall, Lift};
use crate::state::{OpenCall, Run};

/// From this time on the same denial says what else there is to do.
const TOLD: u32 = 3;
/// From this time on the same denial ends the turn, on a platform that can end it.
const ENDS: u32 = 6;

/// A prompt came: nothing that was denied counts any more.
pub(crate) fn prompted(draft: &mut Draft) {
    if draft.state().session.denied.iter().any(|denied| denied.times > 0) {
        draft.change(Change::DenialsForgotten {});
    }
}

/// Counts a denied call, and changes its answer where it was given before. Only the main agent ends a turn.
pub(crate) fn count(
    world: &mut World<'_>,
    policy: &Policy,
    draft: &mut Draft,
    call: &OpenCall,
    lift: Option<Lift>,
    decision: &mut Decision,
) {
    // The compat form answers every time as the original does.
    let is_compat = |run: &Run| policy.skill_version(&run.skill, &run.version).is_some_and(|skill| skill.compat);
    let compat = draft.state().live_runs().any(is_compat);
    let same = json!([call.agent, call.tool, call.input, decision.code, decision.reason, decision.missing]);
    let digest = digest(&same);
    let known = draft.state().session.denied.iter().find(|denied| denied.digest == digest);
    let times = known.map_or(0, |denied| denied.times).saturating_add(1);
    draft.change(Change::CallDenied(DeniedCall {
        tool: call.tool.to_string(),
        digest,
        times,
        lift: lift.map(Box::new),
    }));
    if !compat && times >= TOLD {
        decision.ends_turn = times >= ENDS && call.agent.is_none();
        if decision.ends_turn {
            // Nobody is asked at the end of a turn that ends so.
            finish::left(world, policy, draft);
        }
        decision.recovery = rendering::repeated(decision, times);
    }
}
