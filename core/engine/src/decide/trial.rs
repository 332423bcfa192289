//! Calls that nobody has made, as they would be judged.

use serde_json::Value;

use crate::calls::analysis::CallAnalysis;
use crate::calls::builtin_tools::builtin_labels;
use crate::calls::tool::{Call, Tool};
use crate::prelude::*;

/// A call that nobody has made.
pub(crate) fn suggested_call(tool: &str, server: Option<String>, input: Value, analysis: CallAnalysis) -> Call {
    let labels = if server.is_none() { builtin_labels(tool) } else { Default::default() };
    Call {
        id: None,
        tool: Tool { name: tool.to_string(), native: None, server, labels },
        input,
        analysis,
        background: false,
    }
}
