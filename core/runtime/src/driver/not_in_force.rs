//! What is told of a skill that somebody starts, and that the session does not guard as its config says.

use std::path::{Path, PathBuf};

use phasegate_config::likely_typo;
use phasegate_core::{Code, Event, EventKind, Outcome};
use serde_json::{Value, json};

use super::Driver;
use crate::policies::policy_store::Current;

const RELOAD: &str = "A person types `/phasegate reload`, or runs `phasegate reload` in a terminal";

impl Driver<'_> {
    /// Adds to the outcome of an event that means a skill what the session does not do for it, if anything.
    pub(super) fn tell_of_skill(&self, event: &Event, outcome: &mut Outcome) {
        match &event.kind {
            EventKind::Skill { name, .. } => {
                if let Some(text) = self.not_as_configured(name) {
                    outcome.result.get_or_insert_with(|| json!({"text": text}));
                }
            }
            EventKind::Prompt { text, .. } => {
                if let Some(text) = slash_word(text).and_then(|name| self.not_started(name)) {
                    outcome.result.get_or_insert_with(|| json!({"text": text}));
                }
            }
            EventKind::Command { name, args, .. } if name == "activate_skill" => {
                let skill = args.get("skill_name").and_then(Value::as_str);
                if let Some(text) = skill.and_then(|name| self.not_as_configured(name)) {
                    tell_caller(outcome, &text);
                }
            }
            _ => {}
        }
    }

    /// A person named a skill as a command, and the client has no file to start it with.
    fn not_started(&self, name: &str) -> Option<String> {
        if self.starts_skill || self.loaded.own.policy.skills.is_empty() || self.client_knows(name) {
            return None;
        }
        match self.loaded.own.policy.invoked(name).map(|skill| &skill.name) {
            Some(skill) if self.state.live_runs().any(|run| run.skill == *skill) => None,
            Some(skill) => Some(format!(
                "phasegate: the prompt names the skill `{skill}`, and it was not started: the client has no `SKILL.md` of it, so \
                 none of its phases is enforced. A person runs `phasegate init --skill {skill}`, which writes one, or types \
                 `/phasegate start {skill}`."
            )),
            None => self.not_as_configured(name).or_else(|| self.misspelt(name)),
        }
    }

    /// The configs have a skill of this name now, and the session goes by others.
    fn not_as_configured(&self, name: &str) -> Option<String> {
        let known = self.loaded.own.policy.invoked(name);
        match self.runtime.offered(&self.project).ok()?.current {
            Current::Ready(ready) => {
                let now = ready.policy.invoked(name)?;
                let skill = &now.name;
                match known {
                    None => Some(format!(
                        "phasegate: the skill `{skill}` came into the configs after this session began, so it is not in force \
                         in it: none of its phases is enforced. {RELOAD}, and then starts the skill again."
                    )),
                    Some(known) if known.version != now.version => Some(format!(
                        "phasegate: the config of the skill `{skill}` changed after this session began, and what changed is not \
                         in force in it. {RELOAD}: the next run of the skill has it. A run that is under way keeps the version \
                         that it began with until it ends."
                    )),
                    Some(_) => None,
                }
            }
            Current::Invalid { .. } if known.is_none() && self.has_config(name) => Some(format!(
                "phasegate: the skill `{name}` is not in force in this session, because the configs have errors: none of its \
                 phases is enforced. `phasegate check` lists the errors; once they are repaired, a person runs `phasegate \
                 reload`."
            )),
            Current::Invalid { .. } | Current::Unguarded => None,
        }
    }

    fn misspelt(&self, name: &str) -> Option<String> {
        let skills = self.loaded.own.policy.skills.iter().map(|skill| skill.name.as_str());
        let skill = likely_typo(name, skills)?;
        Some(format!(
            "phasegate: no skill is called `{name}`, so none was started and no phase is enforced. `/{skill}` starts the skill \
             `{skill}`."
        ))
    }

    /// Whether a config file of the project is named after the skill.
    fn has_config(&self, name: &str) -> bool {
        let found = self.runtime.discover(&self.project).files;
        found.iter().any(|file| Path::new(&file.path).file_stem().is_some_and(|stem| stem == name))
    }

    /// Whether some platform has a file for a skill or command of this name.
    fn client_knows(&self, name: &str) -> bool {
        let (root, home) = (&self.project.root, &self.runtime.locations.home);
        let whole = |folder: &String| -> PathBuf {
            folder.strip_prefix("~/").map_or_else(|| root.join(folder), |below| home.join(below))
        };
        self.runtime.platforms.places().skill_folders.iter().map(whole).any(|folder| {
            let command = folder.with_file_name("commands").join(format!("{name}.md"));
            folder.join(name).join("SKILL.md").exists() || command.exists()
        })
    }
}

/// Puts the text before what a command answers, so that who gave it reads both.
fn tell_caller(outcome: &mut Outcome, text: &str) {
    let unknown = outcome.decision.as_mut().filter(|decision| decision.code == Some(Code::SkillUnknown));
    if let Some(decision) = unknown {
        decision.recovery = text.to_string();
    }
    if let Some(Value::Object(fields)) = &mut outcome.result {
        let before = fields.get("text").and_then(Value::as_str).map(|before| format!("{before}. {text}"));
        fields.insert("text".to_string(), Value::from(before.unwrap_or_else(|| text.to_string())));
    }
}

/// The name in a prompt that begins with `/NAME`; none for a path.
fn slash_word(prompt: &str) -> Option<&str> {
    let name = prompt.strip_prefix('/')?.split(char::is_whitespace).next()?;
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || "-_:.".contains(letter));
    is_name.then_some(name)
}
