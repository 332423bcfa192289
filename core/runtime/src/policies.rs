//! Policies: compiled once and kept, accepted by a person, and compared where they change.

pub mod policy_store;
pub mod strength;
pub mod difference;
pub mod accepted_configs;
pub mod acceptance;
pub mod reload;
