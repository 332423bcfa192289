//! Whether the platform still starts the guard: asked when a session begins, and when settings change under it
//! (rules 4.1).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use phasegate_adapter::{Adapter, Frame, InstallRequest, InstallScope, Problem};
use phasegate_core::policy::Mode;
use phasegate_core::{Code, Event, EventKind};

use crate::bounds;
use crate::locations::Locations;
use crate::project::Project;

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
        EventKind::SessionStart { .. } => *unwired = unguarded(adapter, locations, folder, InstallScope::Project),
        EventKind::ConfigChanged { unguarded: why, .. } => {
            *why = unguarded(adapter, locations, folder, InstallScope::Project)
                .filter(|why| unwired.as_ref() != Some(why));
        }
        _ => {}
    }
}

/// Why the platform, which reads the project's settings in this folder, would not start the guard with the settings as they
/// are; `None` where it would. For [`InstallScope::User`], whether it would without a person who trusts the project.
pub fn unguarded(adapter: &dyn Adapter, locations: &Locations, folder: &Path, scope: InstallScope) -> Option<String> {
    let existing = existing(adapter.installer().places().settings_files(folder, &locations.home));
    adapter.installer().unguarded(&InstallRequest {
        project: folder.to_path_buf(),
        home: locations.home.clone(),
        command: std::env::current_exe().map(|path| path.display().to_string()).unwrap_or_default(),
        mode: Mode::Block,
        scope,
        shell: None,
        existing,
    })
}

/// The platforms of which some settings name the guard, and which would not start it with the settings as they are, each with
/// the reason.
pub fn switched_off(locations: &Locations, root: &Path, adapters: &[&'static dyn Adapter]) -> Vec<(String, String)> {
    let names_guard = |adapter: &dyn Adapter| {
        let files = adapter.installer().places().settings_files(root, &locations.home);
        existing(files).values().any(|text| text.contains("phasegate"))
    };
    let installed = adapters.iter().copied().filter(|adapter| names_guard(*adapter));
    let why = |adapter: &'static dyn Adapter| unguarded(adapter, locations, root, InstallScope::Project);
    installed.filter_map(|adapter| Some((adapter.name().to_owned(), why(adapter)?))).collect()
}

/// Why a frame is refused in a project that nothing guards and of which nothing is kept: the project's own settings start
/// the guard as for block mode, so it was guarded, and config and state were both removed.
pub(crate) fn removed(adapter: &dyn Adapter, frame: &Frame, project: &Project) -> Option<Problem> {
    let demanding = demanding(adapter, frame, project)?;
    let text = format!(
        "`{}` starts the guard in block mode, and neither a config nor state of the project is there",
        demanding.display()
    );
    Some(Problem::new(Code::PolicyMissing, text).with_remedy(
        "ask the user to restore the files under `.phasegate/` or to run `phasegate init`, or, if nothing is to be guarded, \
         `phasegate init --undo`",
    ))
}

/// The problem with configs that ask for less than the project's own settings, which start the guard as for block mode, where
/// nothing is kept of the project: its state was removed, and its configs weakened.
pub(crate) fn weakened(adapter: &dyn Adapter, frame: &Frame, project: &Project) -> Option<Problem> {
    let demanding = demanding(adapter, frame, project)?;
    let text = format!(
        "`{}` starts the guard in block mode, the configs ask for warnings alone, and no state of the project is there",
        demanding.display()
    );
    Some(Problem::new(Code::PolicyMissing, text).with_remedy(
        "ask the user to look at the files under `.phasegate/` and to run `phasegate init`, which accepts them",
    ))
}

/// The project's own settings that start the guard as for block mode.
fn demanding(adapter: &dyn Adapter, frame: &Frame, project: &Project) -> Option<PathBuf> {
    let (installer, root) = (adapter.installer(), project.root.as_path());
    let places = installer.places();
    let start = places.project_variables.iter().find_map(|name| frame.environment.get(name)).map_or(root, Path::new);
    let settings = existing(places.own_settings_files(installer.project_folder(root, start)));
    installer.demands_guard(&settings).map(Path::to_path_buf)
}

/// The files with their text. What cannot be read here cannot be read by the client either, but for a file of absurd size.
fn existing(files: Vec<PathBuf>) -> BTreeMap<PathBuf, String> {
    files.into_iter().filter_map(|path| bounds::settings(&path).ok().map(|text| (path, text))).collect()
}
