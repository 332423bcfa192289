//! Pinned tools: a server's tool is what it was when it was first seen, or a person has looked at it (rules 4.4).
//!
//! A server can change what a tool says of itself, to the model and to the rules, after a person came to trust it.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::change::{Change, SeenTool};
use crate::code::Code;
use crate::decision::{Decision, Effect, Gate};
use crate::policy::{ChangedTools, Policy};
use crate::state::{Project, State};
use crate::tool::Call;

/// The most tools of one server that are pinned; a tool beyond them counts as changed.
pub const PINNED: usize = 4096;

/// The tools that may be called of every server that a proxy of ours serves, beside the server's own.
pub const OWN_TOOLS: [&str; 3] = ["activate_skill", "deactivate_skill", "get_skill_phase"];

/// The name under which hosts know a proxy that stands for several servers, or for none.
const OWN_SERVER: &str = "phasegate";

/// What a tool was when it was first seen, or last accepted by a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// The digest of its description, as 64 hexadecimal digits.
    pub sha256: String,
    /// The digest of the description that its server gives now, where it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
}

/// The pins of all servers: by the server's name, then by the tool's.
pub type Pins = BTreeMap<String, BTreeMap<String, Pin>>;

/// What is new in what a server says of its tools: a tool that is new is pinned, one that differs is noted. One that is
/// described twice, and once otherwise than it was pinned, differs: a client may take either description.
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

/// The answer to a call of a tool that changed since it was pinned; `None` for every other call.
pub(crate) fn judge(policy: &Policy, state: &State, call: &Call) -> Option<Decision> {
    let server = call.tool.server.as_deref()?;
    let pins = state.project.servers.get(server)?;
    let same = match pins.get(&call.tool.name) {
        Some(pin) => pin.changed.is_none(),
        None => pins.len() < PINNED,
    };
    if same {
        return None;
    }
    let effect = match policy.changed_tools {
        ChangedTools::Report => Effect::Warn,
        ChangedTools::Deny => Effect::Deny,
    };
    let name = &call.tool.name;
    let reason = format!("server `{server}` describes {name} otherwise than when it was first seen");
    let mut decision = Decision::problem(effect, Gate::Pin, Code::ToolChanged, reason);
    decision.tool.clone_from(name);
    decision.recovery = format!(
        "Ask the user to look at the tool and to accept it: `phasegate approve {}`.",
        approval_name(server, name)
    );
    Some(decision)
}

/// The acceptance of a changed tool as it is now, if the name that is approved is one's. `None`: it is not the name of a
/// tool.
pub(crate) fn accept(project: &Project, approved: &str) -> Option<Result<Change, String>> {
    if !approved.starts_with(PREFIX) {
        return None;
    }
    let mut all = project
        .servers
        .iter()
        .flat_map(|(server, pins)| pins.iter().map(move |(tool, pin)| Named { server, tool, pin }));
    let found = all.find(|named| named.pin.changed.is_some() && approval_name(named.server, named.tool) == approved);
    Some(match found {
        Some(named) => Ok(Change::ToolAccepted { server: named.server.clone(), tool: named.tool.clone() }),
        None => Err(format!("no tool `{approved}` has changed")),
    })
}

/// A pin, and what it is the pin of.
struct Named<'a> {
    server: &'a String,
    tool: &'a String,
    pin: &'a Pin,
}

/// Whether a host's call is one of our own tools, which our proxy decides as a command when the call reaches it.
pub(crate) fn is_own(state: &State, call: &Call) -> bool {
    let Some(server) = call.tool.server.as_deref() else { return false };
    OWN_TOOLS.contains(&call.tool.name.as_str()) && (server == OWN_SERVER || state.project.servers.contains_key(server))
}

/// What a name begins with that approves a tool.
const PREFIX: &str = "tool:";

/// The name by which a person accepts a tool.
pub(crate) fn approval_name(server: &str, tool: &str) -> String {
    format!("{PREFIX}{server}/{tool}")
}
