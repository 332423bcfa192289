//! The list of tools for the client: with the guard's own tools and, on request, without those that the phase forbids.

use phasegate_adapter::guarded::{GuardedSession, every_call};
use phasegate_core::EventKind;
use phasegate_core::calls::tool::Labels;
use rmcp::model::{CacheScope, ListToolsResult, ServerCapabilities, ToolsCapability};
use serde_json::Value;

use crate::gate::Gate;
use crate::learned::Learned;
use crate::sync::lock;
use phasegate_mcp::message::own;

impl Gate {
    /// Notes what the server says of its tools, reports it, and makes the page what this client should see. `takes`: its
    /// tools take handles.
    pub(super) async fn list(&self, page: &mut ListToolsResult, first: bool, session: &GuardedSession, takes: bool) {
        if self.own_tools {
            page.tools.retain(|tool| !own::is_own(&tool.name));
        }
        let described: Vec<Value> =
            page.tools.iter().map(|tool| serde_json::to_value(tool).unwrap_or_default()).collect();
        lock(&self.shared.learned)
            .extend(page.tools.iter().map(|tool| (tool.name.clone().into_owned(), Learned::of(tool))));
        let seen = EventKind::Tools { server: self.shared.server.clone(), tools: described };
        // A guard that cannot work is met again at the first call, which it then denies.
        drop(self.shared.calls.give(session, seen).await);
        if self.hide_forbidden {
            self.hide(page, session).await;
            (page.ttl_ms, page.cache_scope) = (Some(0), Some(CacheScope::Private));
        }
        if self.own_tools && first {
            page.tools.extend(own::tools().into_iter().filter_map(|tool| serde_json::from_value(tool).ok()));
        }
        if takes {
            for tool in &mut page.tools {
                let mut described = serde_json::to_value(&*tool).unwrap_or_default();
                own::takes_handle(&mut described);
                if let Ok(declared) = serde_json::from_value(described) {
                    *tool = declared;
                }
            }
        }
    }

    async fn hide(&self, page: &mut ListToolsResult, session: &GuardedSession) {
        let server = Some(self.shared.server.as_str());
        let calls = page.tools.iter().map(|tool| every_call(&tool.name, server, self.labels(&tool.name))).collect();
        let mut forbidden = self.shared.calls.forbidden(session, calls).await.into_iter();
        page.tools.retain(|_| !forbidden.next().unwrap_or(false));
    }

    /// What a tool can do, if the server is believed.
    pub(super) fn labels(&self, tool: &str) -> Option<Labels> {
        if self.trusted {
            lock(&self.shared.learned).get(tool).and_then(|learned| learned.labels.clone())
        } else {
            None
        }
    }

    /// What the server can do, with what the gate adds.
    pub(super) fn widen(&self, capabilities: &mut ServerCapabilities) {
        if !self.own_tools && capabilities.tools.is_none() {
            return;
        }
        let tools = capabilities.tools.get_or_insert_with(ToolsCapability::default);
        if self.hide_forbidden {
            tools.list_changed = Some(true);
        }
    }
}
