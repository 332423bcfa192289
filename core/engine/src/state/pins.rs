//! Pinned tools: a server's tool is what it was when it was first seen, or a person has looked at it (rules 4.4).
//!
//! A server can change what a tool says of itself, to the model and to the rules, after a person came to trust it.

use alloc::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::prelude::*;
use crate::shell::safety::REGISTER;

/// The most tools of one server that are pinned; a tool beyond them counts as changed.
pub const PINNED: usize = 4096;

/// The tool by which an agent asks about skills and their runs, and ends or halts one.
pub const MANAGE: &str = "manage_skill";

/// What that tool does, each with its effect.
pub const ACTIONS: [(&str, &str); 8] = [
    ("list", "the skills of this project"),
    ("show", "the phases of a skill"),
    ("next", "what to do now"),
    ("branch", "the runs that a phase consists of"),
    ("complete", "end a run that is done, and list what its phases left"),
    ("halt", "have your run stand still until a person resumes it; give a reason"),
    ("resume", "what to do now, after an interruption"),
    ("status", "where each live run stands"),
];

/// The tools that may be called of every server that a proxy of ours serves, beside the server's own.
pub const OWN_TOOLS: [&str; 5] = ["activate_skill", "deactivate_skill", "get_skill_phase", MANAGE, REGISTER];

/// The name under which hosts know a proxy that stands for several servers, or for none.
pub const OWN_SERVER: &str = "phasegate";

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

/// What a name begins with that approves a tool.
pub(crate) const PREFIX: &str = "tool:";

/// The name by which a person accepts a tool.
pub fn approval_name(server: &str, tool: &str) -> String {
    format!("{PREFIX}{server}/{tool}")
}
