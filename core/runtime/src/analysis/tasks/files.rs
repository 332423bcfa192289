//! The files that say what tasks run.

use std::collections::BTreeMap;
use std::path::Path;

use phasegate_core::runner;
use serde_json::Value;

use super::task::{Task, Tasks};
use super::{justfile, makefile};
use crate::analysis::scripts;
use crate::bounds;

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// A program that runs tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    Cargo,
    Hatch,
    Just,
    Make,
    Mise,
    Package,
    Pdm,
    Poe,
    Taskfile,
}

/// What a command asks a program for.
pub(super) struct Asked<'w> {
    pub(super) program: Program,
    pub(super) name: &'w str,
    /// Whether the task is given further words.
    pub(super) more: bool,
}

/// How commands ask for a task: the words before its name, and options that change nothing about what it runs.
const ASKS: [(&str, Program, &str); 14] = [
    ("make", Program::Make, "-s --silent -k --keep-going -j* -B --no-print-directory"),
    ("gmake", Program::Make, "-s --silent -k --keep-going -j* -B --no-print-directory"),
    ("just", Program::Just, "-q --quiet --no-dotenv"),
    ("mise run", Program::Mise, "-q --quiet -S --silent -f --force --raw"),
    ("mise r", Program::Mise, "-q --quiet -S --silent -f --force --raw"),
    ("mise tasks run", Program::Mise, "-q --quiet -S --silent -f --force --raw"),
    ("task", Program::Taskfile, "-s --silent -f --force"),
    ("go-task", Program::Taskfile, "-s --silent -f --force"),
    ("poe", Program::Poe, "-q --quiet"),
    ("uv run poe", Program::Poe, "-q --quiet"),
    ("poetry run poe", Program::Poe, "-q --quiet"),
    ("pdm run", Program::Pdm, ""),
    ("hatch run", Program::Hatch, ""),
    ("cargo", Program::Cargo, ""),
];
/// Subcommands of cargo, which no alias stands in for.
const OF_CARGO: &str =
    "b bench build c check clean clippy d doc fix fmt install metadata r run rustc t test tree update";

/// Which task a command asks for, if it asks for one.
pub(super) fn asked<'w>(words: &[&'w str]) -> Option<Asked<'w>> {
    if let Some(name) = scripts::script(words) {
        return Some(Asked { program: Program::Package, name, more: false });
    }
    ASKS.iter().find_map(|(start, program, harmless)| {
        let start: Vec<&str> = start.split(' ').collect();
        let rest = words.strip_prefix(start.as_slice())?;
        let is_harmless =
            |word: &&&str| harmless.split_whitespace().any(|option| phasegate_core::glob::text_fits(option, word));
        let mut rest = rest.iter().skip_while(is_harmless);
        let name = rest.next().filter(|name| !name.starts_with('-') && !name.contains('='))?;
        let more = rest.next().is_some();
        // Of `make`, further words are further tasks, or change variables.
        let (several, own) = (matches!(program, Program::Make | Program::Just), *program == Program::Cargo);
        let builtin = own && OF_CARGO.split(' ').any(|known| known == *name);
        let unclear = builtin || (several && more);
        (!unclear).then_some(Asked { program: *program, name, more })
    })
}

