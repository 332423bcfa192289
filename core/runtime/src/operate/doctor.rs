//! The doctor: checks whether the guard works, and the files that it depends on. It changes nothing.

mod request;
mod sqlite;
mod unguarded_session;
mod bridge;
mod client;
mod modules;
mod policy;
mod safety;
mod servers;
mod shell;
mod sessions;
mod skills;
mod state;
mod wall;

use phasegate_adapter::{Finding, Level};
use phasegate_config::Confine;

pub use self::request::Asked;

use crate::clients::guard_file;
use crate::policies::policy_store::Current;
use crate::project::Project;
use crate::runtime::Runtime;

/// Findings about one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What they are about: `policy`, `state`, `sessions`, `wall`, or the id of a platform.
    pub about: String,
    /// The findings, in the order in which they are read.
    pub findings: Vec<Finding>,
}

/// Looks at everything. `progress` is told how many bytes of how many of the journals were read.
pub fn examine(
    runtime: &Runtime,
    project: &Project,
    asked: &Asked<'_>,
    progress: &mut dyn FnMut(u64, u64),
) -> Vec<Section> {
    let section = |about: &str, findings| Section { about: about.to_string(), findings };
    let mut of_policy = policy::examine(runtime, project);
    of_policy.extend(servers::examine(runtime, project));
    let mut sections = vec![section("policy", of_policy)];
    let mut managed = Vec::new();
    let mode = runtime.mode_without_answer(project);
    let off = matches!(runtime.current(project), Ok(Current::Ready(ready)) if ready.settings.confine == Confine::Off);
    let asked = &Asked { shell_probe: asked.shell_probe.filter(|_| !off), ..asked.clone() };
    for adapter in asked.adapters {
        let mut client = client::examine(&runtime.locations, project, mode, *adapter, asked);
        managed.push(client.managed);
        client.findings.extend(skills::examine(runtime, project, *adapter));
        client.findings.extend(safety::examine(runtime, project, *adapter));
        sections.push(section(adapter.id(), client.findings));
    }
    if asked.adapters.is_empty() {
        let finding = Finding::new(Level::Problem, "no platform is detected here, so nothing starts the guard");
        sections.push(section("platforms", vec![finding.with("run `phasegate init` with a platform's name")]));
    }
    sections.push(section("state", state::examine(runtime, project, progress)));
    guard_file::keep_digest(&runtime.locations);
    sections.push(section("sessions", sessions::examine(runtime, project)));
    let all = !managed.is_empty() && managed.iter().all(|managed| *managed);
    sections.push(section("wall", wall::examine(runtime, all, asked.adapters)));
    sections
}
