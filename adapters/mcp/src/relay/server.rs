//! A server behind the relay, and what is known of its tools.

use std::sync::Mutex;

use phasegate_core::calls::tool::Labels;
use serde_json::{Map, Value};
use tokio::sync::mpsc::Sender;

use super::listed_tools::ListedTools;
use crate::message::tool_call;
use crate::sync::lock;
use crate::wire::link::Routed;

/// What stands between the name of a server and that of its tool, where the relay has several servers.
pub(super) const NAME_SEPARATOR: &str = "__";

/// A server, as the relay sees it.
pub(super) struct Server {
    /// The name as policies and hosts write it.
    pub(super) name: String,
    pub(super) trusted: bool,
    /// Why there is no connection to it.
    pub(super) trouble: Option<String>,
    to: Mutex<Option<Sender<Routed>>>,
    /// What it said that it can do.
    pub(super) capabilities: Mutex<Option<Map<String, Value>>>,
    /// What is known of its tools, by their own names.
    pub(super) tools: Mutex<ListedTools>,
    /// What the list of its tools has said so far, page by page, since its first one.
    pub(super) listed: Mutex<ListedTools>,
}

/// What is known of a tool.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// What it can do, if its server is trusted and says so.
    pub(super) labels: Option<Labels>,
    /// Whether it declares the form of `structuredContent`.
    pub(super) declared: bool,
}

impl Server {
    pub(super) fn new(name: String, trusted: bool, to: Sender<Routed>, trouble: Option<String>) -> Self {
        Self {
            name: tool_call::server_name(&name),
            trusted,
            trouble,
            to: Mutex::new(Some(to)),
            capabilities: Mutex::default(),
            tools: Mutex::default(),
            listed: Mutex::default(),
        }
    }

    /// What is known of this tool.
    pub(super) fn known(&self, tool: &str) -> Known {
        let tools = lock(&self.tools);
        let Some(listed) = tools.get(tool) else { return Known::default() };
        let labels = listed.labels.clone().filter(|_| self.trusted);
        Known { labels, declared: listed.declared }
    }

    /// Where messages to it go; `None` once it is closed.
    pub(super) fn sender(&self) -> Option<Sender<Routed>> {
        lock(&self.to).clone()
    }

    /// Lets no more be sent to it.
    pub(super) fn close(&self) {
        lock(&self.to).take();
    }
}