/// The tasks that a program finds from a folder, where the line gives these variables a value. Of a file that cannot be read,
/// nothing is known.
pub(super) fn tasks(asked: &Asked<'_>, folder: &Path, given: &[&str]) -> Option<Tasks> {
    let Asked { program, name, .. } = *asked;
    let found = |places: &[&str], read: &dyn Fn(&str) -> Option<BTreeMap<String, Task>>, files: bool| {
        let above = if program == Program::Make { 1 } else { usize::MAX };
        folder.ancestors().take(above).find_map(|folder| {
            let file = places.iter().map(|place| folder.join(place)).find(|file| file.exists())?;
            let all = bounds::read(&file, MAX_BYTES).ok().and_then(|text| read(&text));
            Some(all.map(|all| Tasks { folder: folder.to_path_buf(), all, from: vec![file], files }))
        })?
    };
    match program {
        Program::Make => found(&["GNUmakefile", "makefile", "Makefile"], &|text| makefile::read(text, given), true),
        Program::Just => found(&["justfile", ".justfile", "Justfile"], &justfile::read, false),
        Program::Taskfile => {
            found(&["Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "Taskfile.dist.yml"], &taskfile, false)
        }
        Program::Mise => mise(name, folder),
        Program::Package => found(&["package.json"], &package, false),
        Program::Poe => found(&["pyproject.toml"], &|text| table(text, "/tool/poe/tasks", &["cmd", "shell"]), false),
        Program::Pdm => found(&["pyproject.toml"], &|text| table(text, "/tool/pdm/scripts", &["cmd", "shell"]), false),
        Program::Hatch => {
            found(&["pyproject.toml"], &|text| table(text, "/tool/hatch/envs/default/scripts", &[]), false)
        }
        Program::Cargo => found(&[".cargo/config.toml", ".cargo/config"], &aliases, false),
    }
}

fn parsed(text: &str) -> Option<Value> {
    serde_json::to_value(toml::from_str::<toml::Table>(text).ok()?).ok()
}

/// The texts of a value that is a text or a list of texts.
fn texts(value: &Value) -> Option<Vec<String>> {
    let text = |value: &Value| value.as_str().filter(|text| is_plain(text)).map(str::to_owned);
    match value {
        Value::Array(all) => all.iter().map(text).collect(),
        value => Some(vec![text(value)?]),
    }
}

/// Whether a text is run as it stands: no template, and by a shell.
fn is_plain(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let by_shell = !first.starts_with("#!") || first.ends_with("/sh") || first.ends_with("bash");
    by_shell && !["{{", "{%", "{#"].iter().any(|mark| text.contains(mark))
}

/// Whether these variables leave what programs do as it is.
fn leaves_programs(variables: Option<&Value>) -> bool {
    let plain = |fields: &serde_json::Map<String, Value>| !fields.keys().any(|name| runner::is_obeyed(name));
    variables.is_none_or(|variables| variables.as_object().is_some_and(plain))
}

/// Tasks at a place of a TOML file: texts, lists of texts, or tables with the text under one of these keys.
fn table(text: &str, place: &str, keys: &[&str]) -> Option<BTreeMap<String, Task>> {
    let value = parsed(text)?;
    let tasks = value.pointer(place)?.as_object()?;
    let lines = |task: &Value| match task {
        Value::Object(fields) if fields.len() == 1 => keys.iter().find_map(|key| texts(fields.get(*key)?)),
        Value::Object(_) => None,
        // A list is one of names of other tasks, but in hatch.
        Value::Array(_) if !keys.is_empty() => None,
        task => texts(task),
    };
    Some(tasks.iter().map(|(name, task)| (name.clone(), Task { lines: lines(task), others: Vec::new() })).collect())
}

/// The aliases of cargo.
fn aliases(text: &str) -> Option<BTreeMap<String, Task>> {
    let value = parsed(text)?;
    let line = |alias: &Value| {
        let words = texts(alias)?.join(" ");
        Some(vec![format!("cargo {words}")])
    };
    let aliases = value.get("alias")?.as_object()?;
    Some(aliases.iter().map(|(name, alias)| (name.clone(), Task { lines: line(alias), others: Vec::new() })).collect())
}

/// The scripts of a package, each between those that run before and after it.
fn package(text: &str) -> Option<BTreeMap<String, Task>> {
    let value: Value = serde_json::from_str(text).ok()?;
    let scripts = value.get("scripts")?.as_object()?;
    let texts = |name: &String| {
        let all = [format!("pre{name}"), name.clone(), format!("post{name}")];
        all.iter().filter_map(|name| scripts.get(name)?.as_str().map(str::to_owned)).collect()
    };
    let task = |name: &String| Task { lines: Some(texts(name)), others: Vec::new() };
    Some(scripts.keys().map(|name| (name.clone(), task(name))).collect())
}

/// The tasks of a Taskfile.
fn taskfile(text: &str) -> Option<BTreeMap<String, Task>> {
    let whole = format!("---\n{text}\n---\n");
    let value = phasegate_config::front_matter(&whole)?.fields?;
    if value.get("includes").is_some() || !leaves_programs(value.get("env")) || value.get("dotenv").is_some() {
        return None;
    }
    let line = |step: &Value| match step {
        Value::Object(fields) if fields.len() == 1 => match (fields.get("cmd"), fields.get("task")) {
            (Some(text), _) => texts(text),
            (_, Some(Value::String(name))) => Some(vec![format!("task {name}")]),
            _ => None,
        },
        step => texts(step),
    };
    let lines = |steps: &Value| match steps {
        Value::Array(steps) => steps.iter().map(line).collect::<Option<Vec<_>>>().map(|all| all.concat()),
        one => line(one),
    };
    let task = |task: &Value| {
        let Value::Object(fields) = task else { return Task { lines: lines(task), others: Vec::new() } };
        let harmless = ["cmds", "cmd", "deps", "desc", "summary", "aliases", "sources", "silent", "env"];
        let known = fields.keys().all(|key| harmless.contains(&key.as_str())) && leaves_programs(fields.get("env"));
        let steps = fields.get("cmds").or_else(|| fields.get("cmd"));
        let others = fields.get("deps").map_or(Some(Vec::new()), texts);
        let lines = steps.map_or(Some(Vec::new()), lines).filter(|_| known && others.is_some());
        Task { lines, others: others.unwrap_or_default() }
    };
    Some(value.get("tasks")?.as_object()?.iter().map(|(name, one)| (name.clone(), task(one))).collect())
}

/// The places of the settings of mise in a folder, the first of which win, and of its tasks that are files.
const OF_MISE: [&str; 7] = [
    "mise.local.toml",
    ".mise.local.toml",
    "mise.toml",
    ".mise.toml",
    "mise/config.toml",
    ".mise/config.toml",
    ".config/mise.toml",
];
const TASKS_OF_MISE: [&str; 4] = ["mise-tasks", ".mise-tasks", "mise/tasks", ".mise/tasks"];

/// The tasks of mise, of the nearest folder that has some.
fn mise(name: &str, folder: &Path) -> Option<Tasks> {
    folder.ancestors().find_map(|folder| {
        let mut all = BTreeMap::new();
        let mut from = Vec::new();
        for file in OF_MISE.map(|place| folder.join(place)).iter().filter(|file| file.exists()) {
            from.push(file.clone());
            let tasks = bounds::read(file, MAX_BYTES).ok().and_then(|text| tasks_of_mise(&text));
            let Some(tasks) = tasks else { return Some(None) };
            for (name, task) in tasks {
                all.entry(name).or_insert(task);
            }
        }
        let name_of_file = name.replace(':', "/");
        let script = TASKS_OF_MISE.iter().flat_map(|place| {
            let file = folder.join(place).join(&name_of_file);
            [file.join("_default"), file]
        });
        if let Some(file) = script.into_iter().find(|file| file.is_file()) {
            from.push(file.clone());
            let text = bounds::read(&file, MAX_BYTES).ok().filter(|text| text.starts_with("#!") && is_plain(text));
            // With two of one name, nobody can tell which it is.
            let lines =
                text.filter(|text| !all.contains_key(name) && !text.contains("#MISE dir")).map(|text| vec![text]);
            all.insert(name.to_owned(), Task { lines, others: Vec::new() });
        }
        let is_here = !from.is_empty();
        is_here.then(|| Some(Tasks { folder: folder.to_path_buf(), all, from, files: false }))
    })?
}

fn tasks_of_mise(text: &str) -> Option<BTreeMap<String, Task>> {
    let value = parsed(text)?;
    if !leaves_programs(value.get("env")) {
        return None;
    }
    let task = |task: &Value| {
        let Value::Object(fields) = task else { return Task { lines: texts(task), others: Vec::new() } };
        let harmless =
            ["run", "description", "depends", "wait_for", "sources", "outputs", "alias", "quiet", "hide", "env"];
        let known = fields.keys().all(|key| harmless.contains(&key.as_str())) && leaves_programs(fields.get("env"));
        let others = fields.get("depends").map_or(Some(Vec::new()), texts);
        let lines = fields.get("run").map_or(Some(Vec::new()), texts).filter(|_| known && others.is_some());
        Task { lines, others: others.unwrap_or_default() }
    };
    let tasks = value.get("tasks").and_then(Value::as_object);
    Some(tasks.into_iter().flatten().map(|(name, one)| (name.clone(), task(one))).collect())
}
