//! The `SKILL.md` that a client starts a skill by, and those of the client's skills that it asks for. `init --skill` writes
//! them where the client has none of that name.

use std::path::{Path, PathBuf};

use phasegate_adapter::{Adapter, Change, Finding, InstallScope, Level};
use phasegate_config::demanded;
use phasegate_runtime::policies::policy_store::Current;
use phasegate_runtime::{Project, Runtime};

use super::record::{self, Written, digest};
use super::setting::Setting;
use super::settings::Config;
use super::skill_text::{of_demanded, text};
use crate::output::Failure;

/// A new `SKILL.md` for each skill that was asked for, on each platform that would find none, or that has an older one of
/// ours.
///
/// # Errors
///
/// The record of what `init` wrote cannot be read.
pub(crate) fn changes(setting: &Setting<'_>, config: &Config) -> Result<Vec<Change>, Failure> {
    let mut changes: Vec<Change> = Vec::new();
    let written = record::read(setting)?.files;
    for skill in config.skills.iter().filter_map(|name| config.policy.skill(name)) {
        for adapter in &setting.adapters {
            let files = files(setting, *adapter, &skill.name);
            let command = adapter.installer().skill_command();
            let stale = files.iter().find_map(|file| renewed(file, &text(skill, command), &written));
            if let Some(stale) = stale.filter(|stale| !changes.iter().any(|change| change.path == stale.path)) {
                changes.push(stale);
            } else if skill.is_invoked() {
                // What begins by itself alone is not started by its name.
                changes.extend(new(setting, &files, &changes, &text(skill, command)));
            }
            for asked in demanded(skill) {
                let files = self::files(setting, *adapter, &asked.name);
                let known = config.policy.skill(&asked.name);
                changes.extend(new(
                    setting,
                    &files,
                    &changes,
                    &match known {
                        Some(known) => text(known, command),
                        None => of_demanded(&asked),
                    },
                ));
            }
        }
    }
    Ok(changes)
}

/// The files that a client of the platform reads as this skill.
pub(super) fn files(setting: &Setting<'_>, adapter: &dyn Adapter, skill: &str) -> Vec<PathBuf> {
    adapter.installer().places().skill_files(skill, &setting.project.root, &setting.runtime.locations.home)
}

/// A file with this text, where the platform would find none.
fn new(setting: &Setting<'_>, files: &[PathBuf], changes: &[Change], text: &str) -> Option<Change> {
    let root = match setting.scope {
        InstallScope::Project => &setting.project.root,
        InstallScope::User => &setting.runtime.locations.home,
    };
    let known = |file: &PathBuf| file.exists() || changes.iter().any(|change| change.path == *file);
    let own = files.iter().find(|file| file.starts_with(root)).filter(|_| !files.iter().any(known))?;
    Some(Change { path: own.clone(), before: None, after: Some(text.to_string()) })
}

/// What has to be done about each `SKILL.md` that `init` wrote before its config was changed.
///
/// # Errors
///
/// The record of what `init` wrote cannot be read.
pub(crate) fn stale(
    runtime: &Runtime,
    project: &Project,
    adapters: &[&'static dyn Adapter],
) -> Result<Vec<Finding>, Failure> {
    let Ok(Current::Ready(ready)) = runtime.current(project) else { return Ok(Vec::new()) };
    let written = record::of_project(runtime, project)?;
    let mut findings = Vec::new();
    for adapter in adapters {
        let places = adapter.installer().places();
        for skill in &ready.policy.skills {
            let files = places.skill_files(&skill.name, &project.root, &runtime.locations.home);
            let text = text(skill, adapter.installer().skill_command());
            if let Some(stale) = files.iter().find_map(|file| renewed(file, &text, &written)) {
                let what = format!("`{}` says what the skill was before its config changed", stale.path.display());
                let step = format!("run `phasegate init {} --skill {}`", adapter.id(), skill.name);
                findings.push(Finding::new(Level::Warning, what).with(step));
            }
        }
    }
    Ok(findings)
}

/// The file with the text of today, where `init` wrote another one and nobody changed it since.
fn renewed(file: &Path, text: &str, written: &[Written]) -> Option<Change> {
    let before = std::fs::read_to_string(file).ok().filter(|before| *before != text)?;
    let digest = digest(Some(&before));
    let ours = written.iter().any(|written| written.path == file && written.after == digest);
    ours.then(|| Change { path: file.to_path_buf(), before: Some(before), after: Some(text.to_owned()) })
}
