//! Tools that answer with one kind of content each.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

use super::call::{Call, failed, said};
use crate::catalogue::{IMAGE, SOUND};

/// The answer, if the tool is one of these.
pub(super) fn answer(call: &Call<'_>) -> Option<CallToolResult> {
    let resource = |uri: &str, kind: &str, text: &str| {
        ContentBlock::resource(ResourceContents::text(text, uri).with_mime_type(kind))
    };
    let of = |content: Vec<ContentBlock>| Some(CallToolResult::success(content));
    match call.name {
        "test_simple_text" => Some(said("This is a simple text response for testing.")),
        "test_image_content" => of(vec![ContentBlock::image(IMAGE, "image/png")]),
        "test_audio_content" => of(vec![ContentBlock::audio(SOUND, "audio/wav")]),
        "test_embedded_resource" => {
            of(vec![resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")])
        }
        "test_multiple_content_types" => of(vec![
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(IMAGE, "image/png"),
            resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
        ]),
        "test_error_handling" => Some(failed("This tool intentionally returns an error for testing")),
        "json_schema_2020_12_tool" => Some(said(format!("hello, {}", call.text("name")))),
        _ => None,
    }
}
