//! Rollback edges of a run's current phase: whether one is open, and how often it was taken.

use crate::evidence::eval::World;
use crate::policy::{Back, Skill};
use crate::state::Run;

/// Whether a rollback edge of the current phase is below its limit and its condition holds.
pub(crate) fn may_go_back(world: &mut World<'_>, skill: &Skill, run: &Run, back: &Back) -> bool {
    times_back(skill, run, back) < back.limit && world.holds(back.when.as_ref(), run)
}

/// Whether the condition of a rollback edge of the current phase holds, and its limit is spent.
pub(crate) fn is_spent(world: &mut World<'_>, skill: &Skill, run: &Run, back: &Back) -> bool {
    times_back(skill, run, back) >= back.limit && world.holds(back.when.as_ref(), run)
}

/// How often the run took a rollback edge of its current phase.
fn times_back(skill: &Skill, run: &Run, back: &Back) -> u32 {
    let to = skill.phases.get(back.to).map(|target| target.name.as_str()).unwrap_or_default();
    let times = run.backs.iter().find(|(from, target, _)| *from == run.phase && target == to);
    let all = times.map_or(0, |(_, _, times)| *times);
    let here = skill.phase_index(&run.phase).and_then(|here| skill.phases.get(here));
    let other = |one: &Back| one.to == back.to && one.on_failure != back.on_failure;
    if !here.is_some_and(|here| here.back.iter().any(other)) {
        return all;
    }
    // Failures and what an agent does by itself are counted apart where an edge is for each.
    let failed = run.failed_backs.iter().find(|one| one.from == run.phase && one.to == to).map_or(0, |one| one.times);
    if back.on_failure { failed } else { all.saturating_sub(failed) }
}
