//! Tools that ask the client something before they answer.

#![expect(deprecated, reason = "the official suite has the client's model asked")]

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CreateMessageRequestParams, ElicitRequestParams,
    ErrorData, InputRequiredResult, SamplingMessage,
};
use serde_json::json;

use super::call::{Call, failed, said};

/// Asks the client's user what the catalogue says.
pub(super) async fn user(call: &Call<'_>) -> CallToolResult {
    let Some(question) = call.catalogue.questions.get(call.name) else {
        return failed(format!("nobody knows what `{}` asks", call.name));
    };
    let message = if question.message.is_empty() { call.text("message") } else { &question.message };
    let request = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.to_owned(),
        requested_schema: question.schema.clone(),
    };
    match call.context.peer.create_elicitation(request).await {
        Ok(answer) => {
            let content = answer.content.unwrap_or_default();
            said(format!("User response: action={}, content={content}", json!(answer.action).as_str().unwrap_or("?")))
        }
        Err(problem) => failed(format!("the user could not be asked: {problem}")),
    }
}

/// Asks the client's model.
pub(super) async fn model(call: &Call<'_>) -> CallToolResult {
    let request = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(call.text("prompt"))], 100);
    match call.context.peer.create_message(request).await {
        Ok(answer) => {
            let text = answer.message.content.first().and_then(|content| content.as_text());
            said(format!("LLM response: {}", text.map_or("(no text)", |content| content.text.as_str())))
        }
        Err(problem) => failed(format!("the model could not be asked: {problem}")),
    }
}

/// Asks the client for its roots.
pub(super) async fn roots(call: &Call<'_>) -> CallToolResult {
    match call.context.peer.list_roots().await {
        Ok(answer) => said(answer.roots.iter().map(|root| root.uri.as_str()).collect::<Vec<_>>().join("\n")),
        Err(problem) => failed(format!("the client did not tell its roots: {problem}")),
    }
}

/// Wants a name, in the way of revision 2026-07-28: the result says what is missing, and the call comes again with it.
pub(super) fn input(request: &CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
    let given = request.input_responses.as_ref().and_then(|responses| responses.get("name"));
    if let Some(name) = given.and_then(|answer| answer.pointer("/content/name")).and_then(|name| name.as_str()) {
        let state = request.request_state.as_deref().unwrap_or("(none)");
        return Ok(said(format!("hello, {name}; the state was {state}")).into());
    }
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let ask = json!({"method": "elicitation/create", "params": {"mode": "form", "message": "Who are you?", "requestedSchema": schema}});
    let wanted = json!({"resultType": "input_required", "inputRequests": {"name": ask}, "requestState": "first-round"});
    let result: InputRequiredResult = serde_json::from_value(wanted)
        .map_err(|problem| ErrorData::internal_error(format!("the question has no form: {problem}"), None))?;
    Ok(CallToolResponse::InputRequired(result))
}
