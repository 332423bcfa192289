//! The modules that a platform loads into itself, and which of them take what only the guard should take.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use phasegate_adapter::{Adapter, Finding, Level, ModuleTable};

use crate::deadline::try_within;
use crate::locations::Locations;
use crate::modules::{Search, events, taken, unsearched};
use crate::platforms::Loader;
use crate::project::Project;

/// How long the platform's program may take to say what one module takes, and what all of them do.
const PATIENCE: Duration = Duration::from_secs(10);
const WHOLE_PATIENCE: Duration = Duration::from_secs(30);
/// The most modules that are listed.
const MAX_MODULES: usize = 32;

pub(super) fn examine(locations: &Locations, project: &Project, adapter: &'static dyn Adapter) -> Vec<Finding> {
    let Some(table) = adapter.diagnostics().modules() else { return Vec::new() };
    let begun = Instant::now();
    let mut found = Vec::new();
    let from = std::env::current_dir().unwrap_or_else(|_| project.root.clone());
    let search = Search { home: &locations.home, root: &project.root, from: &from, known: BTreeSet::new() };
    let (folders, unread) = search.folders(Loader { adapter, table });
    found.extend(unread.iter().map(|place| Finding::new(Level::Warning, unsearched(place))));
    for folder in folders.into_iter().take(MAX_MODULES) {
        let said = (begun.elapsed() < WHOLE_PATIENCE).then(|| checked(table, &folder)).flatten();
        let may = said.is_none();
        let taken = said.map_or_else(|| taken(table, &folder), |said| events(table, &said));
        let (word, path) = (table.word, folder.display());
        found.push(if taken.is_empty() {
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
