//! Settling: what follows from where the runs stand, with nothing more said.

use crate::evidence::eval::World;
use crate::policy::Policy;
use crate::prelude::*;
use crate::runs::children;
use crate::runs::moves;
use crate::runs::tree;
use crate::runs::waves;
use crate::state::Status;
use crate::state::draft::Draft;

/// The most rounds of one event in which runs end and others begin.
const MAX_ROUNDS: usize = 256;

/// Moves the runs that are left as soon as their phase is done, begins the runs that phases consist of, and passes their
/// ends on.
pub(crate) fn settle(world: &mut World<'_>, policy: &Policy, draft: &mut Draft) {
    for _ in 0..MAX_ROUNDS {
        round(world, policy, draft);
        let waves = waves::pass(world, policy, draft);
        if !children::begin_due(world, policy, draft) && !waves {
            break;
        }
    }
}

fn round(world: &mut World<'_>, policy: &Policy, draft: &mut Draft) {
    // No move of one run brings on or prevents that of another one.
    let moving = draft.state().live_runs().filter(|run| moves::settles(world, policy, run));
    let ids: Vec<String> = moving.map(|run| run.id.clone()).collect();
    for id in ids {
        let skill = draft.run(&id).and_then(|run| policy.skill_version(&run.skill, &run.version));
        if skill.is_some_and(|skill| moves::settle(world, draft, skill, &id)) {
            draft.announce(&id);
        }
    }
    tree::settle(draft, &mut |draft, id| {
        let active = draft.run(id).filter(|run| run.status == Status::Active);
        if let Some(skill) = active.and_then(|run| policy.skill_version(&run.skill, &run.version)) {
            moves::settle(world, draft, skill, id);
        }
    });
}
