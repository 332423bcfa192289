//! Setting up, and keeping what is stored.

pub mod init;
pub mod adapters;
pub mod doctor;
#[cfg(unix)]
pub mod drill;
pub mod reload;
pub mod repair;
pub mod gc;
pub mod audit;
pub mod completions;
