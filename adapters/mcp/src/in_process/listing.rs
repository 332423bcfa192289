//! What the client is told of tools: the guard's own among them, and, where that is wanted, none that the phase forbids.

use phasegate_core::tool::{Labels, Reading};
use phasegate_core::{Event, EventKind};
use rmcp::model::{CacheScope, ListToolsResult, ServerCapabilities, Tool, ToolsCapability};
use serde_json::Value;

use super::sessions::Seat;
use super::{Gate, lock};
use crate::{call, own};

/// What the server says of a tool.
#[derive(Clone, Default)]
pub(super) struct Learned {
    /// What it can do, as its annotations say.
    pub(super) labels: Option<Labels>,
    /// Whether it declares a form for structured content.
    pub(super) declared: bool,
}

impl Learned {
    pub(super) fn of(tool: &Tool) -> Self {
        let described = serde_json::to_value(tool).unwrap_or_default();
        Self { labels: call::labels(&described), declared: tool.output_schema.is_some() }
    }
}

impl Gate {
    /// Notes what the server says of its tools, reports it, and makes the page what this client should see.
    pub(super) async fn list(&self, page: &mut ListToolsResult, first: bool, seat: &Seat) {
        if self.own_tools {
            page.tools.retain(|tool| !own::is_own(&tool.name));
        }
        let described: Vec<Value> =
            page.tools.iter().map(|tool| serde_json::to_value(tool).unwrap_or_default()).collect();
        lock(&self.shared.learned)
            .extend(page.tools.iter().map(|tool| (tool.name.clone().into_owned(), Learned::of(tool))));
        let seen = EventKind::Tools { server: self.shared.server.clone(), tools: described };
        // A guard that cannot work is met again at the first call, which it then denies.
        if self.shared.begin(seat).await.is_ok() {
            drop(self.shared.handle(seat, seen).await);
        }
        if self.hide_forbidden {
            self.hide(page, seat).await;
            (page.ttl_ms, page.cache_scope) = (Some(0), Some(CacheScope::Private));
        }
        if self.own_tools && first {
            page.tools.extend(own::tools().into_iter().filter_map(|tool| serde_json::from_value(tool).ok()));
        }
    }

    async fn hide(&self, page: &mut ListToolsResult, seat: &Seat) {
        let calls: Vec<Event> = page.tools.iter().map(|tool| seat.event(self.any_call(&tool.name))).collect();
        let Ok(answers) = self.shared.guard.probe(&seat.session, calls).await else { return };
        if answers.len() == page.tools.len() {
            let mut answers = answers.into_iter();
            page.tools.retain(|_| answers.next().is_none_or(|decision| decision.lets_through()));
        }
    }

    /// What stands for every call of a tool.
    fn any_call(&self, tool: &str) -> EventKind {
        EventKind::ToolCall {
            id: None,
            tool: tool.to_owned(),
            native: None,
            server: Some(self.shared.server.clone()),
            input: Value::Null,
            labels: self.labels(tool),
            background: false,
            reading: Reading::default(),
        }
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
