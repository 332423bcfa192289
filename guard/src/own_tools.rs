//! Calls of the guard's own tools.

use phasegate_adapter::Problem;
use phasegate_adapter::guarded::GuardedSession;
use phasegate_core::Code;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject};
use serde_json::{Value, json};

use crate::deciding::{answer, moved, parsed};
use crate::gate::{Gate, Shared};
use crate::sync::lock;
use phasegate_mcp::denial::{self, Form};
use phasegate_mcp::message::own::{self, HANDLE_ARGUMENT as ARGUMENT, HANDLE_META as META};
use phasegate_mcp::message::tool_call::Call;

/// The tool that begins a skill.
pub(super) const ACTIVATE: &str = "activate_skill";

impl Gate {
    /// Answers a call of an own tool, and says whether a run began, moved or ended. `handle` is that of a session which
    /// begins with this call.
    pub(super) async fn own(
        &self,
        call: &Call,
        session: &GuardedSession,
        handle: Option<&str>,
    ) -> (CallToolResult, bool) {
        let form = Form { modern: call.modern, declared: false };
        let step = self.shared.calls.give(session, own::command(call)).await;
        let unguarded = || Problem::new(Code::PolicyMissing, "no config guards this project");
        match step.and_then(|step| step.ok_or_else(unguarded)) {
            Ok(step) => {
                let result = parsed(&own::result(&step, form));
                let unread = || CallToolResult::error(vec![ContentBlock::text("the answer cannot be written")]);
                let result = result.unwrap_or_else(unread);
                (told(result, handle), moved(&step))
            }
            Err(problem) => (answer(&denial::problem(&call.name, &problem), form), false),
        }
    }
}

/// The answer with the handle in it: for programs, and for the agent in words. A failure began no session.
fn told(mut result: CallToolResult, handle: Option<&str>) -> CallToolResult {
    let Some(handle) = handle.filter(|_| result.is_error != Some(true)) else { return result };
    let words = format!(
        "The skill holds for the session `{handle}`. Pass it with every call of that session: as the argument `{ARGUMENT}`, \
         unless the client passes it in `_meta` as `{META}`."
    );
    result.content.push(ContentBlock::text(words));
    let mut meta = result.meta.take().map_or_else(JsonObject::new, |meta| meta.0);
    meta.insert(META.to_owned(), json!(handle));
    result.meta = Some(MetaObject(meta));
    if let Some(Value::Object(fields)) = &mut result.structured_content {
        fields.insert("session".to_owned(), json!(handle));
    }
    result
}

impl Shared {
    /// Tells those who listen in this session that the list of tools is another one now.
    pub(super) async fn announce(&self, session: &str) {
        let sinks: Vec<_> = lock(&self.listeners).iter().filter(|(of, _)| of == session).cloned().collect();
        for (_, sink) in sinks {
            // A listener that is gone needs no notice.
            drop(sink.notify_tool_list_changed().await);
        }
    }
}
