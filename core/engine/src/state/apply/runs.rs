//! The runs of a state: how they are kept, begin and end.

use crate::prelude::*;
use crate::state::{Children, KEPT, Run, Runs, Status};

/// A run began: the one that it is a part of has live parts.
pub(super) fn has_part(runs: &mut Runs, run: &Run) {
    if let (Some(parent), Some(branch)) = (&run.parent, &run.branch) {
        change_run(runs, parent, |parent| {
            if parent.visit == branch.visit {
                parent.children = Children::Live;
            }
        });
    }
}

/// A run ended. The run that it is a part of has done an element of its plan, if it finished.
pub(super) fn ended(runs: &mut Runs, id: &str, status: Status) {
    change_run(runs, id, |run| run.status = status);
    let part = runs.iter().find(|run| run.id == id && status == Status::Finished);
    let place = part.and_then(|part| Some((part.parent.clone()?, part.branch.as_ref()?.place)));
    let Some((parent, place)) = place else { return };
    change_run(runs, &parent, |parent| {
        if let Some(progress) = &mut parent.plan {
            progress.finished.push(place);
        }
    });
}

/// Adds a run. The oldest that has ended makes room.
pub(super) fn keep(runs: &mut Runs, run: &Run) {
    runs.push(run.clone());
    // The phase of a live run counts how the runs ended that it consists of.
    let live = |id: &String| runs.iter().any(|run| run.id == *id && run.status == Status::Active);
    let over = |run: &Run| run.status != Status::Active && !run.parent.as_ref().is_some_and(live);
    if runs.len() > KEPT
        && let Some(oldest) = runs.iter().position(over)
    {
        runs.remove(oldest);
    }
}

/// Changes a run, if it is there.
pub(super) fn change_run(runs: &mut Runs, id: &str, change: impl FnOnce(&mut Run)) {
    if let Some(run) = runs.find_mut(|run| run.id == id) {
        change(run);
    }
}
