//! What the caller hands in: config texts with their names and levels.

use std::collections::{BTreeMap, BTreeSet};

use phasegate_core::calls::tool::same_server;
use serde::{Deserialize, Serialize};

/// Whose config a text is. A higher level hides a lower one's skill of the same name; strictness combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// The project's.
    Project,
    /// The user's.
    User,
    /// The machine's.
    Machine,
}

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// `config.yaml`: mode, `use`, what holds for every skill.
    Settings,
    /// A skill config of its own, YAML or JSON.
    Skill,
    /// A `SKILL.md`, whose front matter may hold `tool_permissions`.
    SkillMd,
    /// A text that configs of its level may name.
    Prompt,
    /// A format of artifacts, or a JSON Schema, that configs of its level may name.
    Format,
    /// Rules over calls, in Cedar.
    Rules,
    /// The facts that the rules of the file beside it read.
    Facts,
}

/// A config text with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// The path as shown in diagnostics.
    pub path: String,
    /// The text.
    pub text: String,
    /// Whose it is.
    pub level: Level,
    /// What it is.
    pub kind: Kind,
}

/// What to do where relays do not share a session.
pub const TOGETHER: &str = "list these servers behind one relay, `phasegate mcp proxy --config FILE`, or have the client start `phasegate` itself \
                            for each";

/// What is known of MCP servers.
#[derive(Clone, Debug, Default)]
pub struct KnownServers {
    /// The tools that relays have seen, by the server's name; none of a server that only a client's settings define.
    pub tools: BTreeMap<String, BTreeSet<String>>,
    /// Whether there is no other server, as far as a client or a relay of the project knows.
    pub all: bool,
    /// Why the relay of a server may have a session of its own, as a sentence without a full stop, by the server's name.
    pub apart: BTreeMap<String, String>,
}

/// What is known of the project that configs are for.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Its MCP servers.
    pub servers: KnownServers,
    /// The names in its folders, by the folder's path (`src/app`; the root is the empty text). A folder that is not listed
    /// is not known.
    pub folders: BTreeMap<String, BTreeSet<String>>,
    /// The names in the root of the file system; `None` where nobody looked.
    pub system: Option<BTreeSet<String>>,
    /// Its root, as an absolute path; empty where it is not known.
    pub root: String,
    /// The types of subagents that files of the project or of the user define; `None` where nobody looked.
    pub agents: Option<BTreeSet<String>>,
    /// The names of the skills that clients and configs of the project or of the user have; `None` where nobody looked.
    pub skills: Option<BTreeSet<String>>,
}

impl KnownServers {
    /// Whether there is a server of this name.
    pub fn has(&self, server: &str) -> bool {
        self.tools.keys().any(|known| same_server(known, server))
    }

    /// Why the relay of a server may have a session of its own, where a skill that names it names others, too.
    pub fn apart(&self, server: &str, named: usize) -> Option<&str> {
        let (_, why) = self.apart.iter().find(|(known, _)| named > 1 && same_server(known, server))?;
        Some(why)
    }
}
