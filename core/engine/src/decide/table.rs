//! The decision table (rules 3.2): one call in one run. `ARCHITECTURE.md` prints it, `tests/it/table.rs` checks it.

use serde::{Deserialize, Serialize};

/// All that the table asks about a call in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// The skill forbids the call in every phase.
    pub global_forbidden: bool,
    /// The current phase allows the call.
    pub allowed: bool,
    /// The current phase forbids the call.
    pub forbidden: bool,
    /// Whether the run may return to the phase that it entered a provisional one from.
    pub returns: Returns,
    /// Whether the current phase is done.
    pub done: Done,
    /// The first following phase that allows the call.
    pub next: Next,
    /// A rollback edge to a phase that allows the call is open.
    pub back: bool,
    /// What the skill does with a call that nothing lists, judged for this call.
    pub unlisted_passes: bool,
}

/// Whether a run may return from a provisional phase to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// The phase is not provisional, the phase before does not allow the call, or the rollback edges there are closed.
    No,
    /// It may, and no rollback edge leads there: the run goes on as if it had not left.
    Free,
    /// It may along a rollback edge, which counts.
    Back,
}

/// Whether a phase is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// It has no `done_when`.
    NotAsked,
    /// Its `done_when` does not hold.
    No,
    /// Its `done_when` holds.
    Yes,
}

/// Whether a following phase allows the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// None does.
    None,
    /// One does, and something on the way to it is missing.
    Closed,
    /// One does, and the way to it is open.
    Open,
}

/// The line of the table that applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// 1: violation, forbidden in every phase.
    GlobalForbidden,
    /// 2: allowed by the current phase, no move.
    Allowed,
    /// 2, provisional: allowed by the phase before, return to it.
    Returned,
    /// 3: allowed by a following phase whose way is open, enter it.
    Entered,
    /// 3: violation, the way to the following phase is not open.
    NotDone,
    /// 2, provisional, or 4: allowed by the target phase of a rollback edge; the run goes back.
    Back,
    /// 5: violation, forbidden by the current phase.
    Forbidden,
    /// 6: listed nowhere that matters, and let pass.
    Unlisted,
    /// 6: violation, listed nowhere that matters.
    UnlistedDenied,
    /// In place of a violation by 3 or 6: the call runs so that nothing of it stays (rules 3.2). The table does not say it,
    /// since it is about the whole line.
    Confined,
}

impl Line {
    /// Whether the line is a violation.
    pub fn is_violation(self) -> bool {
        matches!(self, Self::GlobalForbidden | Self::NotDone | Self::Forbidden | Self::UnlistedDenied)
    }

    /// Whether a phase lists the call, which is allowed.
    pub fn lists(self) -> bool {
        matches!(self, Self::Allowed | Self::Returned | Self::Entered | Self::Back)
    }
}

/// The first line of the table that applies.
pub fn decide(s: Situation) -> Line {
    if s.global_forbidden {
        return Line::GlobalForbidden;
    }
    if s.allowed && !s.forbidden {
        return Line::Allowed;
    }
    match s.returns {
        Returns::Free => return Line::Returned,
        Returns::Back => return Line::Back,
        Returns::No => {}
    }
    if s.next == Next::Open && (!s.forbidden || s.done == Done::Yes) {
        return Line::Entered;
    }
    if s.next == Next::Closed {
        return Line::NotDone;
    }
    if s.back {
        return Line::Back;
    }
    if s.forbidden {
        return Line::Forbidden;
    }
    if s.unlisted_passes { Line::Unlisted } else { Line::UnlistedDenied }
}
