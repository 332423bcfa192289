//! The guard as adapters see it that live inside a long-running process.

use async_trait::async_trait;
use phasegate_core::{Decision, Event, Outcome};

use crate::problem::Problem;

/// How a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing is known of it.
    Unknown,
    /// It has begun and goes on, or cannot be read.
    Open,
    /// It has ended.
    Ended,
}

/// The session that goes on under this name, or is to begin under it: the name, or with a number where earlier ones have
/// ended; and how it stands.
#[must_use]
pub fn current_session(guard: &dyn Guard, name: &str) -> (String, Standing) {
    let numbered = (2_u32..).map(|number| format!("{name}-{number}"));
    let mut found = std::iter::once(name.to_owned()).chain(numbered).map(|id| (guard.standing(&id), id));
    let current = found.find(|(standing, _)| *standing != Standing::Ended);
    current.map_or_else(|| (name.to_owned(), Standing::Ended), |(standing, id)| (id, standing))
}

/// The process that named a call with `GuardedCalls::fresh_id`, by its number.
#[must_use]
pub fn process_of(call: &str) -> Option<u32> {
    let mut parts = call.rsplit('-').skip(2);
    let process = parts.next()?.parse().ok()?;
    parts.next().map(|_| process)
}

/// Decides events. The runtime implements it for one project; an adapter that lives in a server is handed it and never
/// sees store, clock or config.
#[async_trait]
pub trait Guard: Send + Sync {
    /// Decides and records one event of the session with this platform id. The answer is durable as far as it must be
    /// when it is given.
    ///
    /// # Errors
    ///
    /// The guard could not work; the caller must answer with a denial, unless the code is `policy-missing` and
    /// [`Guard::unguarded`] says that there is nothing to guard.
    async fn handle(&self, session: &str, event: Event) -> Result<Outcome, Problem>;

    /// How each of these calls would be decided if it came now, alone. A call whose `input` is null stands for every
    /// call of its tool. It is denied only if each of them is, which is the condition for hiding a tool. Nothing is
    /// recorded, and no run changes. An event that is not a call is allowed. By default every call is allowed, so that
    /// no tool is hidden.
    ///
    /// # Errors
    ///
    /// The guard could not work. Nothing is let through by that: each call is still decided when it comes.
    async fn probe(&self, _session: &str, events: Vec<Event>) -> Result<Vec<Decision>, Problem> {
        Ok(events.iter().map(|_| Decision::allow()).collect())
    }

    /// Asked after a `policy-missing`: whether nothing guards the project and nothing ever did, so that the call may go on
    /// as it would without a guard. Where that cannot be known, it is guarded.
    async fn unguarded(&self) -> bool {
        false
    }

    /// The session of the guarded client of this project that started this process, as it is now: it changes when the
    /// client's user clears the conversation, forks it or goes on with another. What this process sees belongs to it, so
    /// it is asked for with every event. `None`: no such client is known.
    fn host_session(&self) -> Option<String> {
        None
    }

    /// How the session with this id stands. By default nothing is known of any.
    fn standing(&self, _session: &str) -> Standing {
        Standing::Unknown
    }

    /// Whether the host's own guard has let this call through already: it is open in the session under one of `ids`, with
    /// the same tool and the same arguments. It is then neither decided nor recorded a second time, and nor is its
    /// result. Each call is told once.
    async fn decided(&self, _session: &str, _call: &Event, _ids: Vec<String>) -> bool {
        false
    }
}
