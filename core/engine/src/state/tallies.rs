//! The counts of budgets that a state keeps (rules 4.8).

use crate::policy::budget::{MAX_FILES, Tally};
use crate::prelude::*;
use crate::state::{Runs, Status};

/// The most counts that each half of the state keeps beside those of phases; the one that changed first goes first.
const MAX_TALLIES: usize = 64;
/// How many visits of a run a count is kept of: the present one, and the one that it may return to.
const VISITS: usize = 2;

/// Keeps the count of a budget, the one that changed last in the last place. The files of `tally` are added to those that
/// are known of the same count. Those of runs that are not live go.
pub(crate) fn keep(tallies: &mut Vec<Tally>, runs: &Runs, tally: &Tally) {
    let live = |id: &str| runs.iter().any(|run| run.id == id && run.status == Status::Active);
    let of_same = |known: &Tally| known.budget == tally.budget && known.run == tally.run && known.visit == tally.visit;
    let mut files = tallies.iter_mut().find(|known| of_same(known)).map_or_else(Vec::new, |known| {
        // A count that begins anew begins without files.
        if known.since == tally.since && known.spent < tally.spent {
            core::mem::take(&mut known.files)
        } else {
            Vec::new()
        }
    });
    let room = usize::try_from(MAX_FILES).unwrap_or_default().saturating_sub(files.len());
    files.extend(tally.files.iter().take(room).cloned());
    tallies.retain(|known| !of_same(known) && known.run.as_ref().is_none_or(|run| live(run)));
    tallies.push(Tally { files, ..tally.clone() });
    let same: fn(&Tally, &Tally) -> bool = |known, tally| match &tally.run {
        Some(_) => known.budget == tally.budget && known.run == tally.run,
        None => known.run.is_none(),
    };
    let most = if tally.run.is_some() { VISITS } else { MAX_TALLIES };
    if tallies.iter().filter(|known| same(known, tally)).count() > most
        && let Some(oldest) = tallies.iter().position(|known| same(known, tally))
    {
        tallies.remove(oldest);
    }
}
