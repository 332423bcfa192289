//! The modules that a platform loads into itself, and which of them take what only the guard should take.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use phasegate_adapter::{Adapter, Finding, Level, ModuleTable};

use crate::bounds::{self, MAX_SETTINGS_BYTES};
use crate::deadline::try_within;
use crate::locations::Locations;
use crate::project::Project;
use crate::protected::protected_path::expanded;

/// How long the platform's program may take to say what one module takes, and what all of them do.
const PATIENCE: Duration = Duration::from_secs(10);
const WHOLE_PATIENCE: Duration = Duration::from_secs(30);
/// The most modules that are listed, and the most files of one that are read.
const MAX_MODULES: usize = 32;
const MAX_FILES: usize = 64;

pub(super) fn examine(
    locations: &Locations,
    project: &Project,
    adapter: &dyn Adapter,
    settings: &BTreeMap<PathBuf, String>,
) -> Vec<Finding> {
    let Some(table) = adapter.diagnostics().modules() else { return Vec::new() };
    let begun = Instant::now();
    let mut found = Vec::new();
    for folder in folders(table, locations, project, adapter, settings) {
        let said = (begun.elapsed() < WHOLE_PATIENCE).then(|| checked(table, &folder)).flatten();
        let may = said.is_none();
        let taken = said.map_or_else(|| in_texts(table, &folder), |said| events(table, &said));
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

/// The folders that are modules.
fn folders(
    table: &ModuleTable,
    locations: &Locations,
    project: &Project,
    adapter: &dyn Adapter,
    settings: &BTreeMap<PathBuf, String>,
) -> BTreeSet<PathBuf> {
    let whole = |name: &&str| {
        name.strip_prefix("~/").map_or_else(|| project.root.join(name), |below| locations.home.join(below))
    };
    let named = settings.iter().flat_map(|(path, text)| adapter.installer().loads_from(path, text));
    let named = named.flat_map(|folder| [folder.join("*"), folder.join("*/*"), folder]);
    let all = table.folders.iter().map(whole).chain(named).flat_map(|folder| expanded(&folder));
    // What is beside the machine's settings is the administrator's.
    let machine: Vec<PathBuf> = adapter.installer().places().settings_files(Path::new(""), Path::new(""));
    let machine: Vec<&Path> =
        machine.iter().filter(|path| path.is_absolute()).filter_map(|path| path.parent()).collect();
    let all = all.filter(|folder| !machine.iter().any(|machine| folder.starts_with(machine)));
    let is_one = |folder: &PathBuf| {
        bounds::read(&folder.join(table.sign), MAX_SETTINGS_BYTES).is_ok_and(|text| text.contains(table.says))
    };
    all.filter(is_one).take(MAX_MODULES).collect()
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

/// The events that the texts of a module name.
fn in_texts(table: &ModuleTable, folder: &Path) -> Vec<String> {
    let mut folders = vec![folder.to_path_buf()];
    let (mut texts, mut read) = (String::new(), 0);
    while let Some(at) = folders.pop() {
        for path in std::fs::read_dir(at).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let is_program = path.extension().and_then(|end| end.to_str()).is_some_and(|end| table.ends.contains(&end));
            if path.is_dir() && !path.is_symlink() && folders.len() < MAX_FILES {
                folders.push(path);
            } else if is_program && read < MAX_FILES {
                read += 1;
                texts.push_str(&bounds::read(&path, MAX_SETTINGS_BYTES).unwrap_or_default());
            }
        }
    }
    let quoted =
        |event: &String| ['\'', '"', '`'].iter().any(|quote| texts.contains(&format!("{quote}{event}{quote}")));
    events(table, &texts).into_iter().filter(quoted).collect()
}

/// The names of such events in a text.
fn events(table: &ModuleTable, text: &str) -> Vec<String> {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '.' || sign == '_' || sign == '$';
    let words = text.split(|sign| !is_part(sign)).map(|word| word.trim_end_matches('.'));
    let is_event = |word: &&str| table.events.iter().any(|begin| word.starts_with(begin) && word.len() >= begin.len());
    let found: BTreeSet<String> = words.filter(is_event).map(str::to_owned).collect();
    found.into_iter().collect()
}
