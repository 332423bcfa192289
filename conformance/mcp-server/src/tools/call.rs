//! One call, as the tools see it, and how it is answered.

#![expect(deprecated, reason = "what earlier revisions can ask is offered as well")]

use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, LoggingLevel};
use rmcp::service::RequestContext;

use crate::catalogue::Catalogue;
use crate::shared::Shared;

/// One call, as the tools see it.
pub(crate) struct Call<'a> {
    /// What the server offers.
    pub(super) catalogue: &'a Catalogue,
    /// What all sessions share.
    pub(super) shared: &'a Shared,
    /// The least level of messages that the client wants to see.
    pub(super) level: LoggingLevel,
    /// The tool's name.
    pub(super) name: &'a str,
    /// The arguments; empty where none were given.
    pub(super) arguments: &'a JsonObject,
    /// Who called, and how to reach them.
    pub(super) context: &'a RequestContext<RoleServer>,
}

impl Call<'_> {
    /// Whether the client wants to see messages of this level.
    pub(super) fn logs(&self, level: LoggingLevel) -> bool {
        level as u8 >= self.level as u8
    }

    /// An argument that is a text; empty where it is absent or no text.
    pub(super) fn text(&self, name: &str) -> &str {
        self.arguments.get(name).and_then(|value| value.as_str()).unwrap_or_default()
    }
}

/// A result with this text.
pub(super) fn said(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// A failed result with this text.
pub(super) fn failed(text: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}
