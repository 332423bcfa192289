//! Elements of a plan that a person decides about: begun anew, or skipped. How their runs ended counts no more.

use crate::state::{Children, Run, Runs, Status};

/// Has an element begun anew. One that was skipped, or has finished in a wave that waits at its gate, is open again. The others that ended
/// with it go on: where they stood, if no runs were part of them.
pub(crate) fn again(runs: &mut Runs, id: &str, element: usize) {
    if reopen(runs, id, element) {
        return;
    }
    let Some(visit) = runs.iter().find(|run| run.id == id).map(|run| run.visit) else { return };
    for part in runs.iter_mut().filter(|part| part.parent.as_deref() == Some(id)) {
        let Some(branch) = part.branch.as_mut().filter(|branch| branch.visit == visit) else { continue };
        let goes_on = branch.place != element && part.children.is_none() && !branch.void;
        match part.status {
            Status::Left if goes_on => part.status = Status::Active,
            Status::Left | Status::Failed => branch.void = true,
            Status::Active | Status::Finished => {}
        }
    }
    if let Some(run) = runs.find_mut(|run| run.id == id && run.children == Children::Failed) {
        (run.children, run.failed) = (Children::Live, false);
    }
}

/// Opens an element again that was skipped, or that has finished in a wave that waits at its gate; whether there is one.
fn reopen(runs: &mut Runs, id: &str, element: usize) -> bool {
    let waits = |run: &Run| run.id == id && matches!(run.children, Children::Gate | Children::Live);
    let Some(run) = runs.find_mut(waits) else { return false };
    let at_gate = run.children == Children::Gate;
    let Some(progress) = run.plan.as_mut() else { return false };
    if !progress.finished.contains(&element) || !(at_gate || progress.skipped.contains(&element)) {
        return false;
    }
    progress.finished.retain(|known| *known != element);
    progress.skipped.retain(|known| *known != element);
    let of_run = runs.iter_mut().filter(|part| part.parent.as_deref() == Some(id));
    let branches = of_run.filter_map(|part| part.branch.as_mut()).filter(|branch| branch.place == element);
    branches.for_each(|branch| branch.void = true);
    if let Some(run) = runs.find_mut(waits) {
        run.children = Children::Live;
    }
    true
}

/// Skips an element: it counts as finished.
pub(crate) fn skip(runs: &mut Runs, id: &str, element: usize) {
    again(runs, id, element);
    if let Some(progress) = runs.find_mut(|run| run.id == id).and_then(|run| run.plan.as_mut()) {
        progress.finished.push(element);
        progress.skipped.push(element);
    }
}
