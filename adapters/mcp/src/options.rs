//! What a relay is told: plain data.

use std::time::Duration;

use phasegate_adapter::guarded::Held;

/// How a relay works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Take tools out of lists that the current phase forbids.
    pub hide_forbidden: bool,
    /// Offer `activate_skill`, `deactivate_skill` and `get_skill_phase`.
    pub own_tools: bool,
    /// Let each tool of a client without a session take the handle of its session as an argument.
    #[cfg(feature = "http")]
    pub handles: bool,
    /// The skills that each session has in force from its first message on.
    pub held: Vec<Held>,
    /// How long servers may go on to answer after the client has closed its end.
    pub grace: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            hide_forbidden: false,
            own_tools: true,
            #[cfg(feature = "http")]
            handles: false,
            held: Vec::new(),
            grace: Duration::from_secs(2),
        }
    }
}

/// The session that a relay's events belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its id, as the guard is given it.
    pub id: String,
    /// Whether events belong to the session of the client that started this process, where the guard knows one.
    pub host: bool,
    /// Whether the session begins and ends with the relay. A session that others began, or that goes on, does not.
    pub owned: bool,
    /// The principal of the client, as the owner of the connection established it.
    pub principal: Option<String>,
}

impl Session {
    /// A session that begins and ends with its relay.
    pub fn own(id: impl Into<String>) -> Self {
        Self { id: id.into(), host: false, owned: true, principal: None }
    }

    /// A session that others began.
    pub fn of_others(id: impl Into<String>) -> Self {
        Self { owned: false, ..Self::own(id) }
    }
}
