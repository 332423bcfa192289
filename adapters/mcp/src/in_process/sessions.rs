//! Which session a request belongs to, and when it begins.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use phasegate_adapter::Problem;
use phasegate_core::event::SessionSource;
use phasegate_core::{Code, Event, EventKind};

use super::{Shared, lock};

/// The key of `_meta` under which a handle is answered and passed back.
pub(super) const META: &str = "dev.phasegate/session";
/// The argument under which an agent may pass a handle with any tool.
pub(super) const ARGUMENT: &str = "phasegate_session";
/// How many bytes a handle has, before it is written in hexadecimal digits.
const HANDLE_BYTES: usize = 16;

/// The sessions of one process.
pub(super) struct Sessions {
    process: String,
    next: AtomicU64,
    begun: tokio::sync::Mutex<HashSet<String>>,
    /// Which session a handle stands for, and for whom it was made.
    handles: Mutex<HashMap<String, (String, Option<String>)>>,
}

impl Default for Sessions {
    fn default() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            process: format!("mcp-{}-{}", std::process::id(), since.as_nanos()),
            next: AtomicU64::new(0),
            begun: tokio::sync::Mutex::default(),
            handles: Mutex::default(),
        }
    }
}

/// The session that a request belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seat {
    /// Its id, as the guard knows it.
    pub(super) session: String,
    /// Whether another process began it, and ends it.
    pub(super) host: bool,
    /// Who is behind the request.
    pub(super) principal: Option<String>,
}

impl Seat {
    /// An event of this session.
    pub(super) fn event(&self, kind: EventKind) -> Event {
        Event { principal: self.principal.clone(), ..Event::new(&self.session, kind) }
    }
}

impl Sessions {
    /// An id that no other session of any process has.
    pub(super) fn fresh(&self) -> String {
        format!("{}-{}", self.process, self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// The id of the session of whoever has none of their own.
    pub(super) fn default_of(&self, principal: Option<&str>) -> String {
        principal.map_or_else(|| self.process.clone(), |name| format!("{}/{name}", self.process))
    }

    /// A new session of this principal, and its handle.
    ///
    /// # Errors
    ///
    /// The system gives no random numbers, and a handle that can be guessed is none.
    pub(super) fn open(&self, principal: Option<String>) -> Result<(Seat, String), Problem> {
        let mut bytes = [0_u8; HANDLE_BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|error| Problem::new(Code::Internal, format!("no handle can be made: {error}")))?;
        let handle: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let seat = Seat { session: self.fresh(), host: false, principal };
        lock(&self.handles).insert(handle.clone(), (seat.session.clone(), seat.principal.clone()));
        Ok((seat, handle))
    }

    /// The session that a handle stands for.
    ///
    /// # Errors
    ///
    /// `bad-input`: it was not made here, or for somebody else.
    pub(super) fn of_handle(&self, handle: &str, principal: Option<String>) -> Result<Seat, Problem> {
        match lock(&self.handles).get(handle) {
            Some((session, made_for)) if *made_for == principal => {
                Ok(Seat { session: session.clone(), host: false, principal })
            }
            _ => Err(Problem::new(Code::BadInput, "the call carries a handle that is not known here")),
        }
    }
}

impl Shared {
    /// Sees to it that the guard knows of the session before its first event. A session of a host began long ago.
    ///
    /// # Errors
    ///
    /// The guard could not work. The next event tries again.
    pub(super) async fn begin(&self, seat: &Seat) -> Result<(), Problem> {
        if seat.host {
            return Ok(());
        }
        let mut begun = self.sessions.begun.lock().await;
        if begun.contains(&seat.session) {
            return Ok(());
        }
        let start = EventKind::SessionStart { source: SessionSource::Startup, parent: None };
        drop(self.handle(seat, start).await?);
        begun.insert(seat.session.clone());
        Ok(())
    }

    /// Tells the guard that a session is over, if it knows of it.
    pub(super) async fn end(&self, session: String) {
        if self.sessions.begun.lock().await.remove(&session) {
            let seat = Seat { session, host: false, principal: None };
            // Nobody is left to be told; a session that does not end is one that is silent.
            drop(self.handle(&seat, EventKind::SessionEnd {}).await);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_its_makers_alone() {
        let sessions = Sessions::default();
        let (seat, handle) = sessions.open(Some("ann".into())).unwrap();
        assert_eq!(sessions.of_handle(&handle, Some("ann".into())), Ok(seat));
        assert!(sessions.of_handle(&handle, Some("bob".into())).is_err());
        assert!(sessions.of_handle(&handle, None).is_err());
        assert!(sessions.of_handle("0", Some("ann".into())).is_err());
        assert_ne!(sessions.fresh(), sessions.fresh());
        assert_ne!(sessions.default_of(Some("ann")), sessions.default_of(None));
    }
}
