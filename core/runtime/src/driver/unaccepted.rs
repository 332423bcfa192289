//! What clients start, and no person accepted: texts that name hooks or servers are not loaded then (rules 4.12).

use phasegate_adapter::Problem;
use phasegate_core::tool::{AGENT, SKILL};
use phasegate_core::{Code, Event, EventKind};

use super::Driver;
use crate::{client_settings, client_texts};

impl Driver<'_> {
    /// Why no skill, command or agent is loaded now: one of them names what the client would start outside of every call, and
    /// no person accepted that. Which one a call means is not asked: a client finds them by more than one name.
    pub(super) fn loads_unaccepted(&self, event: &Event) -> Option<Problem> {
        let loads = match &event.kind {
            EventKind::ToolCall { tool, server: None, analysis, .. } => {
                tool == SKILL || tool == AGENT || analysis.invokes.is_some()
            }
            EventKind::Skill { .. } => true,
            _ => false,
        };
        let known = self.loaded.shared.snapshot.strength.as_ref()?.servers.as_ref()?;
        if !loads || !self.is_closed() {
            return None;
        }
        let (places, home) = (self.runtime.platforms.places(), &self.runtime.locations.home);
        let now = client_texts::definitions(places, home, &self.project.root, &self.start);
        let other = now.iter().find(|(name, digest)| known.get(*name) != Some(digest))?.0;
        let file = client_settings::file(other).unwrap_or(other);
        let why = format!("`{file}` names what the client starts by itself, and no person accepted that");
        let remedy = "ask the user to look at it and to run `phasegate reload`, or take these lines out of its head";
        Some(Problem::new(Code::SettingsKept, why).with_remedy(remedy.to_owned()))
    }

    /// Whether a person accepted what a settings file of the project says; those of the user are the person's own.
    pub(super) fn is_accepted(&self, file: &std::path::Path) -> bool {
        let Ok(below) = file.strip_prefix(&self.project.root) else { return true };
        let strength = self.loaded.shared.snapshot.strength.as_ref();
        let Some(known) = strength.and_then(|strength| strength.servers.as_ref()) else { return true };
        let now = client_settings::definitions(self.runtime.platforms.places(), &self.project.root, &self.project.root);
        let name = format!("{}{}", client_settings::BELOW_ROOT, below.display());
        now.get(&name) == known.get(&name)
    }
}
