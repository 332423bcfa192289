//! The files of a transcript: the world as its `file` lines say, and the real one where that is asked for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use phasegate_core::calls::analysis::{Access, PathUse, UNKNOWN};
use phasegate_core::events::event::EventKind;
use phasegate_core::values::glob::{Glob, path_fits};
use phasegate_core::{Event, FactKey, FactValue, Facts, Policy, is_secret_path};
use phasegate_store::digest::sha256_hex;
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::analysis::new_content::{self, CONTENT};
use crate::analysis::reads_of_folders::{self, Listing};
use crate::facts::elements::Arguments;
use crate::facts::steps;
use crate::facts::{self, format, named_files, pointer};

/// What is known of the files. Paths are relative to the root where they lie below it, else absolute.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    live: Option<PathBuf>,
    /// The project's folder: the one given, else the first working directory that a line names.
    root: Option<String>,
    /// The newest statement of each file, and how often it had been changed by then.
    stated: BTreeMap<String, (Stated, u64)>,
    /// How often each file was changed by a line.
    changes: BTreeMap<String, u64>,
}

#[derive(Clone, Debug)]
enum Stated {
    Content(String),
    Sha256(String),
    Absent,
}

impl Files {
    pub(super) fn new(live: Option<PathBuf>, root: Option<String>) -> Self {
        Self { live, root, stated: BTreeMap::new(), changes: BTreeMap::new() }
    }

    /// A line names its working directory.
    pub(super) fn seen_from(&mut self, cwd: &str) {
        self.root.get_or_insert_with(|| cwd.to_owned());
    }

    /// The folder in which the transcript begins.
    pub(super) fn root(&self) -> &Path {
        Path::new(self.root.as_deref().unwrap_or("/"))
    }

    /// A `file` line: the file is, from now on, as stated.
    pub(super) fn set(&mut self, path: &str, cwd: Option<&str>, content: Option<&str>, sha256: Option<&str>) {
        let stated = match (content, sha256) {
            (Some(content), _) => Stated::Content(content.to_owned()),
            (None, Some(digest)) => Stated::Sha256(digest.to_ascii_lowercase()),
            (None, None) => Stated::Absent,
        };
        let path = self.normal(path, cwd);
        self.change(&path);
        let changes = self.changes.get(&path).copied().unwrap_or_default();
        self.stated.insert(path, (stated, changes));
    }

    /// A call is let through: the files that it names may be changed from now on.
    pub(super) fn called(&mut self, event: &Event) {
        let EventKind::ToolCall { input, analysis, .. } = &event.kind else { return };
        let written = |path: &&PathUse| path.access == Access::Write;
        let text = input.get(CONTENT).and_then(Value::as_str);
        for path in analysis.paths.iter().filter(written) {
            let Some(resolved) = path.resolved.clone() else { continue };
            self.change(&resolved);
            let changes = self.changes.get(&resolved).copied().unwrap_or_default();
            let text = text.filter(|_| path.becomes.is_some());
            self.stated.extend(text.map(|text| (resolved, (Stated::Content(text.to_owned()), changes))));
        }
    }

    /// The text of a file, where lines tell it.
    fn text(&self, path: &str) -> Option<String> {
        if let Stated::Content(text) = self.now(path)? { Some(text.clone()) } else { None }
    }

    /// What lines say of a file, if nothing changed it since.
    fn now(&self, path: &str) -> Option<&Stated> {
        let changes = self.changes.get(path).copied().unwrap_or_default();
        self.stated.get(path).filter(|(_, then)| *then == changes).map(|(stated, _)| stated)
    }

    fn change(&mut self, path: &str) {
        *self.changes.entry(path.to_owned()).or_default() += 1;
    }

    /// Answers the keys that `facts` does not answer yet; unknown where neither a line nor a live file tells.
    pub(super) fn gather(&self, policy: &Policy, keys: &[FactKey], facts: &mut Facts) {
        let mut unstated = Vec::new();
        for key in keys {
            match self.stated(policy, key) {
                Some(value) => {
                    facts.insert(key.clone(), value.into());
                }
                None => unstated.push(key.clone()),
            }
        }
        match &self.live {
            Some(root) => facts::gather(facts::World { root, project: None, policy, trial: None }, &unstated, facts),
            None => facts.extend(unstated.into_iter().map(|key| (key, FactValue::Unknown.into()))),
        }
    }

