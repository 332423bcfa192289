//! MCP: its messages as events, decisions as its answers, and a relay that stands before any server.
//!
//! Without a feature this crate is the adapter alone, which is pure. `proxy` adds the relay and stdio.

pub mod wire;
pub use phasegate_adapter::strict;
pub mod message;
pub mod outcome;
pub mod events;
pub mod denial;
#[cfg(feature = "proxy")]
pub mod encode;
mod install;
mod examine;
mod limits;
#[cfg(feature = "proxy")]
mod sync;
#[cfg(feature = "proxy")]
pub mod options;
#[cfg(feature = "proxy")]
pub mod relay;
#[cfg(feature = "proxy")]
pub mod proxy;
#[cfg(feature = "proxy")]
pub mod config;
#[cfg(feature = "http")]
pub mod http;

use std::path::Path;

use phasegate_adapter::{
    Ability, Adapter, Capabilities, Change, ClientProgram, Codec, Diagnostics, ExamineRequest, Examined,
    InstallRequest, Installer, Limit, NoFrames, Parts, Places, Problem, Registered,
};

pub use message::id::Id;
pub use message::{Kind, Malformed, Message};

/// The MCP adapter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mcp;

inventory::submit!(Registered(&Mcp));

/// MCP messages reach the guard through the relay, or inside a server.
const NO_FRAMES: NoFrames = NoFrames { instead: "MCP has no hooks; `phasegate mcp proxy` guards its servers" };

/// The versions that the adapter was recorded with, newest first.
const VERSIONS: &[&str] = &["2026-07-28", "2025-11-25"];

impl Adapter for Mcp {
    fn id(&self) -> &str {
        "mcp"
    }

    fn name(&self) -> &str {
        "MCP"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            deny: Ability::Yes,
            ask: Ability::partly(
                "a client that offers elicitation asks its user; else the call is denied, and the text says whom to ask",
            ),
            rewrite: Ability::no("the relay forwards a call as the client sent it"),
            inject_context: Ability::partly(
                "a warning is added to the answer of its call; there is no prompt to extend, and \
                   `get_skill_phase` gives the rest",
            ),
            hide_tools: Ability::partly(
                "with `hide_forbidden`; a client that caches its list until a restart still shows the tool, \
                   and the call is denied",
            ),
            see_builtin_tools: Ability::no(
                "the host's own tools do not use MCP; the host's adapter in the same project enforces them, \
                   and `get_skill_phase` names them",
            ),
            see_subagents: Ability::no(
                "a server does not know which agent calls; all calls of a session count as one agent's",
            ),
            fail_closed: Ability::Yes,
        }
    }

    fn codec(&self) -> &dyn Codec {
        &NO_FRAMES
    }

    fn installer(&self) -> &dyn Installer {
        self
    }

    fn diagnostics(&self) -> &dyn Diagnostics {
        self
    }
}

impl Installer for Mcp {
    fn places(&self) -> Places {
        let unseen = install::UNSEEN.map(str::to_owned).into();
        // The client itself notes there which projects a person trusts.
        let changed_by_client = vec!["~/.codex/config.toml".to_owned()];
        let signs = vec![".mcp.json".to_owned()];
        Places { settings: install::places(), unseen, changed_by_client, signs, ..Places::default() }
    }

    fn programs(&self) -> &'static [ClientProgram] {
        install::PROGRAMS
    }

    fn install(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
        install::install(request, &Parts::default())
    }

    fn install_parts(&self, request: &InstallRequest, parts: &Parts) -> Result<Vec<Change>, Problem> {
        install::install(request, parts)
    }

    fn uninstall(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
        install::uninstall(request)
    }

    fn by_name(&self) -> bool {
        true
    }

    /// Clients look for their list of servers in the project's root.
    fn project_folder<'a>(&self, root: &'a Path, _start: &'a Path) -> &'a Path {
        root
    }

    fn unguarded(&self, request: &InstallRequest) -> Option<String> {
        examine::unguarded(request)
    }
}

impl Diagnostics for Mcp {
    fn versions(&self) -> Vec<String> {
        VERSIONS.iter().map(|version| (*version).to_owned()).collect()
    }

    fn examine(&self, request: &ExamineRequest) -> Examined {
        examine::examine(request)
    }

    fn limits(&self) -> Vec<Limit> {
        limits::limits()
    }
}
