//! Clients: what they start and load, what they record of a session, and whether that agrees with the guard.

pub mod platforms;
pub mod guard_file;
pub mod hook_installation;
pub mod heartbeat;
pub mod servers;
pub mod known_servers;
pub mod serving;
pub(crate) mod client_settings;
pub(crate) mod client_texts;
pub(crate) mod modules;
pub mod client_records;
pub mod alarm;
pub(crate) mod call_comparison;
pub mod client_shell;
