//! Whether the platform still starts the guard: asked when a session begins, and when settings change under it
//! (rules 4.1).

use phasegate_adapter::{Adapter, InstallRequest, InstallScope};
use phasegate_core::{Event, EventKind};

use crate::locations::Locations;
use crate::project::Project;

/// Says in events that are about it whether the guard would be gone, and keeps in `wired` whether the session began with
/// it. A session whose settings never started it (another program does, or a plugin) loses nothing by their change.
pub(crate) fn complete(
    event: &mut Event,
    wired: &mut Option<bool>,
    adapter: &dyn Adapter,
    (locations, project): (&Locations, &Project),
) {
    match &mut event.kind {
        EventKind::SessionStart { .. } => *wired = Some(unguarded(adapter, locations, project).is_none()),
        EventKind::ConfigChanged { unguarded: why, .. } if *wired != Some(false) => {
            *why = unguarded(adapter, locations, project);
        }
        _ => {}
    }
}

/// Why the platform would not start the guard in this project with the settings as they are; `None` where it would.
#[must_use]
pub fn unguarded(adapter: &dyn Adapter, locations: &Locations, project: &Project) -> Option<String> {
    let files = adapter.places().settings_files(&project.root, &locations.home);
    // What cannot be read here cannot be read by the client either.
    let existing = files.into_iter().filter_map(|path| std::fs::read_to_string(&path).ok().map(|text| (path, text)));
    adapter.unguarded(&InstallRequest {
        project: project.root.clone(),
        home: locations.home.clone(),
        command: std::env::current_exe().map(|path| path.display().to_string()).unwrap_or_default(),
        scope: InstallScope::Project,
        existing: existing.collect(),
    })
}
