//! MCP: its messages as events, decisions as its answers, and a relay that stands before any server.
//!
//! Without a feature this crate is the adapter alone, which is pure. `proxy` adds the relay and stdio.

pub mod id;
pub mod object;
pub mod strict;
pub mod message;
pub mod call;
pub mod outcome;
pub mod events;
pub mod own;
pub mod denial;
mod frame;
mod pairing;
mod decode;
pub mod encode;
mod install;
mod examine;
mod limits;
#[cfg(any(feature = "proxy", feature = "rmcp"))]
mod sync;
#[cfg(feature = "proxy")]
pub mod link;
#[cfg(feature = "proxy")]
pub mod options;
#[cfg(feature = "proxy")]
pub mod relay;
#[cfg(feature = "proxy")]
mod lines;
#[cfg(feature = "proxy")]
pub mod stdio;
#[cfg(feature = "proxy")]
pub mod proxy;
#[cfg(feature = "proxy")]
pub mod config;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "rmcp")]
pub mod in_process;
#[cfg(feature = "interceptor")]
pub mod interceptor;

use phasegate_adapter::{
    Ability, Adapter, Address, Capabilities, Change, Decoded, ExamineRequest, Examined, Frame, InstallRequest, Limit,
    Memory, Places, Problem, Registered, Reply,
};
use phasegate_core::Outcome;

pub use id::Id;
pub use message::{Kind, Malformed, Message};

/// The MCP adapter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mcp;

inventory::submit!(Registered(&Mcp));

impl Adapter for Mcp {
    fn id(&self) -> &'static str {
        "mcp"
    }

    fn name(&self) -> &'static str {
        "MCP"
    }

    fn versions(&self) -> &'static [&'static str] {
        &["2026-07-28", "2025-11-25"]
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            deny: Ability::Yes,
            ask: Ability::No("a call that a person must be asked about is denied, and the text says whom to ask"),
            rewrite: Ability::No("a call goes on as the client wrote it"),
            inject_context: Ability::Partly(
                "a warning is added to the answer of its call; there is no prompt to add to, and `get_skill_phase` says the rest",
            ),
            hide_tools: Ability::Partly(
                "with `hide_forbidden`; a client that keeps its list until it starts again still shows the tool, and the call is denied",
            ),
            see_builtin_tools: Ability::No(
                "the host's own tools do not pass here; the host's adapter in the same project enforces them, and `get_skill_phase` \
                 names them",
            ),
            see_subagents: Ability::No(
                "a server is not told which agent calls; all calls of a session count as one agent's",
            ),
            fail_closed: Ability::Yes,
        }
    }

    fn address(&self, frame: &Frame) -> Result<Address, Problem> {
        let (seen, _) = frame::read(frame)?;
        let event = seen.message.as_ref().map_or("closed", |message| message.method().unwrap_or("answer")).to_owned();
        Ok(Address { session: seen.session, cwd: None, event })
    }

    fn decode(&self, frame: &Frame, memory: &Memory) -> Result<Decoded, Problem> {
        decode::decode(frame, memory)
    }

    fn encode(&self, frame: &Frame, steps: &[Outcome]) -> Reply {
        encode::encode(frame, steps)
    }

    fn refuse(&self, frame: &Frame, problem: &Problem) -> Reply {
        encode::refuse(frame, problem)
    }

    fn warn(&self, _frame: &Frame, problem: &Problem) -> Reply {
        encode::warn(problem)
    }

    fn places(&self) -> Places {
        Places { settings: install::places(), signs: vec![".mcp.json"], ..Places::default() }
    }

    fn install(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
        install::install(request, &[])
    }

    fn install_parts(&self, request: &InstallRequest, parts: &[String]) -> Result<Vec<Change>, Problem> {
        install::install(request, parts)
    }

    fn uninstall(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
        install::uninstall(request)
    }

    fn unguarded(&self, request: &InstallRequest) -> Option<String> {
        examine::unguarded(request)
    }

    fn limits(&self) -> &'static [Limit] {
        &limits::LIMITS
    }

    fn examine(&self, request: &ExamineRequest) -> Examined {
        examine::examine(request)
    }
}
