//! The plugin of a platform: a client that cannot load it reports nothing, so the check asks whether it has run.

use std::time::SystemTime;

use phasegate_adapter::{Adapter, Finding, Level};

use crate::clients::heartbeat::Beat;
use crate::locations::Locations;
use crate::project::Project;
use crate::timestamp::timestamp;

/// When the bridge that the plugin starts was last at work here, and by which version of which program.
pub(super) fn examine(locations: &Locations, project: &Project, adapter: &dyn Adapter) -> Finding {
    let Some(beat) = Beat::read(project, adapter.id()) else {
        let what = "the plugin has never run in this project; a client that cannot load it reports nothing";
        return Finding::new(Level::Warning, what).with("start a session of the client here, and run this again");
    };
    let client = if beat.client_version.is_empty() { String::new() } else { format!(" in {}", beat.client_version) };
    let this = env!("CARGO_PKG_VERSION");
    if changed(locations, project, adapter).is_some_and(|changed| changed > beat.started) {
        let what = format!(
            "the plugin's file was changed after the plugin was last loaded{client}, at {}",
            timestamp(beat.started)
        );
        return Finding::new(Level::Warning, what).with("restart the client, and run this again");
    }
    if beat.version != this {
        let what = format!("the plugin's bridge{client} is of version {}; this is {this}", beat.version);
        return Finding::new(Level::Warning, what).with("restart the client");
    }
    let last = timestamp(beat.last);
    match (beat.alive(), beat.ended) {
        (true, _) => Finding::new(Level::Ok, format!("the plugin runs{client}: its bridge last answered at {last}")),
        (false, true) => Finding::new(Level::Ok, format!("the plugin last ran{client} at {last}")),
        (false, false) => {
            let what = format!("the plugin's bridge{client} last answered at {last}, and did not end with its client");
            Finding::new(Level::Note, what).with("without it every call is denied; the next call starts another one")
        }
    }
}

/// When a file that bears our name, of those that the platform loads, was last changed, in milliseconds since 1970-01-01
/// UTC.
pub(super) fn changed(locations: &Locations, project: &Project, adapter: &dyn Adapter) -> Option<i64> {
    let places = adapter.installer().places();
    let files = places.installed_files(&project.root, &locations.home).into_iter();
    let all = files.chain(places.settings_files(&project.root, &locations.home));
    let own = all.filter(|path| path.file_stem().is_some_and(|name| name == "phasegate"));
    let times = own.filter_map(|path| path.metadata().ok()?.modified().ok());
    let newest = times.max()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(newest.as_millis()).ok()
}
