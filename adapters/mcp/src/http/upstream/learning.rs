//! Reading the list of tools, to learn which arguments of a call headers repeat.

use serde_json::{Value, json};

use super::driver::Driver;
use super::response::kind;
use crate::message::id::Id;
use crate::message::object::Object;
use crate::message::{Kind, Message};

/// How many pages of the list of tools are read at most.
const MAX_PAGES: usize = 50;
/// The number of the error that says that headers and body differ.
const MISMATCH: i64 = -32020;

impl Driver {
    /// Where a call was refused because headers lack what they must repeat: reads the list of tools, so that it can be
    /// sent once more. Whether anything was learnt.
    pub(super) async fn learnt(&self, call: &Message, answer: &Message) -> bool {
        let error: Value = serde_json::from_slice(answer.content()).unwrap_or_default();
        if call.method() != Some("tools/call") || error.get("code").and_then(Value::as_i64) != Some(MISMATCH) {
            return false;
        }
        let before = self.parameters().of(call);
        let params = Object::read(call.content()).unwrap_or_default();
        let meta: Value = params.get("_meta").and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
        let mut cursor = None;
        for page in 0..MAX_PAGES {
            let Some(next) = self.page(&meta, cursor, page).await else { break };
            cursor = Some(next);
        }
        self.parameters().of(call) != before
    }

    /// Reads a page of the list; where the next one begins.
    async fn page(&self, meta: &Value, cursor: Option<String>, page: usize) -> Option<String> {
        let mut params = json!({"_meta": meta});
        if let (Some(params), Some(cursor)) = (params.as_object_mut(), cursor) {
            params.insert("cursor".into(), cursor.into());
        }
        let id = Id::Text(format!("phasegate-tools-{page}"));
        let text = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params}).to_string();
        let response = self.posted(&Message::read(text).ok()?, true).await.ok()?;
        if kind(&response).as_deref() != Some("application/json") {
            return None;
        }
        let answer = Message::read(response.bytes().await.ok()?).ok().filter(|answer| answer.kind() == Kind::Result)?;
        self.parameters().learn(answer.content());
        Object::read(answer.content()).ok()?.text("nextCursor")
    }
}
