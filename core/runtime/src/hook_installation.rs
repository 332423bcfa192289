//! Whether the platform still starts the guard: asked when a session begins, and when settings change under it
//! (rules 4.1).

use std::path::Path;

use phasegate_adapter::{Adapter, InstallRequest, InstallScope};
use phasegate_core::policy::Mode;
use phasegate_core::{Event, EventKind};

use crate::locations::Locations;

/// Says in events that are about it why the guard would be gone, and keeps in `unwired` why the settings did not start it
/// when the session began. Where something else starts it (a plugin, another program), settings that still do not start
/// it for that same reason lose nothing; for another reason, they may have switched off the rest, too.
pub(crate) fn complete(
    event: &mut Event,
    unwired: &mut Option<String>,
    adapter: &dyn Adapter,
    locations: &Locations,
    folder: &Path,
) {
    match &mut event.kind {
        EventKind::SessionStart { .. } => *unwired = unguarded(adapter, locations, folder),
        EventKind::ConfigChanged { unguarded: why, .. } => {
            *why = unguarded(adapter, locations, folder).filter(|why| unwired.as_ref() != Some(why));
        }
        _ => {}
    }
}

/// Why the platform, which reads the project's settings in this folder, would not start the guard with the settings as they
/// are; `None` where it would.
#[must_use]
pub fn unguarded(adapter: &dyn Adapter, locations: &Locations, folder: &Path) -> Option<String> {
    let files = adapter.installer().places().settings_files(folder, &locations.home);
    // What cannot be read here cannot be read by the client either.
    let existing = files.into_iter().filter_map(|path| std::fs::read_to_string(&path).ok().map(|text| (path, text)));
    adapter.installer().unguarded(&InstallRequest {
        project: folder.to_path_buf(),
        home: locations.home.clone(),
        command: std::env::current_exe().map(|path| path.display().to_string()).unwrap_or_default(),
        mode: Mode::Block,
        scope: InstallScope::Project,
        existing: existing.collect(),
    })
}
