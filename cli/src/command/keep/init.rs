//! `phasegate init`: writes the project's config and wires phasegate into its platforms. Shows what it changes, changes
//! nothing twice, and can undo all of it.

mod setting;
mod refusal;
mod agent_file;
mod apply;
mod managed;
pub(crate) mod mode;
mod command_name;
mod print;
mod plan;
mod shell_file;
mod program_link;
mod record;
mod settings;
mod report;
mod rule_packs;
pub(crate) mod skill_file;
mod skill_text;
mod starter;
mod version_control;
mod undo;

use phasegate_adapter::{Adapter, Change, InstallScope};
use phasegate_core::policy::Mode;
use phasegate_runtime::Project;
use phasegate_runtime::policies::policy_store::Current;
use phasegate_runtime::project::Remembered;

use crate::command::runs::control::accepting;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;
use plan::Plan;
use program_link::Link;
use refusal::refuse_the_agent;
pub use setting::Args;
use setting::{Setting, detected};

/// Guards a project, or takes that back.
///
/// # Errors
///
/// No platform is known, a settings file cannot be understood or written, a skill is not known, or an agent gives the command
/// where something guards the project already.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let runtime = context.runtime()?;
    let project = match &context.project {
        Some(_) => Project::at(&runtime.locations, &context.start()?),
        None => context.find_project(&runtime)?,
    };
    let scope = if args.user { InstallScope::User } else { InstallScope::Project };
    let mut setting = Setting { args, context, runtime, project, adapters: Vec::new(), scope, mode: Mode::Block };
    setting.adapters = platforms(&setting)?;
    if args.managed {
        return managed::run(&setting);
    }
    if args.undo {
        return undo::run(&setting);
    }
    if scope == InstallScope::Project && setting.adapters.iter().any(|adapter| adapter.installer().by_name()) {
        command_name::find()?;
    }
    let config = settings::planned(&setting)?;
    setting.mode = config.mode.max(setting.runtime.mode_without_answer(&setting.project));
    if setting.writes_for_the_user() {
        setting.mode = setting.mode.max(mode::of_guarded_projects(&setting.runtime));
    }
    if let Some(file) = &args.print {
        return print::run(&setting, file);
    }
    let mut first: Vec<Change> = config.change.clone().into_iter().collect();
    first.extend(skill_file::changes(&setting, &config)?);
    first.extend(agent_file::changes(&setting, &config));
    let mut plans = vec![Plan::new(setting, first)?];
    if let Some(mut setting) = plans.first().and_then(|plan| plan.setting.for_user_too()) {
        setting.mode = setting.mode.max(mode::of_guarded_projects(&setting.runtime));
        plans.push(Plan::new(setting, Vec::new())?);
    }
    let link = plans.first().map_or(Ok(None), |plan| Link::planned(&plan.setting))?;
    let changed = link.is_some() || plans.iter().any(|plan| !plan.changes.is_empty());
    if !args.dry_run && changed {
        plans.iter().try_for_each(|plan| refuse_the_agent(&plan.setting))?;
        plans.iter().try_for_each(|plan| record::note(&plan.setting, &plan.changes))?;
        if let Some(Plan { setting, .. }) = plans.first() {
            if let Some(link) = &link {
                link.refuse_the_agent(setting)?;
                link.write(setting)?;
            }
            program_link::note(setting)?;
            let write = || plans.iter().try_for_each(|plan| apply::write(&plan.changes));
            accepting(&setting.runtime, &setting.project, write)?;
        }
        plans.iter().try_for_each(|plan| remember(&plan.setting))?;
    }
    report::report(&plans, link.as_ref(), &config)?;
    // The mode that was asked for is not the one that holds.
    Ok(if config.other_mode.is_some() { Exit::No } else { Exit::Done })
}

/// Remembers the project as guarded, so that a live session does not count as one whose state was lost.
fn remember(setting: &Setting<'_>) -> Result<(), Failure> {
    if setting.scope == InstallScope::Project
        && let Current::Ready(ready) = setting.runtime.current(&setting.project)?
        && ready.own
        && setting.project.remembered()?.is_none()
    {
        setting.project.remember(setting.runtime.store.as_ref(), Remembered::new(ready.strictest()))?;
    }
    Ok(())
}

fn platforms(setting: &Setting<'_>) -> Result<Vec<&'static dyn Adapter>, Failure> {
    let args = setting.args;
    if args.undo && args.platforms.is_empty() {
        return undo::platforms(setting);
    }
    let all = phasegate_adapters::all();
    let known = all.iter().map(|adapter| adapter.id()).collect::<Vec<_>>().join(", ");
    if args.platforms.is_empty() {
        let found: Vec<_> = all.into_iter().filter(|adapter| detected(*adapter, setting)).collect();
        if found.is_empty() {
            return Err(Failure::new("no platform is detected here").with_help(format!("name one: {known}")));
        }
        return Ok(found);
    }
    let find = |id: &String| {
        phasegate_adapters::find(id).ok_or_else(|| {
            Failure::new(format!("there is no platform `{id}`")).with_help(format!("this build has: {known}"))
        })
    };
    args.platforms.iter().map(find).collect()
}
