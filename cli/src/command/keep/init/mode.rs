//! The mode in what `init` writes: what happens where the guard gives no answer.

use std::path::PathBuf;

use phasegate_adapter::InstallScope;
use phasegate_core::policy::Mode;
use phasegate_runtime::project::every_project;
use phasegate_runtime::{Project, Runtime};

use super::program_link::Link;
use super::setting::{Args, Setting};
use super::{apply, record};
use crate::context::Context;
use crate::output::Failure;

/// The strictest mode of the projects that are known as guarded: the user's settings stand for all of them. What cannot be
/// read may be a project in block mode; one whose folder is gone is none.
pub(crate) fn of_guarded_projects(runtime: &Runtime) -> Mode {
    let there = |project: &Project| !matches!(project.root.try_exists(), Ok(false)) && project.memory().exists();
    let guarded = every_project(&runtime.locations).into_iter().filter(there);
    guarded.map(|project| runtime.mode_without_answer(&project)).max().unwrap_or(Mode::Warn)
}

/// Renews what is installed for this project and for the user, where the mode is another now. Gives back what was changed.
///
/// # Errors
///
/// A settings file cannot be understood or written.
pub(crate) fn renew(context: &Context) -> Result<Vec<PathBuf>, Failure> {
    let (args, runtime) = (Args::default(), context.runtime()?);
    let project = context.find_project(&runtime)?;
    let mode = runtime.mode_without_answer(&project);
    let mut adapters = phasegate_adapters::all();
    adapters.retain(|adapter| adapter.installer().writes_mode());
    let scope = InstallScope::Project;
    let mut setting = Setting { args: &args, context, runtime, project, adapters, scope, mode };
    if setting.writes_for_the_user() {
        setting.mode = mode.max(of_guarded_projects(&setting.runtime));
    }
    let mut changed = renewed(&setting)?;
    setting.scope = InstallScope::User;
    setting.mode = mode.max(of_guarded_projects(&setting.runtime));
    changed.extend(renewed(&setting)?);
    Ok(changed)
}

fn renewed(setting: &Setting<'_>) -> Result<Vec<PathBuf>, Failure> {
    let mut changes = Vec::new();
    for adapter in &setting.adapters {
        let request = setting.request(*adapter)?;
        let ours: Vec<_> = adapter.installer().uninstall(&request)?.into_iter().map(|change| change.path).collect();
        if ours.is_empty() {
            continue;
        }
        let mut all = adapter.installer().install(&request)?;
        all.extend(adapter.installer().install_local(&request)?.unwrap_or_default());
        changes.extend(all.into_iter().filter(|change| ours.contains(&change.path)));
    }
    if changes.is_empty() {
        return Ok(Vec::new());
    }
    record::renew(setting, &changes)?;
    if let Some(link) = Link::planned(setting)? {
        link.refuse_the_agent(setting)?;
        link.write(setting)?;
    }
    apply::write(&changes)?;
    Ok(changes.into_iter().map(|change| change.path).collect())
}
