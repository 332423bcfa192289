//! The definitions of the subagents that do phases of the skills that apply, where the client has none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use phasegate_adapter::{Change, InstallScope, Places};
use phasegate_config::is_host_agent;
use phasegate_core::policy::Skill;

use super::setting::Setting;
use super::settings::Config;

/// A new definition of each subagent of the skills that were asked for and of what they run, and of those that guard its
/// start; on each platform that keeps definitions as files and has none of it.
pub(crate) fn changes(setting: &Setting<'_>, config: &Config) -> Vec<Change> {
    let mut agents: BTreeMap<&str, &Skill> = BTreeMap::new();
    let asked = |skill: &Skill| config.skills.contains(&skill.name);
    let mut open: Vec<(&Skill, bool)> = config.policy.skills.iter().map(|skill| (skill, asked(skill))).collect();
    while let Some((skill, asked)) = open.pop() {
        // Of a skill that nobody asked for and that guards no start the subagent may be one of a plugin.
        let own = skill.phases.iter().filter(|_| asked || skill.starts_by_itself());
        for kind in own.filter_map(|phase| phase.done_by.as_deref()).filter(|kind| !is_host_agent(kind)) {
            agents.entry(kind).or_insert(skill);
        }
        open.extend(skill.children.iter().map(|child| (child, asked)));
    }
    let (project, home) = (&setting.project.root, &setting.runtime.locations.home);
    let root = match setting.scope {
        InstallScope::Project => project,
        InstallScope::User => home,
    };
    let mut changes: Vec<Change> = Vec::new();
    for folder in setting.adapters.iter().filter_map(|adapter| folder(&adapter.installer().places())) {
        for (kind, skill) in &agents {
            let file = |root: &Path| -> PathBuf { root.join(&folder).join(format!("{kind}.md")) };
            let path = file(root);
            let is_known = file(project).exists() || file(home).exists();
            if !is_known && !changes.iter().any(|change| change.path == path) {
                changes.push(Change { path, before: None, after: Some(text(kind, skill)) });
            }
        }
    }
    changes
}

/// The folder of a platform's definitions of subagents, relative to a project or a home.
fn folder(places: &Places) -> Option<String> {
    places.unseen.iter().find(|place| place.ends_with("/agents/") && !place.starts_with(['~', '/'])).cloned()
}

/// The definition: each platform takes the fields that it knows.
fn text(kind: &str, skill: &Skill) -> String {
    let description = serde_json::Value::from(skill.description.as_str());
    format!(
        "---\nname: {kind}\ndescription: {description}\nmode: subagent\n---\n\n\
         You do one phase of the skill `{}`. Your prompt says what the task is.\n\n\
         1. Read the files of earlier agents that the prompt names.\n\
         2. Do what the prompt asks, and nothing else.\n\
         3. Leave your output in the file and the form that the prompt names. phasegate checks it, and says what is \
         wrong: you cannot end before it is right.\n",
        skill.name
    )
}
