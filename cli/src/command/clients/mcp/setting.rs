//! What a relay works with.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use phasegate_adapter::guarded::Held;
use phasegate_adapter::{Guard, current_session};
use phasegate_config::KnownServers;
use phasegate_core::calls::tool::same_server;
use phasegate_core::policy::{Policy, Skill};
use phasegate_mcp::options::{Options, Session};
use phasegate_mcp::proxy::{Spec, over_stdio};
use phasegate_mcp::relay::Ended;
use phasegate_runtime::policies::policy_store::Current;
use phasegate_runtime::processes::ancestors::own_ancestors;
use phasegate_service::ProjectGuard;

use crate::args::ModeArg;
use crate::command::runs::start::known;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// What holds for clients that activate nothing: the skills in force, and where events are written.
#[derive(Debug, clap::Args)]
pub struct InForce {
    /// A skill that each session has in force from its first message on; may be given several times
    #[arg(long = "skill", value_name = "NAME")]
    pub skills: Vec<String>,
    /// The mode of those skills; never less strict than the configs require
    #[arg(long, requires = "skills")]
    pub mode: Option<ModeArg>,
    /// Also write audit events to this file, besides `audit_log` in a config; relative to the project
    #[arg(long, value_name = "PATH")]
    pub audit_log: Option<PathBuf>,
}

/// What a relay works with.
pub(crate) struct Setting {
    pub(crate) guard: Arc<dyn Guard>,
    pub(crate) options: Options,
}

impl Setting {
    /// The guard of the project and its settings, with trusted servers marked. If the settings cannot be read, no
    /// server is trusted, and every call is denied with the reason.
    ///
    /// # Errors
    ///
    /// A skill that is to be in force is not known, or nothing guards the project.
    pub(crate) fn of(context: &Context, specs: &mut [Spec], in_force: &InForce) -> Result<Self, Failure> {
        let mut runtime = context.runtime()?;
        runtime.audit_log.clone_from(&in_force.audit_log);
        let project = context.find_project(&runtime)?;
        let mode = in_force.mode.map(ModeArg::mode);
        let held = in_force.skills.iter().map(|skill| Held { skill: skill.clone(), mode }).collect();
        let mut options = Options { held, ..Options::default() };
        match runtime.current(&project) {
            Ok(Current::Ready(ready)) => {
                options.hide_forbidden = ready.settings.mcp.hide_forbidden;
                for spec in specs.iter_mut() {
                    spec.trusted = ready.settings.mcp.trusted.contains(&spec.name);
                }
                known(&in_force.skills, &ready.policy)?;
                warn_of_names(&ready.policy, &runtime.servers(&project), specs);
            }
            Ok(Current::Unguarded) => {
                if let Some(skill) = in_force.skills.first() {
                    let what =
                        format!("no config guards `{}`, so `{skill}` cannot be in force", project.root.display());
                    return Err(Failure::new(what).with_help("`phasegate init` writes a config"));
                }
                tracing::warn!(
                    "no config guards `{}`, so every call passes; `phasegate init mcp` writes one",
                    project.root.display()
                );
            }
            Ok(Current::Invalid { .. }) | Err(_) => {}
        }
        Ok(Self { guard: Arc::new(ProjectGuard::new(runtime, project)), options })
    }
}

/// Says which servers no skill names, where skills name a server that neither this relay nor anything else here has: it may
/// be meant.
fn warn_of_names(policy: &Policy, elsewhere: &KnownServers, specs: &[Spec]) {
    let named: BTreeSet<&str> = policy.skills.iter().flat_map(Skill::named_servers).collect();
    let is_here = |server: &&str| specs.iter().any(|spec| same_server(&spec.name, server));
    let missing: Vec<&str> =
        named.iter().copied().filter(|server| !is_here(server) && !elsewhere.has(server)).collect();
    for spec in
        specs.iter().filter(|spec| !missing.is_empty() && !named.iter().any(|name| same_server(name, &spec.name)))
    {
        let (stranger, meant) = (&spec.name, missing.join("`, `"));
        tracing::warn!(
            "no skill names the server `{stranger}`, and nothing here is the server `{meant}` that skills name; if it is meant, give it that name: `--server NAME`"
        );
    }
}

/// Serves the client at standard input and output.
pub(crate) fn serve_here(specs: &[Spec], setting: Setting) -> Result<Exit, Failure> {
    let session = Session { host: true, ..Session::own(session_id(setting.guard.as_ref())) };
    let failed = |error| Failure::new(format!("standard input and output cannot be served: {error}"));
    match over_stdio(specs, session, setting.guard, setting.options).map_err(failed)? {
        Ended::ClientClosed | Ended::Stopped => Ok(Exit::Done),
        Ended::ServerGone => Ok(Exit::Failed),
    }
}

/// The id of the session: the relays that one client started share it. Where the client's process is not seen, it is one
/// that no other process has.
fn session_id(guard: &dyn Guard) -> String {
    if let Some(client) = own_ancestors().first() {
        return current_session(guard, &format!("mcp-{}", client.name())).0;
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("mcp-{}-{}", since.as_millis(), std::process::id())
}
