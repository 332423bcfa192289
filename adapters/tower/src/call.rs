//! What goes in and what comes out.

use phasegate_adapter::guarded::Denial;
use phasegate_core::EventKind;
use phasegate_core::calls::analysis::CallAnalysis;
use phasegate_core::calls::tool::Labels;
use serde_json::Value;

/// A tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The session it belongs to: calls of one session are judged by the same phase. The server sets it, never the
    /// agent.
    pub session: String,
    /// The tool's name, as policies use it.
    pub tool: String,
    /// The server that offers the tool, by the name that policies use; absent: not known.
    pub server: Option<String>,
    /// The arguments.
    pub input: Value,
    /// What the tool can do, where that is known and believed.
    pub labels: Option<Labels>,
    /// Who is behind the session, where that was established.
    pub principal: Option<String>,
}

impl Call {
    /// A call without arguments.
    #[must_use]
    pub fn new(session: impl Into<String>, tool: impl Into<String>) -> Self {
        Self {
            session: session.into(),
            tool: tool.into(),
            server: None,
            input: Value::Object(serde_json::Map::new()),
            labels: None,
            principal: None,
        }
    }

    /// The call with these arguments.
    #[must_use]
    pub fn with_input(self, input: Value) -> Self {
        Self { input, ..self }
    }

    /// The call of a tool of this server.
    #[must_use]
    pub fn of_server(self, server: impl Into<String>) -> Self {
        Self { server: Some(server.into()), ..self }
    }

    /// The event that stands for the call.
    pub(crate) fn event(&self, id: &str) -> EventKind {
        EventKind::ToolCall {
            id: Some(id.to_owned()),
            tool: self.tool.clone(),
            native: None,
            server: self.server.clone(),
            input: self.input.clone(),
            labels: self.labels.clone(),
            background: false,
            analysis: CallAnalysis::default(),
        }
    }
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer<R> {
    /// It ran, and answered this.
    Ran(R),
    /// It ran and answered this, although something is wrong with it: the agent must read why beside the answer.
    Warned(R, String),
    /// It did not run.
    Denied(Box<Denial>),
}
