//! The `SKILL.md` that a client starts a skill by. `init --skill` writes it where the client has none of that name.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use phasegate_adapter::{Adapter, Change, Finding, InstallScope, Level};
use phasegate_core::matcher::Matcher;
use phasegate_core::policy::{Optional, Phase, Policy, Skill};
use phasegate_runtime::policy_store::Current;
use phasegate_runtime::{Project, Runtime};

use super::record::{self, Written, digest};
use super::setting::Setting;
use crate::output::Failure;

/// A new `SKILL.md` for each skill that was asked for, on each platform that would find none, or that has an older one of
/// ours.
///
/// # Errors
///
/// The record of what `init` wrote cannot be read.
pub(crate) fn changes(setting: &Setting<'_>, policy: &Policy) -> Result<Vec<Change>, Failure> {
    let mut changes: Vec<Change> = Vec::new();
    let written = record::read(setting)?.files;
    for skill in setting.args.skills.iter().filter_map(|name| policy.skill(name)) {
        for adapter in &setting.adapters {
            let (project, home) = (&setting.project.root, &setting.runtime.locations.home);
            let places = adapter.installer().places();
            let files = places.skill_files(&skill.name, project, home);
            let known = |file: &PathBuf| file.exists() || changes.iter().any(|change| change.path == *file);
            let root = match setting.scope {
                InstallScope::Project => project,
                InstallScope::User => home,
            };
            let own = files.iter().find(|file| file.starts_with(root));
            let stale = files.iter().find_map(|file| renewed(file, skill, &written));
            if let Some(stale) = stale.filter(|stale| !changes.iter().any(|change| change.path == stale.path)) {
                changes.push(stale);
            } else if let Some(path) = own.filter(|_| !files.iter().any(known)) {
                changes.push(Change { path: path.clone(), before: None, after: Some(text(skill)) });
            }
        }
    }
    Ok(changes)
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
            if let Some(stale) = files.iter().find_map(|file| renewed(file, skill, &written)) {
                let what = format!("`{}` says what the skill was before its config changed", stale.path.display());
                let step = format!("run `phasegate init {} --skill {}`", adapter.id(), skill.name);
                findings.push(Finding::new(Level::Warning, what).with(step));
            }
        }
    }
    Ok(findings)
}

/// The file with the text of today, where `init` wrote another one and nobody changed it since.
fn renewed(file: &Path, skill: &Skill, written: &[Written]) -> Option<Change> {
    let before = std::fs::read_to_string(file).ok().filter(|before| *before != text(skill))?;
    let digest = digest(Some(&before));
    let ours = written.iter().any(|written| written.path == file && written.after == digest);
    ours.then(|| Change { path: file.to_path_buf(), before: Some(before), after: Some(text(skill)) })
}

/// The skill as an agent reads it: its phases, what each is for, which calls it has, and what completes it.
fn text(skill: &Skill) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut text = format!(
        "---\nname: {}\ndescription: {}\n---\n\n{}\n\n\
         Work in these phases, in this order. phasegate checks each tool call against the current phase, \
         and says what is missing where a call comes too early.\n",
        skill.name,
        quoted(&skill.description),
        skill.description,
    );
    for (index, phase) in skill.phases.iter().enumerate() {
        let _ = write!(text, "\n{}. **{}**", index.saturating_add(1), phase.name);
        for part in parts(skill, phase) {
            let _ = write!(text, "\n   {part}");
        }
    }
    text.push('\n');
    if !skill.global_forbidden.is_empty() {
        let _ = write!(text, "\nForbidden in every phase: {}.\n", listed(&skill.global_forbidden));
    }
    if skill.finish_required {
        text.push_str(
            "\nThe work must be finished: who stops before the last phase is done is told what is missing.\n",
        );
    }
    text
}

fn listed(matchers: &[Matcher]) -> String {
    matchers.iter().map(|matcher| format!("`{}`", matcher.text)).collect::<Vec<_>>().join(", ")
}

fn parts(skill: &Skill, phase: &Phase) -> Vec<String> {
    let mut parts = Vec::new();
    if !phase.description.is_empty() {
        parts.push(format!("{}.", phase.description.trim_end_matches('.')));
    }
    if phase.optional != Optional::No {
        parts.push("This phase may be left out.".to_string());
    }
    if !phase.allowed.is_empty() {
        parts.push(format!("Calls: {}.", listed(&phase.allowed)));
    }
    if !phase.forbidden.is_empty() {
        parts.push(format!("Forbidden: {}.", listed(&phase.forbidden)));
    }
    if let Some(condition) = &phase.requires {
        parts.push(format!("Before it: {condition}."));
    }
    if let Some(condition) = &phase.done_when {
        parts.push(format!("Done when this was seen: {condition}."));
    }
    let back: Vec<_> = phase.back.iter().filter_map(|back| skill.phases.get(back.to)).collect();
    if let [first, ..] = back.as_slice() {
        parts.push(format!("If it fails, go back to **{}**.", first.name));
    }
    parts
}
