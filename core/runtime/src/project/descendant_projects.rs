//! A client that is started above guarded projects: no project is its own until it starts a skill of one of them.

use phasegate_adapter::{Adapter, Message, SessionView};
use phasegate_core::EventKind;
use phasegate_core::policy::Mode;

use crate::policies::policy_store::Current;
use crate::project::{Project, every_project};
use crate::runtime::Runtime;

/// The guarded project below this unguarded one whose skill the message starts; `None` where it starts no skill, or one
/// that no such project knows. Of several, one in block mode comes first.
pub(crate) fn with_skill(
    runtime: &Runtime,
    adapter: &dyn Adapter,
    message: &Message,
    above: &Project,
) -> Option<Project> {
    if !runtime.locations.state.join("projects").exists() {
        return None;
    }
    let events = adapter.codec().decode(message, &SessionView::empty()).ok()?.events;
    let started = events.into_iter().find_map(|event| match event.kind {
        EventKind::Skill { name, .. } => Some(name),
        _ => None,
    })?;
    let name = started.rsplit(':').next().unwrap_or(&started);
    let mode = |project: &Project| match runtime.current(project) {
        Ok(Current::Ready(ready)) => ready.policy.skill(name).map(|_| ready.strictest()),
        Ok(Current::Unguarded) => None,
        // What cannot be read may know the skill.
        Ok(Current::Invalid { .. }) | Err(_) => Some(Mode::Block),
    };
    let below = every_project(&runtime.locations).into_iter();
    let below = below.filter(|project| project.root != above.root && project.root.starts_with(&above.root));
    below.filter_map(|project| Some((mode(&project)?, project))).max_by_key(|(mode, _)| *mode).map(|(_, found)| found)
}
