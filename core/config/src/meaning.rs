//! What a skill means, and whether that can be what its author meant.

mod agents;
mod client_skills;
mod conditions;
mod contradiction;
mod cover;
mod folders;
mod hold;
mod known;
mod misspelt;
mod names;
mod overlap;
mod reach;
mod rollback;
mod starts;
mod uses;

pub use agents::is_host_agent;

pub(crate) use cover::covers;
pub(crate) use names::check_settings;

use crate::build::builder::Built;
use crate::input::Known;
use crate::read::report::Finding;

/// Looks for rules that contradict each other, names that nothing has, and phases that are never reached or never done.
pub(crate) fn check(built: &Built, known: &Known, findings: &mut Vec<Finding>) {
    names::check(built, &known.servers, findings);
    let damaged = damaged(built, findings);
    contradiction::check(built, findings);
    hold::check(built, findings);
    starts::check(built, findings);
    rollback::check(built, findings);
    folders::check(built, known, findings);
    agents::check(built, known, findings);
    client_skills::check(built, known, findings);
    reach::check(built, &damaged, findings);
}

/// For each phase whether a mistake took something out of it: then what it lacks is no mistake of its own.
fn damaged(built: &Built, findings: &[Finding]) -> Vec<bool> {
    let starts: Vec<usize> = built.places.phases.iter().map(|places| places.key.start).collect();
    let ends = starts.iter().skip(1).copied().chain([usize::MAX]);
    starts.iter().zip(ends).map(|(start, end)| findings.iter().any(|finding| finding.damages(*start, end))).collect()
}
