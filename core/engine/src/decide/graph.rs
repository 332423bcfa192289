//! Transitions: which following phase allows a call, and whether the way to it is open.

use alloc::collections::VecDeque;

use crate::decide::Done;
use crate::evidence::eval::World;
use crate::policy::{Edge, Phase, Skill};
use crate::prelude::*;
use crate::state::Run;

/// A transition to a following phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Transition {
    /// The phase it leads to.
    pub(crate) to: usize,
    /// The phases strictly between, in order.
    pub(crate) between: Vec<usize>,
    /// Whether everything on the way holds.
    pub(crate) open: bool,
}

impl Transition {
    /// An open way that passes over nothing.
    pub(crate) fn straight(to: usize) -> Self {
        Self { to, between: Vec::new(), open: true }
    }
}

/// How one phase was found: from which phase, or directly from the current one.
#[derive(Clone, Copy)]
enum Found {
    Not,
    Start,
    From(usize),
}

/// The current phase of a run.
#[derive(Clone, Copy)]
pub(crate) struct Here {
    /// Its index in the skill.
    pub(crate) index: usize,
    /// Whether it is done, where that is known already.
    pub(crate) done: Option<Done>,
}

impl Here {
    /// Whether the phase is done, which is looked at only if it is not known.
    fn done(self, world: &mut World<'_>, skill: &Skill, run: &Run) -> Done {
        let phase = skill.phases.get(self.index);
        self.done.unwrap_or_else(|| phase.map_or(Done::NotAsked, |phase| world.done(run, phase)))
    }
}

/// Finds the first following phase (in order, or along the edges) that `wanted` accepts.
pub(crate) fn find(
    world: &mut World<'_>,
    skill: &Skill,
    run: &Run,
    here: Here,
    wanted: &mut dyn FnMut(&Phase) -> bool,
) -> Option<Transition> {
    let any = search(skill, here.index, &mut |_, _| true);
    let to = any.order.iter().copied().find(|index| skill.phases.get(*index).is_some_and(&mut *wanted))?;
    let done = here.done(world, skill, run);
    let open = search(skill, here.index, &mut |from, edge| {
        let passable = match skill.phases.get(from) {
            _ if from == here.index => done != Done::No || edge.early,
            Some(phase) => !phase.asks() || world.optional(run, phase),
            None => false,
        };
        world.holds(edge.when.as_ref(), run) && passable
    });
    let admitted = skill.phases.get(to).is_some_and(|phase| world.admits(run, phase));
    let reached = open.order.contains(&to);
    let between = if reached { open.path(to) } else { any.path(to) };
    Some(Transition { to, between, open: reached && admitted })
}

/// The shortest way forward to a phase, whatever its edges and phases ask. `None`: no way leads there.
pub(crate) fn way(skill: &Skill, here: usize, to: usize) -> Option<Transition> {
    let any = search(skill, here, &mut |_, _| true);
    any.order.contains(&to).then(|| Transition { to, between: any.path(to), open: true })
}

/// Whether nothing is left to do: the current phase is done, and all that could follow may be passed over.
pub(crate) fn can_finish(world: &mut World<'_>, skill: &Skill, run: &Run, here: Here) -> bool {
    if here.done(world, skill, run) == Done::No {
        return false;
    }
    let reached = search(skill, here.index, &mut |from, edge| {
        let passable = from == here.index || skill.phases.get(from).is_some_and(|phase| world.optional(run, phase));
        world.holds(edge.when.as_ref(), run) && passable
    });
    let terminal = |index: usize| skill.phases.get(index).is_some_and(|phase| phase.next.is_empty());
    terminal(here.index)
        || reached
            .order
            .iter()
            .any(|index| terminal(*index) && skill.phases.get(*index).is_some_and(|phase| world.optional(run, phase)))
}

struct Reached {
    order: Vec<usize>,
    found: Vec<Found>,
}

impl Reached {
    fn path(&self, to: usize) -> Vec<usize> {
        let mut path = Vec::new();
        let mut at = to;
        while let Some(Found::From(before)) = self.found.get(at).copied() {
            path.push(before);
            at = before;
        }
        path.reverse();
        path
    }
}

/// Breadth first from `start` along the edges that `usable` accepts; every phase once, `start` never.
fn search(skill: &Skill, start: usize, usable: &mut dyn FnMut(usize, &Edge) -> bool) -> Reached {
    let mut reached = Reached { order: Vec::new(), found: vec![Found::Not; skill.phases.len()] };
    let mut queue = VecDeque::from([start]);
    while let Some(from) = queue.pop_front() {
        let Some(phase) = skill.phases.get(from) else { continue };
        for edge in &phase.next {
            let new = matches!(reached.found.get(edge.to), Some(Found::Not)) && edge.to != start;
            if !new || !usable(from, edge) {
                continue;
            }
            if let Some(found) = reached.found.get_mut(edge.to) {
                *found = if from == start { Found::Start } else { Found::From(from) };
            }
            reached.order.push(edge.to);
            queue.push_back(edge.to);
        }
    }
    reached
}
