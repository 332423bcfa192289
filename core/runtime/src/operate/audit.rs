//! The journals as people and other programs read them. What reads never writes, and takes no lock.

pub mod again;
pub mod history;
pub mod line;
pub mod log;
pub mod project_moves;
pub mod transcript;
