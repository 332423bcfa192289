//! What the settings of all levels say together of MCP servers.

use std::collections::{BTreeMap, BTreeSet};

use phasegate_core::policy::ChangedTools;
use serde::{Deserialize, Serialize};

use crate::source::mcp::McpSource;

/// What holds for MCP servers, beside what the policy says of their tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mcp {
    /// Whether tools that the current phase forbids are left out of lists: some level says so.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub hide_forbidden: bool,
    /// The servers whose annotations are believed: some level says so, and none says otherwise.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub trusted: BTreeSet<String>,
}

/// The settings of all levels combined. For calls of changed tools the strictest level wins.
pub(crate) fn combine<'s>(levels: impl Iterator<Item = &'s McpSource>) -> (Mcp, ChangedTools) {
    let (mut hide_forbidden, mut changed) = (false, ChangedTools::default());
    let mut servers: BTreeMap<&str, bool> = BTreeMap::new();
    for level in levels {
        hide_forbidden |= level.hide_forbidden == Some(true);
        changed = changed.max(level.changed_tools.unwrap_or(changed));
        for (name, server) in &level.servers {
            if let Some(trusted) = server.trust_annotations {
                servers.entry(name).and_modify(|all| *all &= trusted).or_insert(trusted);
            }
        }
    }
    let trusted = servers.into_iter().filter(|(_, trusted)| *trusted).map(|(name, _)| name.to_string()).collect();
    (Mcp { hide_forbidden, trusted }, changed)
}
