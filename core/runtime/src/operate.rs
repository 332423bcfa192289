//! What people do with what is kept: check, read, verify, repair, remove and play again. No hook comes here.

pub mod step_trial;
pub mod audit;
pub mod verify;
pub mod record_comparison;
pub mod retention;
pub mod repair;
pub mod restore;
pub mod doctor;
pub mod replay;
pub mod likely_calls;
pub mod machine;
pub mod backtest;
