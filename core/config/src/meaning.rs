//! What a skill means, and whether that can be what its author meant.

mod contradiction;
mod cover;
mod names;
mod possible;
mod reach;
mod sample;

use crate::build::Built;
use crate::report::Finding;

/// Looks for rules that contradict each other, names that nothing has, and phases that are never reached or never done.
pub(crate) fn check(built: &Built, findings: &mut Vec<Finding>) {
    contradiction::check(built, findings);
    names::check(built, findings);
    let possible = possible::Possible::new(&built.skill);
    reach::check(built, &possible, findings);
}