    fn stated(&self, policy: &Policy, key: &FactKey) -> Option<FactValue> {
        let args = key.args();
        if key.source() == "files" {
            let pattern = args.as_str().filter(|_| self.live.is_none())?;
            let selected = Glob::from(pattern);
            let changed = self.changes.iter().filter(|(path, _)| selected.fits(path));
            return Some(FactValue::Known(json!(changed.collect::<BTreeMap<_, _>>())));
        }
        if matches!(key.source(), "contents" | "counts") {
            return self.listed(key).filter(|_| self.live.is_none());
        }
        if key.source() == "elements" {
            let asked = Arguments::deserialize(&args).ok()?;
            return self.each(&asked.paths, &|bytes| asked.of(bytes)).filter(|_| self.live.is_none());
        }
        if key.source() == "steps" {
            let asked = steps::Arguments::deserialize(&args).ok()?;
            let read = |path: &str| self.bytes(path);
            return Some(asked.answer(&read, &|_| Vec::new())).filter(|_| self.live.is_none());
        }
        if matches!(key.source(), "pointer" | "format") {
            return self.documents(policy, key).filter(|_| self.live.is_none());
        }
        let text = |place: usize| args.get(place).and_then(Value::as_str);
        let path = args.as_str().or_else(|| text(0))?;
        Some(match (&self.stated.get(&self.normal(path, None))?.0, key.source()) {
            (Stated::Absent, _) => FactValue::Absent,
            (Stated::Content(content), "file") => FactValue::Known(sha256_hex(content.as_bytes()).into()),
            (Stated::Sha256(digest), "file") => FactValue::Known(digest.as_str().into()),
            (Stated::Content(content), "count") => match text(1).filter(|text| !text.is_empty()) {
                Some(text) => FactValue::Known(content.matches(text).count().into()),
                None => FactValue::Unknown,
            },
            (Stated::Content(_) | Stated::Sha256(_), _) => FactValue::Unknown,
        })
    }

    /// What is told of each file that patterns select, as far as lines tell what stands in them.
    fn each(&self, paths: &[String], told: &dyn Fn(&[u8]) -> Value) -> Option<FactValue> {
        let mut files = BTreeMap::new();
        for path in self.changes.keys() {
            if let Some(Stated::Content(content)) = self.now(path)
                && paths.iter().any(|pattern| path_fits(pattern, path))
            {
                files.insert(path, told(content.as_bytes()));
            }
        }
        Some(FactValue::Known(json!(files)))
    }

    /// What stands in files that the question names, as far as lines tell.
    fn documents(&self, policy: &Policy, key: &FactKey) -> Option<FactValue> {
        let read = |path: &str| self.bytes(path);
        if key.source() == "format" {
            return Some(format::Arguments::deserialize(key.args()).ok()?.answer(policy, &read));
        }
        let asked = pointer::Arguments::deserialize(key.args()).ok()?;
        Some(named_files::each(&asked.files, &read, &|bytes| asked.of(bytes)))
    }

