//! `phasegate init --undo`: restores every file that has not changed since.

use std::collections::BTreeMap;
use std::path::PathBuf;

use phasegate_adapter::{Adapter, Change};
use phasegate_core::Code;
use serde_json::json;

use super::apply;
use super::record::{self, Record, Written, digest};
use super::setting::{Setting, detected, read};
use crate::command::control::{because, instead};
use crate::exit::Exit;
use crate::output::Failure;

/// Takes back what `init` changed here.
pub(crate) fn run(setting: &Setting<'_>) -> Result<Exit, Failure> {
    refuse_the_agent(setting)?;
    let record = record::read(setting)?;
    let mut changes: BTreeMap<PathBuf, Change> = BTreeMap::new();
    let mut touched = Vec::new();
    for written in &record.files {
        let now = read(&written.path)?;
        if digest(now.as_deref()) == written.after {
            let change = Change { path: written.path.clone(), before: now, after: restored(setting, written)? };
            changes.insert(written.path.clone(), change);
        } else if now.is_some() && now != written.before {
            touched.push(written.path.clone());
        }
    }
    for adapter in &setting.adapters {
        for change in adapter.installer().uninstall(&setting.request(*adapter)?)? {
            changes.entry(change.path.clone()).or_insert(change);
        }
    }
    changes.retain(|_, change| change.before != change.after);
    touched.retain(|path| !changes.contains_key(path));
    let changes: Vec<_> = changes.into_values().collect();
    apply::show(setting, &changes);
    if !setting.args.dry_run {
        apply::write(&changes)?;
        clear(setting, &record)?;
    }
    finish(setting, &changes, &touched);
    Ok(if touched.is_empty() { Exit::Done } else { Exit::No })
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
        for change in adapter.installer().uninstall(&request)? {
            text = change.after;
        }
    }
    Ok(text)
}

/// Undoing is for a person: it is refused from a program that an agent runs, or may run.
fn refuse_the_agent(setting: &Setting<'_>) -> Result<(), Failure> {
    let runtime = &setting.runtime;
    let sign = if setting.args.user {
        runtime.sign_of_an_agent_anywhere()?
    } else {
        runtime.sign_of_an_agent(&setting.project)?
    };
    match sign {
        Some(sign) => Err(Failure {
            exit: Exit::No,
            code: Some(Code::CommandRefused),
            message: format!(
                "`phasegate init --undo` is for a person to say; {}, so it counts as the agent's",
                because(&sign)
            ),
            help: Some(instead(&sign)),
        }),
        None => Ok(()),
    }
}

/// Removes folders that `init` made and that are empty now, the record, and the memory of a guarded project.
fn clear(setting: &Setting<'_>, record: &Record) -> Result<(), Failure> {
    let made = record.files.iter().filter(|written| written.made_folder);
    let mut folders: Vec<_> =
        made.filter_map(|written| Some(apply::target(&written.path).parent()?.to_owned())).collect();
    // The inner ones first, so that the outer ones are empty.
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    for folder in folders {
        let _ = std::fs::remove_dir(folder);
    }
    record::remove(setting);
    if !setting.args.user && !setting.runtime.discover(&setting.project).project_guards() {
        phasegate_runtime::integrity::forget(&setting.project)?;
    }
    Ok(())
}

fn finish(setting: &Setting<'_>, changes: &[Change], touched: &[PathBuf]) {
    let out = setting.context.out;
    let shown = |paths: Vec<&PathBuf>| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    let changed = shown(changes.iter().map(|change| &change.path).collect());
    let left = shown(touched.iter().collect());
    if out.json {
        out.value(&json!({"changed": changed, "left": left, "dry_run": setting.args.dry_run}));
        return;
    }
    for path in &left {
        out.note(format_args!("`{path}` changed since `phasegate init` and stays as it is"));
    }
    match (changed.is_empty(), setting.args.dry_run) {
        (true, _) => out.line("nothing to undo"),
        (false, true) => out.line("nothing was written (`--dry-run`)"),
        (false, false) => out.line("undone"),
    }
}
