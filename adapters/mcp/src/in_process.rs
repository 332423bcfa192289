//! The guard inside of a server: any handler of the `rmcp` crate, with every tool call decided before it gets there.
//!
//! A [`Gate`] is made once in a process. It wraps a handler, or one handler for each session where the server makes them so,
//! and all of them share what it knows of sessions. What is no tool call passes unchanged.
//!
//! Whose call it is: over standard input and output (and any transport that is not HTTP), the session of the guarded client
//! that started the process, if it is one, else the connection's own. Over HTTP, the protocol's session where there is one;
//! else the one whose handle the call carries; else the default session of the principal. No call is judged in a session
//! that belongs to another.

mod learned;
mod sessions;
mod gate;
mod deciding;
mod listing;
mod own_tools;
mod guarded;
mod handler;

pub use gate::Gate;
pub use guarded::Guarded;
