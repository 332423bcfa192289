//! Pinning: what a server's description of its tools changes, and the acceptance of a changed tool.

use alloc::collections::BTreeSet;

use serde_json::Value;

use crate::prelude::*;
use crate::state::Project;
use crate::state::change::{Change, SeenTool};
use crate::state::pins::{PINNED, PREFIX, Pin, approval_name};

/// What is new in a server's list of tools: a new tool is pinned, one that differs from its pin is noted. A tool that
/// is described twice, once differing from its pin, differs: a client may use either description.
pub(crate) fn seen(project: &Project, server: &str, tools: &[Value]) -> Option<Change> {
    let known = project.servers.get(server);
    let mut pins = known.cloned().unwrap_or_default();
    let (mut differing, mut seen) = (BTreeSet::new(), Vec::new());
    for tool in tools {
        let text = |key: &str| tool.get(key).and_then(Value::as_str);
        let (Some(name), Some(sha256)) = (text("name"), text("sha256")) else { continue };
        let full = pins.len() >= PINNED;
        let pin = match pins.get(name) {
            None if full => continue,
            None => Pin { sha256: sha256.to_string(), changed: None },
            Some(pin) => {
                let changed = (pin.sha256 != sha256).then(|| sha256.to_string());
                match changed {
                    Some(_) => drop(differing.insert(name)),
                    None if differing.contains(name) => continue,
                    None => {}
                }
                Pin { sha256: pin.sha256.clone(), changed }
            }
        };
        if pins.get(name) != Some(&pin) {
            let Pin { sha256, changed } = pin.clone();
            seen.push(SeenTool { name: name.to_string(), sha256, changed });
            pins.insert(name.to_string(), pin);
        }
    }
    let is_new = known.is_none() || !seen.is_empty();
    is_new.then(|| Change::ToolsSeen { server: server.to_string(), tools: seen })
}

/// The acceptance of a changed tool as it is now, if the name that is approved is one's. `None`: it is not the name of a
/// tool. `Some(None)`: no tool of that name has changed.
pub(crate) fn accept(project: &Project, approved: &str) -> Option<Option<Change>> {
    if !approved.starts_with(PREFIX) {
        return None;
    }
    let mut all = project
        .servers
        .iter()
        .flat_map(|(server, pins)| pins.iter().map(move |(tool, pin)| Named { server, tool, pin }));
    let found = all.find(|named| named.pin.changed.is_some() && approval_name(named.server, named.tool) == approved);
    Some(found.map(|named| Change::ToolAccepted { server: named.server.clone(), tool: named.tool.clone() }))
}

/// A pin, and what it is the pin of.
struct Named<'a> {
    server: &'a String,
    tool: &'a String,
    pin: &'a Pin,
}
