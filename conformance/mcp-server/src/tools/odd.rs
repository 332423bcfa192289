//! Tools that do what a good one would not, and one that says what it was given.

use rmcp::model::{CallToolResult, ContentBlock, ErrorData};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use super::call::{Call, failed, said};

/// Fails in the way that the caller asks for.
pub(super) async fn fail(call: &Call<'_>) -> Result<CallToolResult, ErrorData> {
    match call.text("how") {
        "error" => Err(ErrorData::internal_error("the tool failed", Some(json!({ "asked": true })))),
        "exit" => std::process::exit(3),
        "garbage" => {
            let mut out = tokio::io::stdout();
            let written = async { out.write_all(b"this is no message\n").await.and(out.flush().await) }.await;
            Ok(written.map_or_else(|problem| failed(problem.to_string()), |()| said("a line of garbage was written")))
        }
        _ => Ok(failed("the tool failed")),
    }
}

/// A text of so many bytes.
pub(super) fn big(call: &Call<'_>) -> CallToolResult {
    let bytes = call.arguments.get("bytes").and_then(serde_json::Value::as_u64).unwrap_or_default();
    match usize::try_from(bytes) {
        Ok(bytes) if bytes <= 1 << 30 => said("x".repeat(bytes)),
        _ => failed("that is too big"),
    }
}

/// The arguments, and the request's own metadata.
pub(super) fn echo(call: &Call<'_>) -> CallToolResult {
    let told = json!({ "arguments": call.arguments, "meta": call.context.meta });
    let mut result = CallToolResult::structured(told.clone());
    result.content = vec![ContentBlock::text(told.to_string())];
    result
}
