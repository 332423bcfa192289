//! Phase enforcement inside of a Rust MCP server: two lines, and every call of every tool is decided before it runs, by the
//! configs of the project that the server works in (`.phasegate/`), with the journal and the state that `phasegate` itself
//! uses.
//!
//! ```no_run
//! use rmcp::{ServerHandler, ServiceExt};
//!
//! #[derive(Default)]
//! struct Notes;
//! impl ServerHandler for Notes {}
//!
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! let gate = phasegate_guard::from_environment("notes")?;
//! let server = gate.wrap(Notes::default()).serve(rmcp::transport::stdio()).await?;
//! server.waiting().await?;
//! # Ok(())
//! # }
//! ```
//!
//! `notes` is the name by which skill configs know the server's tools. The same gate wraps a handler for each session of a
//! server over HTTP; [`Gate`] says what else it can be told. A server that is not made with `rmcp` has [`project`] and the
//! layer in [`tower`].
//!
//! Where nothing guards the project, and nothing ever did, everything passes. Else a call that cannot be decided is denied.

use std::path::Path;
use std::sync::Arc;

use phasegate_adapter::Guard;
use phasegate_runtime::policy_store::Current;
use phasegate_runtime::{Locations, Project, Runtime};
use phasegate_service::ProjectGuard;

pub use phasegate_adapter::Problem;
pub use phasegate_mcp::in_process::{Gate, Guarded};
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
        .map_err(|error| Problem::new(phasegate_core::Code::StateUnreadable, format!("no current folder: {error}")))?;
    in_folder(server, &here)
}

/// The gate of the project that this folder lies in.
///
/// # Errors
///
/// As for [`from_environment`].
pub fn in_folder(server: &str, folder: &Path) -> Result<Gate, Problem> {
    let (runtime, project) = found(folder)?;
    let gate = Gate::new(Arc::new(ProjectGuard::new(runtime.clone(), project.clone())), server);
    // Configs with mistakes, or none that can be read, say nothing here; each call then meets the problem itself.
    Ok(match runtime.current(&project) {
        Ok(Current::Ready(ready)) => {
            let settings = &ready.settings.mcp;
            gate.hide_forbidden(settings.hide_forbidden).trusted(settings.trusted.contains(server))
        }
        _ => gate,
    })
}

/// The guard of the project that this folder lies in, for servers of any make.
///
/// # Errors
///
/// As for [`from_environment`].
pub fn project(folder: &Path) -> Result<Arc<dyn Guard>, Problem> {
    let (runtime, project) = found(folder)?;
    Ok(Arc::new(ProjectGuard::new(runtime, project)))
}

fn found(folder: &Path) -> Result<(Runtime, Project), Problem> {
    let runtime = Runtime::new(Locations::from_environment()?, phasegate_adapters::all());
    let project = Project::find(&runtime.locations, folder);
    Ok((runtime, project))
}
