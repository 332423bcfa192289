//! The resources' contents.

use rmcp::model::{ErrorData, ReadResourceResult, ResourceContents};
use serde_json::json;

use crate::catalogue::IMAGE;
use crate::shared::Shared;

/// The content at an address.
///
/// # Errors
///
/// There is no such resource.
pub(super) fn read(shared: &Shared, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let text = |text: String| ResourceContents::text(text, uri).with_mime_type("text/plain");
    let contents = match uri {
        "test://static-text" => text("This is the content of the static text resource.".to_owned()),
        "test://static-binary" => ResourceContents::blob(IMAGE, uri).with_mime_type("image/png"),
        "test://watched-resource" => text(shared.document().text().to_owned()),
        "test://big" => text("x".repeat(1 << 20)),
        _ => {
            let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
            let Some(id) = id else {
                return Err(ErrorData::resource_not_found(format!("no resource `{uri}`"), Some(json!({ "uri": uri }))));
            };
            let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            ResourceContents::text(data.to_string(), uri).with_mime_type("application/json")
        }
    };
    Ok(ReadResourceResult::new(vec![contents]))
}
