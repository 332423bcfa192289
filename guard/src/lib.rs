//! Phase enforcement inside a Rust MCP server. Two lines put the guard of the server's project before every call of every
//! tool. The guard decides by the configs of that project (`.phasegate/`), and keeps its journal where `phasegate` itself
//! does.
//!
//! A whole server, guarded, and a client that calls it:
//!
//! ```
//! use phasegate_guard::{Locations, with_locations};
//! use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock};
//! use rmcp::service::RequestContext;
//! use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
//! use serde_json::{Map, json};
//!
//! /// A server whose tools all succeed.
//! struct Notes;
//!
//! impl ServerHandler for Notes {
//!     async fn call_tool(
//!         &self,
//!         request: CallToolRequestParams,
//!         _context: RequestContext<RoleServer>,
//!     ) -> Result<CallToolResponse, ErrorData> {
//!         Ok(CallToolResult::success(vec![ContentBlock::text(format!("ran {}", request.name))]).into())
//!     }
//! }
//!
//! /// The agent searches before it deletes.
//! const SKILL: &str = "
//! skill: tidy-notes
//! description: Search before you delete.
//! mode: block
//! servers: [notes]
//! phases:
//!   search: { allowed: [search_notes], forbidden: [delete_note], done_when: { ok: search_notes } }
//!   delete: { allowed: [delete_note] }
//! ";
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let folder = tempfile::tempdir()?;
//!     let project = folder.path().join("project");
//!     std::fs::create_dir_all(project.join(".phasegate/skills"))?;
//!     std::fs::write(project.join(".phasegate/skills/tidy-notes.yaml"), SKILL)?;
//!
//!     // The two lines. A real server says `phasegate_guard::from_environment("notes")?`, and serves standard input and
//!     // output; this one keeps its state in a folder of its own, and serves a client in the same process.
//!     let home = |name: &str| (name == "HOME").then(|| folder.path().into());
//!     let gate = with_locations("notes", &project, Locations::from_variables(home)?);
//!     let guarded = gate.wrap(Notes);
//!
//!     let (here, there) = tokio::io::duplex(4096);
//!     let server = tokio::spawn(async move { guarded.serve(there).await });
//!     let client = ().serve(here).await?;
//!     let call = |tool: &'static str| client.call_tool(CallToolRequestParams::new(tool));
//!
//!     let skill = Map::from_iter([("skill_name".to_owned(), json!("tidy-notes"))]);
//!     client.call_tool(CallToolRequestParams::new("activate_skill").with_arguments(skill)).await?;
//!     let early = call("delete_note").await?;
//!     assert_eq!(early.is_error, Some(true));
//!     println!("{}", early.content[0].as_text().unwrap().text); // the reason, and what to call first
//!     assert_eq!(call("search_notes").await?.is_error, Some(false));
//!     assert_eq!(call("delete_note").await?.is_error, Some(false));
//!
//!     client.cancel().await?;
//!     server.await??.waiting().await?;
//!     Ok(())
//! }
//! ```
//!
//! `notes` is the name by which skill configs know the server's tools. One gate wraps a handler for each session of a
//! server over HTTP; [`Gate`] has its options. A server that is not built with `rmcp` uses [`project`] and the layer in
//! [`tower`].
//!
//! Whose call it is: over standard input and output (and any transport that is not HTTP), the session of the guarded client
//! that started the process, if it is one, else the connection's own. Over HTTP, the protocol's session where there is one;
//! else the session of the principal, which goes on when the server is started anew. With [`Gate::handles`], a handle that
//! the call carries names another. No call is judged in a session that belongs to another.
//!
//! Where nothing guards the project, and nothing ever did, everything passes. Else a call that cannot be decided is denied.

mod sync;
mod learned;
mod sessions;
mod gate;
mod deciding;
mod listing;
mod own_tools;
mod guarded;
mod handler;

use std::path::Path;
use std::sync::Arc;

use phasegate_runtime::policies::policy_store::Current;
use phasegate_runtime::{Project, Runtime};
use phasegate_service::ProjectGuard;

pub use gate::Gate;
pub use guarded::Guarded;
pub use phasegate_adapter::{Guard, Problem};
pub use phasegate_core::Code;
pub use phasegate_runtime::Locations;
/// The layer over tool calls, for servers of any make.
pub use phasegate_tower as tower;

/// The gate of the project that the current folder lies in, with its settings (`mcp:`). `server` is the name by which skill
/// configs know the server's tools.
///
/// # Errors
///
/// `state-unreadable`: no folder for the state is known, or there is no current folder.
pub fn from_environment(server: &str) -> Result<Gate, Problem> {
    let here = std::env::current_dir()
        .map_err(|error| Problem::new(Code::StateUnreadable, format!("no current folder: {error}")))?;
    in_folder(server, &here)
}

/// The gate of the project that this folder lies in.
///
/// # Errors
///
/// As for [`from_environment`].
pub fn in_folder(server: &str, folder: &Path) -> Result<Gate, Problem> {
    Ok(with_locations(server, folder, Locations::from_environment()?))
}

/// The gate of the project that this folder lies in, with state and configs of the user at these locations.
#[must_use]
pub fn with_locations(server: &str, folder: &Path, locations: Locations) -> Gate {
    let (runtime, project) = found(folder, locations);
    let gate = Gate::new(Arc::new(ProjectGuard::new(runtime.clone(), project.clone())), server);
    // Configs with mistakes, or none that can be read, say nothing here; each call then meets the problem itself.
    match runtime.current(&project) {
        Ok(Current::Ready(ready)) => {
            let settings = &ready.settings.mcp;
            gate.hide_forbidden(settings.hide_forbidden).trusted(settings.trusted.contains(server))
        }
        _ => gate,
    }
}

/// The guard of the project that this folder lies in, for servers of any make: [`tower`] has the layer for it.
///
/// # Errors
///
/// As for [`from_environment`].
pub fn project(folder: &Path) -> Result<Arc<dyn Guard>, Problem> {
    Ok(project_with_locations(folder, Locations::from_environment()?))
}

/// The guard of the project that this folder lies in, with state and configs of the user at these locations.
#[must_use]
pub fn project_with_locations(folder: &Path, locations: Locations) -> Arc<dyn Guard> {
    let (runtime, project) = found(folder, locations);
    Arc::new(ProjectGuard::new(runtime, project))
}

fn found(folder: &Path, locations: Locations) -> (Runtime, Project) {
    let runtime = Runtime::new(locations, phasegate_adapters::all());
    let project = Project::find(&runtime.locations, folder);
    (runtime, project)
}
