//! The files that say what tasks run.

use std::path::Path;
use std::slice;

use phasegate_core::shell::runner;
use phasegate_core::values::glob::text_fits;
use serde_json::{Map, Value};

use super::task::{Said, Task, Tasks};
use super::{justfile, makefile};
use crate::analysis::tests::scripts;
use crate::bounds;
use crate::project::paths::resolve;

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
    /// The words after those that start the program, without `-C FOLDER`.
    words: Vec<&'w str>,
    /// The folder that `make` goes to.
    folder: Option<&'w str>,
    /// Options among them that change nothing about what it runs.
    harmless: &'static str,
}

/// The one task that a command asks for.
pub(super) struct OneTask<'w> {
    pub(super) name: &'w str,
    /// Whether it is given further words.
    pub(super) more: bool,
}

impl<'w> Asked<'w> {
    /// The one task; `None`: there may be others, or nobody can tell.
    pub(super) fn one(&self) -> Option<OneTask<'w>> {
        let is_harmless = |word: &&&str| self.harmless.split_whitespace().any(|option| text_fits(option, word));
        let mut rest = self.words.iter().skip_while(is_harmless);
        let name = rest.next().filter(|name| !name.starts_with('-') && !name.contains('='))?;
        let more = rest.next().is_some();
        // Of `make`, further words are further tasks, or change variables.
        let unclear = self.is_of_cargo(name) || (more && matches!(self.program, Program::Make | Program::Just));
        (!unclear).then_some(OneTask { name, more })
    }

    /// The tasks that it may ask for, of these.
    pub(super) fn names(&self, said: &Said) -> Vec<String> {
        let several = matches!(self.program, Program::Make | Program::Just | Program::Mise | Program::Taskfile);
        let is_name = |word: &&&str| !word.starts_with('-') && !word.contains('=');
        let words: Vec<&str> = self.words.iter().filter(is_name).copied().collect();
        let named = words.iter().take(if several { usize::MAX } else { 1 });
        let named = named.filter(|word| said.all.contains_key(**word) && !self.is_of_cargo(word));
        let default = said.first.iter().filter(|_| words.is_empty()).cloned();
        named.map(|word| (*word).to_owned()).chain(default).collect()
    }

    fn is_of_cargo(&self, name: &str) -> bool {
        self.program == Program::Cargo && OF_CARGO.split(' ').any(|known| known == name)
    }
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

/// What a command asks a program for that runs tasks; `None`: it starts none.
pub(super) fn asked<'w>(words: &[&'w str]) -> Option<Asked<'w>> {
    if let Some(name) = scripts::script(words) {
        return Some(Asked { program: Program::Package, words: vec![name], folder: None, harmless: "" });
    }
    ASKS.iter().find_map(|(start, program, harmless)| {
        let mut rest = words.iter();
        let starts = start.split(' ').all(|wanted| rest.next() == Some(&wanted));
        let mut words: Vec<&str> = rest.copied().collect();
        let goes = |word: &&str| *program == Program::Make && ["-C", "--directory"].contains(word);
        let at = words.iter().position(goes).filter(|at| at.saturating_add(1) < words.len());
        let folder = at.and_then(|at| words.drain(at..=at.saturating_add(1)).nth(1));
        starts.then_some(Asked { program: *program, words, folder, harmless })
    })
}

