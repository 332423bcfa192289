//! What an agent or a person is told: denials, what to do instead, notices and obligations.

pub mod code;
pub(crate) mod phrase;
pub mod doubt;
pub mod reason;
pub mod decision;
pub(crate) mod subject;
pub(crate) mod standstill;
pub mod denial;
pub(crate) mod rendering;
pub(crate) mod deadlock;
pub(crate) mod remedy;
pub(crate) mod repeated_denials;
pub(crate) mod directive;
pub(crate) mod plan_notice;
pub(crate) mod early_gate;
pub(crate) mod misplaced_files;
pub(crate) mod completion;
pub(crate) mod obligation;
