//! `phasegate init --undo`: restores every file that has not changed since.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use phasegate_adapter::{Adapter, Change, InstallScope};
use phasegate_core::Code;
use serde_json::json;

use super::record::{self, Record, Written, digest};
use super::setting::{Setting, detected, read};
use super::version_control::is_committed;
use super::{apply, program_link};
use crate::command::runs::control::{because, instead};
use crate::exit::Exit;
use crate::output::Failure;

/// Takes back what `init` changed here, and in the user's settings what it changed for this project alone.
pub(crate) fn run(setting: &Setting<'_>) -> Result<Exit, Failure> {
    let counted = setting.project.remembered()?.is_some();
    let mut plans = vec![Plan::new(setting.clone())?];
    let mut shared = None;
    if let Some(user) = setting.for_user_too() {
        let mut record = record::read(&user)?;
        if record.projects.remove(&setting.project.root) {
            // One whose folder is gone needs no guard.
            record.projects.retain(|root| !matches!(root.try_exists(), Ok(false)));
            if record.projects.is_empty() && !record.for_user {
                plans.push(Plan::new(user)?);
            } else {
                shared = Some((user, record));
            }
        }
    }
    plans.iter().try_for_each(|plan| refuse_the_agent(&plan.setting))?;
    plans.iter().for_each(|plan| apply::show(&plan.setting, &plan.changes, setting.args.verbose));
    let kept = plans.iter().any(|plan| !plan.touched.is_empty() || !plan.committed.is_empty());
    if !setting.args.dry_run {
        for plan in &plans {
            apply::write(&plan.changes)?;
            clear(&plan.setting, &plan.record)?;
        }
        if let Some((user, record)) = &shared {
            record::save(user, record)?;
        }
    }
    // What lies beside the shells is gone, so that their folders go too.
    let link = program_link::undo(setting, kept)?;
    if let (Some(link), false) = (&link, setting.context.out.json) {
        setting
            .context
            .out
            .line(format_args!("removed {}; where a clone still starts it, run `phasegate init`", link.display()));
    }
    if let (Some((_, record)), false) = (shared, setting.context.out.json) {
        setting.context.out.note(stays(&record));
    }
    finish(setting, &plans, counted);
    if !setting.args.dry_run && !setting.context.out.json && setting.runtime.discover(&setting.project).project_guards()
    {
        setting.context.out.note(
            "skills or settings of the project stay in its config folders, so it still counts as guarded; remove them to end \
             that",
        );
    }
    let touched = plans.iter().any(|plan| !plan.touched.is_empty());
    Ok(if touched { Exit::No } else { Exit::Done })
}

/// What is to be taken out of the settings of the project or of the user.
struct Plan<'a> {
    setting: Setting<'a>,
    record: Record,
    changes: Vec<Change>,
    /// The files that changed since, and stay as they are.
    touched: Vec<PathBuf>,
    /// The files that are under version control and that no `init` of this machine wrote: they stay, too.
    committed: Vec<PathBuf>,
}

impl<'a> Plan<'a> {
    fn new(setting: Setting<'a>) -> Result<Self, Failure> {
        let record = record::read(&setting)?;
        let mut changes: BTreeMap<PathBuf, Change> = BTreeMap::new();
        let (mut touched, mut committed) = (Vec::new(), Vec::new());
        for written in &record.files {
            let now = read(&written.path)?;
            if digest(now.as_deref()) == written.after {
                let change = Change { path: written.path.clone(), before: now, after: restored(&setting, written)? };
                changes.insert(written.path.clone(), change);
            } else if now.is_some() && now != written.before {
                touched.push(written.path.clone());
            }
        }
        for adapter in &setting.adapters {
            for change in setting.removal(*adapter, &setting.request(*adapter)?)? {
                let own = record.files.iter().any(|written| written.path == change.path);
                if !own && is_committed(&change.path) {
                    committed.push(change.path);
                } else {
                    changes.entry(change.path.clone()).or_insert(change);
                }
            }
        }
        changes.retain(|_, change| change.before != change.after);
        touched.retain(|path| !changes.contains_key(path));
        Ok(Self { setting, record, changes: changes.into_values().collect(), touched, committed })
    }
}

