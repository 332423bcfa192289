//! What the tools do.

#![expect(deprecated, reason = "what earlier revisions can ask is offered as well")]

mod call;
mod asking;
mod content;
mod editing;
mod odd;
mod telling;

use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorData, LoggingLevel};
use rmcp::service::RequestContext;

use crate::catalogue::Catalogue;
use crate::shared::Shared;
use call::{Call, said};

/// Runs a tool.
pub(crate) async fn call(
    catalogue: &Catalogue,
    shared: &Shared,
    level: LoggingLevel,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = request.arguments.clone().unwrap_or_default();
    let call = Call { catalogue, shared, level, name: request.name.as_ref(), arguments: &arguments, context: &context };
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
        "extra" if shared.extra().is_some() => Some(said("the extra tool")),
        _ => content::answer(&call).or_else(|| editing::answer(&call)),
    };
    let unknown = || ErrorData::invalid_params(format!("unknown tool `{}`", request.name), None);
    known.map(Into::into).ok_or_else(unknown)
}
