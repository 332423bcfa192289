//! The prompts' messages.

use rmcp::model::{
    ContentBlock, ErrorData, GetPromptRequestParams, GetPromptResult, PromptMessage, ResourceContents, Role,
};

use crate::catalogue::IMAGE;

/// The messages of a prompt.
///
/// # Errors
///
/// There is no such prompt.
pub(super) fn get(request: &GetPromptRequestParams) -> Result<GetPromptResult, ErrorData> {
    let argument = |name: &str| {
        let value = request.arguments.as_ref().and_then(|arguments| arguments.get(name));
        value.and_then(|value| value.as_str()).unwrap_or_default().to_owned()
    };
    let user = |content: ContentBlock| PromptMessage::new(Role::User, content);
    let messages = match request.name.as_ref() {
        "test_simple_prompt" => vec![user(ContentBlock::text("This is a simple prompt for testing."))],
        "test_prompt_with_arguments" => {
            let text = format!("Prompt with arguments: arg1='{}', arg2='{}'", argument("arg1"), argument("arg2"));
            vec![user(ContentBlock::text(text))]
        }
        "test_prompt_with_embedded_resource" => {
            let text = ResourceContents::text("Embedded resource content for testing.", argument("resourceUri"));
            vec![
                user(ContentBlock::resource(text.with_mime_type("text/plain"))),
                user(ContentBlock::text("Please process the embedded resource above.")),
            ]
        }
        "test_prompt_with_image" => vec![
            user(ContentBlock::image(IMAGE, "image/png")),
            user(ContentBlock::text("Please analyze the image above.")),
        ],
        other => return Err(ErrorData::invalid_params(format!("no prompt `{other}`"), None)),
    };
    Ok(GetPromptResult::new(messages))
}