/// The tasks that a program finds from a folder, where the line gives these variables a value; `None`: there is no file.
pub(super) fn tasks(asked: &Asked<'_>, start: &Path, given: &[&str]) -> Option<Tasks> {
    let start = resolve(start, Path::new(asked.folder.unwrap_or(".")))?;
    let found = |places: &[&str], read: &dyn Fn(&str) -> Said| {
        let above = if asked.program == Program::Make { 1 } else { usize::MAX };
        start.ancestors().take(above).find_map(|folder| {
            let file = places.iter().map(|place| folder.join(place)).find(|file| file.exists())?;
            let said = bounds::read(&file, MAX_BYTES).map_or_else(|_| Said::nothing(), |text| read(&text));
            Some(Tasks { folder: folder.to_path_buf(), from: vec![file], said })
        })
    };
    match asked.program {
        Program::Make => found(&["GNUmakefile", "makefile", "Makefile"], &|text| makefile::read(text, given)),
        Program::Just => found(&["justfile", ".justfile", "Justfile"], &justfile::read),
        Program::Taskfile => found(&["Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "Taskfile.dist.yml"], &taskfile),
        Program::Mise => start.ancestors().find_map(|folder| mise(asked, folder)),
        Program::Package => found(&["package.json"], &package),
        Program::Poe => found(&["pyproject.toml"], &|text| table(text, "/tool/poe/tasks", &["cmd", "shell"])),
        Program::Pdm => found(&["pyproject.toml"], &|text| table(text, "/tool/pdm/scripts", &["cmd", "shell"])),
        Program::Hatch => found(&["pyproject.toml"], &|text| table(text, "/tool/hatch/envs/default/scripts", &[])),
        Program::Cargo => found(&[".cargo/config.toml", ".cargo/config"], &aliases),
    }
}

/// What these fields of a value say, each a task.
fn said(tasks: Option<&Value>, read: &dyn Fn(&str, &Value) -> Task) -> Said {
    let Some(tasks) = tasks.and_then(Value::as_object) else { return Said::nothing() };
    let all = tasks.iter().map(|(name, task)| (name.clone(), read(name, task))).collect();
    Said { all, ..Said::default() }
}

fn parsed(text: &str) -> Option<Value> {
    serde_json::to_value(toml::from_str::<toml::Table>(text).ok()?).ok()
}

/// A task of the texts of a value: a text or a list of texts.
fn texts(value: &Value) -> Task {
    let mut task = Task::default();
    for one in value.as_array().map_or(slice::from_ref(value), Vec::as_slice) {
        match one.as_str() {
            Some(text) => task.add(text),
            None => task.unsure = true,
        }
    }
    task
}

/// Whether these variables leave what programs do as it is.
fn leaves_programs(variables: Option<&Value>) -> bool {
    let plain = |fields: &Map<String, Value>| !fields.keys().any(|name| runner::is_obeyed(name));
    variables.is_none_or(|variables| variables.as_object().is_some_and(plain))
}

/// A task that is an object: the texts under the first of these keys that is there, and the names of others under another.
fn described(fields: &Map<String, Value>, keys: &[&str], others: &str, harmless: &[&str]) -> Task {
    let mut task = keys.iter().find_map(|key| fields.get(*key)).map(steps).unwrap_or_default();
    let named = fields.get(others).map(texts).unwrap_or_default();
    let known = |key: &&String| ![keys, harmless].concat().contains(&key.as_str()) && *key != others;
    task.unsure |= named.unsure || fields.keys().any(|key| known(&key)) || !leaves_programs(fields.get("env"));
    task.others.extend(named.texts);
    task
}

/// A task of texts, some of which may be objects: `{cmd: TEXT}` and `{task: NAME}` of a Taskfile.
fn steps(value: &Value) -> Task {
    let mut task = Task::default();
    for step in value.as_array().map_or(slice::from_ref(value), Vec::as_slice) {
        let text = step.as_str().or_else(|| step.get("cmd")?.as_str());
        match (text, step.get("task").and_then(Value::as_str)) {
            (Some(text), _) => task.add(text),
            (None, Some(name)) => task.others.push(name.to_owned()),
            (None, None) => task.unsure = true,
        }
        task.unsure |= step.as_object().is_some_and(|fields| fields.len() > 1);
    }
    task
}

/// Tasks at a place of a TOML file: texts, lists of texts, or tables with the text under one of these keys.
fn table(text: &str, place: &str, keys: &[&str]) -> Said {
    let value = parsed(text);
    said(value.as_ref().and_then(|value| value.pointer(place)), &|_, task| match task {
        Value::Object(fields) => described(fields, keys, "", &[]),
        // A list is one of names of other tasks, but in hatch.
        Value::Array(_) if !keys.is_empty() => Task { unsure: true, ..Task::default() },
        task => texts(task),
    })
}

/// The aliases of cargo.
fn aliases(text: &str) -> Said {
    let value = parsed(text);
    said(value.as_ref().and_then(|value| value.get("alias")), &|_, alias| {
        let words = texts(alias);
        Task { texts: vec![format!("cargo {}", words.texts.join(" "))], ..words }
    })
}

/// The scripts of a package, each between those that run before and after it.
fn package(text: &str) -> Said {
    let value: Option<Value> = serde_json::from_str(text).ok();
    let scripts = value.as_ref().and_then(|value| value.get("scripts"));
    said(scripts, &|name, script| {
        let around = |place: &str| scripts?.get(format!("{place}{name}"))?.as_str().map(str::to_owned);
        let all = [around("pre"), script.as_str().map(str::to_owned), around("post")];
        Task { texts: all.into_iter().flatten().collect(), ..Task::default() }
    })
}

/// The tasks of a Taskfile.
fn taskfile(text: &str) -> Said {
    let whole = format!("---\n{text}\n---\n");
    let value = phasegate_config::front_matter(&whole).and_then(|matter| matter.fields).unwrap_or_default();
    let harmless = ["desc", "summary", "aliases", "sources", "silent", "env"];
    let mut all = said(value.get("tasks"), &|_, task| match task {
        Value::Object(fields) => described(fields, &["cmds", "cmd"], "deps", &harmless),
        task => steps(task),
    });
    all.unsure |= value.get("includes").or_else(|| value.get("dotenv")).is_some() || !leaves_programs(value.get("env"));
    all.first = Some("default".to_owned());
    all
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

/// The tasks of mise in a folder that has some.
fn mise(asked: &Asked<'_>, folder: &Path) -> Option<Tasks> {
    let mut all = Said::default();
    let mut from = Vec::new();
    for file in OF_MISE.map(|place| folder.join(place)).into_iter().filter(|file| file.exists()) {
        let said = bounds::read(&file, MAX_BYTES).map_or_else(|_| Said::nothing(), |text| tasks_of_mise(&text));
        from.push(file);
        all.unsure |= said.unsure;
        for (name, task) in said.all {
            all.all.entry(name).or_insert(task);
        }
    }
    for name in asked.words.iter().filter(|word| !word.starts_with('-')) {
        let place = |place: &&str| folder.join(place).join(name.replace(':', "/"));
        let mut files = TASKS_OF_MISE.iter().map(place).flat_map(|file| [file.join("_default"), file]);
        let Some(file) = files.find(|file| file.is_file()) else { continue };
        let text = bounds::read(&file, MAX_BYTES).unwrap_or_default();
        from.push(file);
        // With two of one name, nobody can tell which it is.
        let unsure = all.all.contains_key(*name) || !text.starts_with("#!") || text.contains("#MISE dir");
        let mut task = Task { unsure, ..Task::default() };
        task.add(&text);
        all.all.insert((*name).to_owned(), task);
    }
    let is_here = !from.is_empty();
    is_here.then(|| Tasks { folder: folder.to_path_buf(), from, said: all })
}

fn tasks_of_mise(text: &str) -> Said {
    let Some(value) = parsed(text) else { return Said::nothing() };
    let harmless = ["description", "wait_for", "sources", "outputs", "alias", "quiet", "hide", "env"];
    let none = Value::Object(Map::new());
    let mut all = said(value.get("tasks").or(Some(&none)), &|_, task| match task {
        Value::Object(fields) => described(fields, &["run"], "depends", &harmless),
        task => texts(task),
    });
    all.unsure |= !leaves_programs(value.get("env"));
    all
}
