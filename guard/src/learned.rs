//! What the server says of its tools.

use phasegate_core::calls::tool::Labels;
use rmcp::model::Tool;

use phasegate_mcp::message::tool_call;

/// What the server says of a tool.
#[derive(Clone, Default)]
pub(super) struct Learned {
    /// What it can do, as its annotations say.
    pub(super) labels: Option<Labels>,
    /// Whether it declares a form for structured content.
    pub(super) declared: bool,
}

impl Learned {
    pub(super) fn of(tool: &Tool) -> Self {
        let described = serde_json::to_value(tool).unwrap_or_default();
        Self { labels: tool_call::labels(&described), declared: tool.output_schema.is_some() }
    }
}
