//! The skills: whether a client can start them.

use phasegate_adapter::{Adapter, Finding, Level};

use crate::policy_store::Current;
use crate::project::Project;
use crate::runtime::Runtime;

/// A warning for each skill of which the platform has no `SKILL.md`, unless a person put the skill in force.
pub(super) fn examine(runtime: &Runtime, project: &Project, adapter: &dyn Adapter) -> Vec<Finding> {
    let Ok(Current::Ready(ready)) = runtime.current(project) else { return Vec::new() };
    let in_force = runtime.in_force(project).unwrap_or_default();
    let places = adapter.installer().places();
    let home = &runtime.locations.home;
    let mut found = Vec::new();
    for skill in ready.policy.skills.iter().filter(|skill| !in_force.contains_key(&skill.name)) {
        let files = places.skill_files(&skill.name, &project.root, home);
        if let Some(first) = files.first().filter(|_| !files.iter().any(|file| file.exists())) {
            let name = &skill.name;
            let what = format!("{} cannot start the skill `{name}`: no `{}`", adapter.name(), first.display());
            let step = format!(
                "write it, or run `phasegate init {} --skill {name}`; `phasegate activate {name}` puts the skill in force without it",
                adapter.id(),
            );
            found.push(Finding::new(Level::Warning, what).with(step));
        }
    }
    found
}
