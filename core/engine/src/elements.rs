//! Elements of a plan that a person decides about: begun anew, or skipped. How their runs ended counts no more.

use crate::state::{Children, Runs, Status};

/// Has an element begun anew. The others that ended with it go on: where they stood, if no runs were part of them.
pub(crate) fn again(runs: &mut Runs, id: &str, element: usize) {
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

/// Skips an element: it counts as finished.
pub(crate) fn skip(runs: &mut Runs, id: &str, element: usize) {
    again(runs, id, element);
    if let Some(progress) = runs.find_mut(|run| run.id == id).and_then(|run| run.plan.as_mut()) {
        progress.finished.push(element);
        progress.skipped.push(element);
    }
}
