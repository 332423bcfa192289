//! Programs that clients start.

pub mod hook;
pub mod serve;
#[cfg(feature = "mcp")]
pub mod mcp;
