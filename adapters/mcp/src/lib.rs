//! MCP: its messages as events, decisions as its answers, and a relay that stands before any server.
//!
//! Without a feature this crate is the adapter alone, which is pure. `proxy` adds the relay and stdio.

pub mod id;
pub mod object;
pub mod message;
#[cfg(feature = "proxy")]
pub mod link;
#[cfg(feature = "proxy")]
pub mod options;
#[cfg(feature = "proxy")]
pub mod relay;

pub use id::Id;
pub use message::{Kind, Malformed, Message};
