//! What facts of rules ask of a part of a call, as it is stored (rules 4.10).

use serde::{Deserialize, Serialize};

use crate::calls::exit_status::Status;
use crate::prelude::*;
use crate::shell::test_report::TestRun;

/// What facts ask of a part of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FactPart {
    /// Whether it changes files of the project, or may.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub changes: bool,
    /// The facts, by their keys, a line of which means it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub meant: Vec<String>,
    /// The tests that it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestRun>,
    /// What the exit status of the call says of it.
    #[serde(skip_serializing_if = "Status::is_lost")]
    pub status: Status,
}
