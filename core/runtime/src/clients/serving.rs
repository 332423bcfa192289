//! Which guards of servers and proxies serve a session. Several can at once: those that one client started for its servers
//! share a session, which begins with the first of them and ends with the last (rules 6.1).

use phasegate_adapter::Problem;
use phasegate_core::state::OpenCall;
use phasegate_core::{Event, EventKind, Outcome};

use crate::driver::Driver;
use crate::processes::ancestors::Process;
use crate::sessions::is_of;
use crate::sessions::lineage::Origin;
use crate::sessions::snapshot::{SessionChange, SessionSnapshot};

/// The most guards that one session is remembered to be served by: of those in another namespace the end is never seen.
const GUARDS: usize = 64;

/// Decides an event that the guard in the process `guard` gives, and notes that this guard serves the session, or lets it
/// go: [`EventKind::Idle`] says so.
///
/// # Errors
///
/// As for [`Driver::inherit`] and [`Driver::decide`].
pub fn decide(driver: &mut Driver<'_>, guard: Option<Process>, mut event: Event) -> Result<Vec<Outcome>, Problem> {
    if let Some(guard) = guard {
        note(driver, guard, &mut event);
    }
    let events = driver.inherit(&Origin::default(), vec![event])?;
    events.into_iter().map(|event| driver.decide(event)).collect()
}

fn note(driver: &mut Driver<'_>, guard: Process, event: &mut Event) {
    let own = &driver.loaded.own.snapshot;
    let turns = matches!(event.kind, EventKind::SessionStart { .. } | EventKind::SessionEnd {});
    let leaves = matches!(event.kind, EventKind::SessionEnd {} | EventKind::Idle {});
    if !turns && !leaves && own.guards.contains(&guard) {
        return;
    }
    let others: Vec<Process> = own.guards.iter().copied().filter(|known| *known != guard).collect();
    if turns && !own.session.ended && others.iter().any(|other| !other.gone()) {
        event.kind = EventKind::Idle {};
    }
    let kept = others.into_iter().filter(|other| !other.gone() || calls(own, *other).next().is_some());
    let mut guards: Vec<Process> = kept.chain((!leaves).then_some(guard)).collect();
    guards.drain(..guards.len().saturating_sub(GUARDS));
    driver.loaded.own.change(SessionChange::Guards(guards));
}

/// The open calls that a guard let through, and whose end it would tell.
fn calls(own: &SessionSnapshot, guard: Process) -> impl Iterator<Item = &OpenCall> {
    own.session.calls.iter().map(AsRef::as_ref).filter(move |call: &&OpenCall| is_of(call, guard))
}