/// Why what is in the user's settings stays, the hooks or the client's shell, and how it goes.
fn stays(record: &Record) -> String {
    let how = "`phasegate init --undo --user` removes it";
    let Some(first) = record.projects.iter().next() else {
        return format!("what `init` wrote into the user's settings stays: `phasegate init --user` wrote it; {how}");
    };
    let others = match record.projects.len() - 1 {
        0 => String::new(),
        1 => " and another project".to_string(),
        more => format!(" and {more} other projects"),
    };
    format!("what `init` wrote into the user's settings stays: it is for `{}`{others}, too; {how}", first.display())
}

/// The platforms whose settings may hold what `init` wrote: those that it wired and those detected now.
pub(crate) fn platforms(setting: &Setting<'_>) -> Result<Vec<&'static dyn Adapter>, Failure> {
    let wired = record::read(setting)?.platforms;
    let mut adapters = phasegate_adapters::all();
    adapters.retain(|adapter| wired.contains(adapter.id()) || detected(*adapter, setting));
    Ok(adapters)
}

/// The text that a file gets back: the one that `init` found there, without what an earlier `init` had put into it.
fn restored(setting: &Setting<'_>, written: &Written) -> Result<Option<String>, Failure> {
    let mut text = written.before.clone();
    if !written.edited {
        return Ok(text);
    }
    for adapter in phasegate_adapters::all() {
        let mut request = setting.request(adapter)?;
        request.existing = text.iter().map(|text| (written.path.clone(), text.clone())).collect();
        for change in setting.removal(adapter, &request)? {
            text = change.after;
        }
    }
    Ok(text)
}

/// Undoing is for a person: it is refused from a program that an agent runs, or may run.
fn refuse_the_agent(setting: &Setting<'_>) -> Result<(), Failure> {
    let runtime = &setting.runtime;
    let sign = match setting.scope {
        InstallScope::User => runtime.sign_of_an_agent_anywhere()?,
        InstallScope::Project => runtime.sign_of_an_agent(&setting.project)?,
    };
    match sign {
        Some(sign) => Err(Failure {
            exit: Exit::No,
            code: Some(Code::CommandRefused),
            message: format!(
                "`phasegate init --undo` is for a person to say; {}, so it counts as the agent's",
                because(&sign)
            ),
            help: Some(instead("init --undo", &sign)),
        }),
        None => Ok(()),
    }
}

/// Removes folders that `init` made and that are empty now, the record, and the memory of a guarded project.
fn clear(setting: &Setting<'_>, record: &Record) -> Result<(), Failure> {
    let mut folders: Vec<_> = record.folders.iter().collect();
    // The inner ones first, so that the outer ones are empty.
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    for folder in folders {
        let _ = std::fs::remove_dir(folder);
    }
    record::remove(setting);
    if setting.scope == InstallScope::Project {
        phasegate_runtime::sessions::integrity::forget(&setting.project)?;
    }
    Ok(())
}

/// Tells what was undone; the project `counted` as guarded before.
fn finish(setting: &Setting<'_>, plans: &[Plan<'_>], counted: bool) {
    let out = setting.context.out;
    let changed: Vec<_> = plans.iter().flat_map(|plan| &plan.changes).map(|change| shown(&change.path)).collect();
    let left: Vec<_> = plans.iter().flat_map(|plan| &plan.touched).map(|path| shown(path)).collect();
    if out.json {
        out.value(&json!({"changed": changed, "left": left, "dry_run": setting.args.dry_run}));
        return;
    }
    for path in &left {
        out.note(format_args!("`{path}` changed since `phasegate init` and stays as it is"));
    }
    for path in plans.iter().flat_map(|plan| &plan.committed) {
        let path = path.display();
        out.note(format_args!(
            "`{path}` is committed, and `phasegate init` on this machine did not write it: it stays as it is"
        ));
    }
    match (changed.is_empty(), setting.args.dry_run) {
        (true, false) if counted => out.line("no file to undo; that the project was guarded is forgotten"),
        (true, _) => out.line("nothing to undo"),
        (false, true) => out.line("nothing was written (`--dry-run`)"),
        (false, false) => out.line("undone"),
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
