//! The gates, in order. Each looks at a call by itself, and the strictest answer wins; of equally strict ones the first.
//!
//! `ARCHITECTURE.md` prints this list; `tests/it/gates.rs` compares the two.

pub(crate) mod gate;
pub(crate) mod permitting;
pub(crate) mod spending;
pub(crate) mod pinning;
pub(crate) mod question;
mod access;
pub(crate) mod budget;
mod effects;
mod phase;
mod pin;
pub(crate) mod protection;
mod registry;
mod rules;
mod version;

use crate::answers::decision::{Decision, Gate};
use crate::evidence::eval::World;
use crate::gates::gate::{Context, Judge};

/// A gate, and how it judges a call.
struct Row {
    gate: Gate,
    judge: Judge,
}

/// Every gate that a call passes. The input is checked before, where it is read.
const GATES: [Row; 9] = [
    Row { gate: Gate::Protection, judge: protection::judge },
    Row { gate: Gate::Effects, judge: effects::judge },
    Row { gate: Gate::Pin, judge: pin::judge },
    Row { gate: Gate::Registry, judge: registry::judge },
    Row { gate: Gate::Version, judge: version::judge },
    Row { gate: Gate::Access, judge: access::judge },
    Row { gate: Gate::Budget, judge: budget::judge },
    Row { gate: Gate::Phase, judge: phase::judge },
    Row { gate: Gate::Rules, judge: rules::judge },
];

/// The gates that a call passes, in order.
pub fn gates() -> impl Iterator<Item = Gate> {
    GATES.iter().map(|row| row.gate)
}

/// The strictest denial or warning of all gates; `None`: the call passes.
pub(crate) fn judge(world: &mut World<'_>, context: &Context<'_>) -> Option<Decision> {
    let mut strictest = None;
    for row in &GATES {
        let Some(denial) = (row.judge)(world, context) else { continue };
        let stricter = strictest.as_ref().is_none_or(|so_far: &Decision| denial.effect > so_far.effect);
        if stricter {
            strictest = Some(denial.decision());
        }
    }
    strictest
}
