//! Playing: stories and recorded sessions, through what ships.

pub(crate) mod folders;
pub mod case;
pub mod driver;
pub mod story;
pub mod session;
pub(crate) mod relay;
pub(crate) mod bridge;
pub(crate) mod entry;
pub mod player;
pub mod frames;
