//! The skills: whether a client can start them.

use std::path::Path;

use phasegate_adapter::{Adapter, Finding, Level};
use phasegate_config::demanded;
use phasegate_core::policy::Skill;

use crate::policies::policy_store::Current;
use crate::project::Project;
use crate::runtime::Runtime;

/// A warning for each skill of which the platform has no `SKILL.md`, unless a person put the skill in force, it begins by
/// itself alone, or another one runs it; and for each skill of the client that one of them asks for and that is not there.
pub(super) fn examine(runtime: &Runtime, project: &Project, adapter: &dyn Adapter) -> Vec<Finding> {
    let Ok(Current::Ready(ready)) = runtime.current(project) else { return Vec::new() };
    let in_force = runtime.in_force(project).unwrap_or_default();
    let places = adapter.installer().places();
    let home = &runtime.locations.home;
    let mut found = Vec::new();
    for skill in &ready.policy.skills {
        found.extend(asked_for(project, adapter, skill, home));
    }
    let is_part = |skill: &Skill| ready.policy.skills.iter().any(|other| other.runs(&skill.name));
    let started = |skill: &&Skill| skill.is_invoked() && !is_part(skill) && !in_force.contains_key(&skill.name);
    for skill in ready.policy.skills.iter().filter(started) {
        let files = places.skill_files(&skill.name, &project.root, home);
        if let Some(first) = files.first().filter(|_| !files.iter().any(|file| file.exists())) {
            let name = &skill.name;
            let what = format!("{} cannot start the skill `{name}`: no `{}`", adapter.name(), first.display());
            let step = format!(
                "write it, or run `phasegate init {} --skill {name}`; `phasegate start {name}` puts the skill in force without it",
                adapter.id(),
            );
            found.push(Finding::new(Level::Warning, what).with(step));
        }
    }
    found
}

/// The skills of the client that a skill cannot be finished without, and that no file has.
fn asked_for(project: &Project, adapter: &dyn Adapter, skill: &Skill, home: &Path) -> Vec<Finding> {
    let places = adapter.installer().places();
    let missing = demanded(skill).into_iter().filter_map(|asked| {
        let files = places.skill_files(&asked.name, &project.root, home);
        let first = files.first().filter(|_| !files.iter().any(|file| file.exists()))?;
        let (name, client) = (&asked.name, adapter.name());
        let what = format!(
            "`{}` asks in its phase `{}` for the skill `{name}` of {client}, and there is no `{}`",
            asked.by,
            asked.phase,
            first.display()
        );
        let step = format!("write it, or run `phasegate init {} --skill {}`", adapter.id(), skill.name);
        Some(Finding::new(Level::Warning, what).with(step))
    });
    missing.collect()
}
