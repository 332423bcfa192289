//! What the tools do.

mod asking;
mod content;
mod editing;
mod odd;
mod telling;

use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, JsonObject};
use rmcp::service::RequestContext;

use crate::server::Server;

/// One call, as the tools see it.
pub(crate) struct Call<'a> {
    /// The server.
    server: &'a Server,
    /// The tool's name.
    name: &'a str,
    /// The arguments; empty where none were given.
    arguments: &'a JsonObject,
    /// Who called, and how to reach them.
    context: &'a RequestContext<RoleServer>,
}

impl Call<'_> {
    /// An argument that is a text; empty where it is absent or no text.
    fn text(&self, name: &str) -> &str {
        self.arguments.get(name).and_then(|value| value.as_str()).unwrap_or_default()
    }
}

/// Runs a tool.
pub(crate) async fn call(
    server: &Server,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = request.arguments.clone().unwrap_or_default();
    let call = Call { server, name: request.name.as_ref(), arguments: &arguments, context: &context };
    let known = match call.name {
        name if name.starts_with("test_elicitation") => Some(asking::user(&call).await),
        "test_sampling" => Some(asking::model(&call).await),
        "list_roots" => Some(asking::roots(&call).await),
        "ask_input" => return asking::input(&request),
        "test_tool_with_logging" => Some(telling::logging(&call).await),
        "test_tool_with_progress" => Some(telling::progress(&call).await),
        "test_reconnection" | "slow" => Some(telling::slow(&call).await),
        "change_tools" => Some(telling::change_tools(&call).await),
        "fail" => return odd::fail(&call).await.map(Into::into),
        "echo" => Some(odd::echo(&call)),
        "big" => Some(odd::big(&call)),
        "extra" if server.shared.extra().is_some() => Some(said("the extra tool")),
        _ => content::answer(&call).or_else(|| editing::answer(&call)),
    };
    let unknown = || ErrorData::invalid_params(format!("unknown tool `{}`", request.name), None);
    known.map(Into::into).ok_or_else(unknown)
}

/// A result with this text.
fn said(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// A failed result with this text.
fn failed(text: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}
