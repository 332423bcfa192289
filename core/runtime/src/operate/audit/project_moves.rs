//! How the runs of the project moved, in whichever session: the project's journal has all of it.

use phasegate_adapter::Problem;
use phasegate_core::{Change, State};
use phasegate_store::file_store::FileStore;
use phasegate_store::scan::Scan;

use crate::project::Project;
use crate::sessions::snapshot::{ProjectChange, ProjectSnapshot};

/// A run of the project began, moved or ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// When, in milliseconds since 1970-01-01 UTC.
    pub time: i64,
    /// The id of the run.
    pub run: String,
    /// The name of the phase that was left; `None`: the run began.
    pub left: Option<String>,
    /// The name of the phase that was entered; `None`: the run ended.
    pub entered: Option<String>,
}

/// The moves of all runs of the project, the first one first. Nothing is locked or written.
///
/// # Errors
///
/// `state-missing`: there is no such journal. `state-unreadable`, `state-version`: it cannot be read.
pub fn project_moves(project: &Project) -> Result<Vec<Move>, Problem> {
    let mut scan = Scan::<ProjectSnapshot>::open(&FileStore, &project.journal())?;
    let mut moves = Vec::new();
    loop {
        let mut state = State { project: scan.state().project.clone(), ..State::default() };
        let Some(record) = scan.next().transpose()? else { return Ok(moves) };
        let changes = record.entry.changes.iter().filter_map(|change| match change {
            ProjectChange::Engine(change) => Some(change),
            _ => None,
        });
        for change in changes {
            moves.extend(moved(&state, change).map(|one| Move { time: record.entry.time, ..one }));
            state.apply(change);
        }
    }
}

/// The move that a change is, but for its time.
fn moved(state: &State, change: &Change) -> Option<Move> {
    let (run, entered) = match change {
        Change::RunBegun(run) => (&run.id, Some(run.phase.clone())),
        Change::PhaseEntered { run, phase, .. } | Change::PhaseBack { run, phase, .. } => (run, Some(phase.clone())),
        Change::PhaseReturned { run } => (run, Some(state.run(run)?.provisional.as_ref()?.phase.clone())),
        Change::RunEnded { run, .. } => (run, None),
        _ => return None,
    };
    let left = state.run(run).map(|run| run.phase.clone());
    Some(Move { time: 0, run: run.clone(), left, entered })
}
