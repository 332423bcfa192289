//! The modules that a platform loads into itself, and which of them take what only the guard should take.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use phasegate_adapter::{Adapter, Change, Finding, InstallRequest, Level, ModuleTable};

use crate::bounds::{self, MAX_SETTINGS_BYTES};
use crate::clients::modules::{Search, events, taken, unsearched};
use crate::clients::platforms::Loader;
use crate::deadline::try_within;
use crate::locations::Locations;
use crate::project::Project;

/// How long the platform's program may take to say what one module takes, and what all of them do.
const PATIENCE: Duration = Duration::from_secs(10);
const WHOLE_PATIENCE: Duration = Duration::from_secs(30);
/// The most modules that are listed.
const MAX_MODULES: usize = 32;

pub(super) fn examine(
    locations: &Locations,
    project: &Project,
    adapter: &'static dyn Adapter,
    request: &InstallRequest,
) -> Vec<Finding> {
    let Some(table) = adapter.diagnostics().modules() else { return Vec::new() };
    let begun = Instant::now();
    let wall = adapter.installer().managed(request);
    let gone: Vec<_> = wall.iter().filter(|change| !is_as_written(change)).collect();
    let keeps_out = !wall.is_empty() && gone.is_empty();
    let mut found = Vec::new();
    if keeps_out {
        let what = format!("the machine's settings let clients load no {} but the administrator's", table.word);
        found.push(Finding::new(Level::Ok, what));
    } else if let Some(first) = gone.first().filter(|_| gone.len() < wall.len()) {
        let what = format!("`{}` is not as `phasegate init --managed` writes it", first.path.display());
        found.push(Finding::new(Level::Warning, what).with("let an administrator run it again"));
    }
    let from = std::env::current_dir().unwrap_or_else(|_| project.root.clone());
    let search = Search { home: &locations.home, root: &project.root, from: &from, known: BTreeSet::new() };
    let (folders, unread) = search.folders(Loader { adapter, table });
    found.extend(unread.iter().map(|place| Finding::new(Level::Warning, unsearched(place))));
    for folder in folders.into_iter().take(MAX_MODULES) {
        let said = (begun.elapsed() < WHOLE_PATIENCE).then(|| checked(table, &folder)).flatten();
        let may = said.is_none();
        let taken = said.map_or_else(|| taken(table, &folder), |said| events(table, &said));
        let (word, path) = (table.word, folder.display());
        found.push(if keeps_out {
            Finding::new(Level::Note, format!("the {word} `{path}` is not loaded, by the machine's settings"))
        } else if taken.is_empty() {
            Finding::new(Level::Ok, format!("the {word} `{path}` takes no event of calls"))
        } else {
            let takes = if may { "may take" } else { "takes" };
            let list = taken.iter().map(|event| format!("`{event}`")).collect::<Vec<_>>().join(", ");
            let what = format!("the {word} `{path}` {takes} {list}: it can let calls run past the guard");
            Finding::new(Level::Warning, what).with(format!(
                "read it; remove the {word} if you do not need it, and start the client anew: it loads each {word} at its start"
            ))
        });
    }
    found
}

/// Whether a file of the machine's is as it would be written. A program is only looked for: it names that of this machine.
fn is_as_written(change: &Change) -> bool {
    let is_data = change.path.extension().is_some_and(|end| end == "json");
    let there = bounds::read(&change.path, MAX_SETTINGS_BYTES).ok();
    there.is_some_and(|there| !is_data || change.after.as_ref() == Some(&there))
}

/// What the platform's own program says of a module; `None` where it cannot be asked.
fn checked(table: &ModuleTable, folder: &Path) -> Option<String> {
    let (program, arguments) = table.check.split_first()?;
    let mut command = Command::new(program);
    command.args(arguments).arg(folder).stdin(Stdio::null());
    let output = try_within(PATIENCE, move || command.output().ok())??;
    let said = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&said).into_owned();
    // A program that does not say it is an older one, or could not read the module.
    text.contains(table.answers).then_some(text)
}