    /// What stands in a file, as far as lines tell it.
    fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        match &self.stated.get(path)?.0 {
            Stated::Content(content) => Some(content.clone().into_bytes()),
            Stated::Sha256(_) | Stated::Absent => None,
        }
    }

    /// The files that patterns select, each with its digest or with the number of occurrences of a text. What a call wrote
    /// that does not give the whole text has a content that nobody knows.
    fn listed(&self, key: &FactKey) -> Option<FactValue> {
        let args = key.args();
        let (patterns, text) = if key.source() == "counts" { (args.get(0)?, args.get(1)) } else { (&args, None) };
        let patterns: Vec<&str> = patterns.as_array()?.iter().filter_map(Value::as_str).collect();
        let fits = |path: &&String| patterns.iter().any(|pattern| path_fits(pattern, path));
        let mut files = BTreeMap::new();
        for (path, changes) in self.changes.iter().filter(|(path, _)| fits(path)) {
            let value = match (self.now(path), text.and_then(Value::as_str)) {
                (Some(Stated::Absent), _) => continue,
                (Some(Stated::Content(content)), Some(text)) => json!(content.matches(text).count()),
                (Some(Stated::Content(content)), None) => json!(sha256_hex(content.as_bytes())),
                (Some(Stated::Sha256(digest)), None) => json!(digest),
                (_, Some(_)) => continue,
                (_, None) => json!(format!("written {changes} times")),
            };
            files.insert(path, value);
        }
        Some(FactValue::Known(json!(files)))
    }

    /// Fills in what a file tool's arguments say of paths, where the line itself has no reading; and where the paths of a
    /// shell line lead, as far as words tell.
    pub(super) fn read_paths(&self, event: &mut Event, of_line: bool) {
        let cwd = event.cwd.clone();
        let EventKind::ToolCall { tool, input, analysis, .. } = &mut event.kind else { return };
        for path in
            analysis.paths.iter_mut().filter(|path| of_line && path.resolved.is_none() && path.written != UNKNOWN)
        {
            path.resolved = Some(self.normal(&path.written, cwd.as_deref()));
        }
        for path in &mut analysis.paths {
            path.new = path.access != Access::Read && path.resolved.as_deref().is_some_and(|path| self.is_new(path));
        }
        let access = match tool.as_str() {
            "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => Access::Write,
            "Read" | "Grep" | "Glob" | "LS" => Access::Read,
            _ => return,
        };
        if !analysis.is_empty() {
            return;
        }
        for name in ["file_path", "notebook_path", "path"] {
            if let Some(written) = input.get(name).and_then(Value::as_str) {
                let resolved = self.normal(written, cwd.as_deref());
                let becomes =
                    new_content::of(written, input, || self.text(&resolved)).filter(|_| access == Access::Write);
                let new = access == Access::Write && self.is_new(&resolved);
                let (resolved, becomes) = (Some(resolved), becomes.map(Box::new));
                analysis.paths.push(PathUse { resolved, becomes, new, ..PathUse::new(written.to_owned(), access) });
            }
        }
    }

    /// Notes which files a call reads with their folder, of those that some of the patterns select.
    pub(super) fn name_read(&self, event: &mut Event, policy: &Policy) {
        let cwd = event.cwd.clone();
        reads_of_folders::note(event, policy, &|| self.normal(".", cwd.as_deref()), self);
    }

    /// Whether a file with secrets would stand there, and nothing is there as far as is known.
    fn is_new(&self, path: &str) -> bool {
        let is_there = || match (self.now(path), &self.live) {
            (Some(stated), _) => !matches!(stated, Stated::Absent),
            (None, Some(root)) => root.join(path).symlink_metadata().is_ok(),
            (None, None) => self.changes.contains_key(path),
        };
        is_secret_path(path) && !is_there()
    }

    /// A path as facts and matchers name it: relative paths start from the working directory, else from the root.
    fn normal(&self, path: &str, cwd: Option<&str>) -> String {
        let root = self.root.as_deref().map(plain);
        let base = cwd.map(plain).or_else(|| root.clone()).unwrap_or_default();
        let whole = if path.starts_with('/') { plain(path) } else { plain(&format!("{base}/{path}")) };
        let inside = root.as_ref().and_then(|root| match whole.strip_prefix(root.as_str())? {
            "" => Some("."),
            below => below.strip_prefix('/'),
        });
        match inside {
            Some(inside) => inside.to_owned(),
            None if base.is_empty() && !path.starts_with('/') => whole.trim_start_matches('/').to_owned(),
            None => whole,
        }
    }
}

impl Listing for Files {
    fn below(&self, folder: &str) -> Vec<String> {
        let of_root = reads_of_folders::is_root(folder);
        let inside = |path: &&String| match of_root {
            true => !path.starts_with('/'),
            false => path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')),
        };
        // Of what a call wrote, nobody says whether it is still there, and whether it is ignored.
        let there = |path: &&String| matches!(self.now(path), Some(Stated::Content(_) | Stated::Sha256(_)));
        let named = self.stated.keys().filter(inside).filter(there).cloned();
        let live = self.live.iter().flat_map(|root| reads_of_folders::files_of(&root.join(folder)));
        named.chain(live.map(|file| if of_root { file } else { format!("{folder}/{file}") })).collect()
    }

    fn is_ignored(&self, path: &str) -> bool {
        self.live.as_ref().is_some_and(|root| facts::is_ignored(root, Path::new(path)))
    }
}

/// An absolute path without `.`, `..`, doubled slashes and a slash at its end.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
