//! Files of sessions as events: transcripts of ours, and what clients keep themselves.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use phasegate_adapter::{Adapter, Frame, Playback, Recorded, SessionLine};
use phasegate_core::events::event::CallOutcome;
use phasegate_core::{Event, EventKind};
use serde_json::Value;

use crate::timestamp::milliseconds;

/// How the name of a file of sessions ends.
const END: &str = "jsonl";
/// The arguments of file tools that name a file.
const ARGUMENTS: [&str; 3] = ["file_path", "notebook_path", "path"];
/// The most characters of a reason.
const MAX_WHY: usize = 300;
/// How deep folders of sessions are looked into.
const MAX_DEPTH: usize = 8;
/// How many lines of a file are looked at for the folder in which its session works.
const HEAD: usize = 50;

/// A file while it is read.
pub(super) struct Import<'a> {
    adapters: &'a [&'static dyn Adapter],
    /// What is known of each session of a client: which calls are open.
    sessions: BTreeMap<String, Playback>,
    /// What clients' files say of earlier lines of the same session.
    known: BTreeMap<String, Value>,
    /// Why something of the last line was left out.
    left_out: Vec<String>,
    /// The session of the last line of a client's file.
    latest: Option<String>,
    /// The folder in which the first session of a client began.
    root: Option<String>,
}

impl<'a> Import<'a> {
    pub(super) fn new(adapters: &'a [&'static dyn Adapter]) -> Self {
        Self {
            adapters,
            sessions: BTreeMap::new(),
            known: BTreeMap::new(),
            left_out: Vec::new(),
            latest: None,
            root: None,
        }
    }

    /// The events of a line; what cannot be read is counted by its reason.
    pub(super) fn events(&mut self, line: &str) -> Vec<Event> {
        if line.trim().is_empty() {
            return Vec::new();
        }
        let Ok(mut value) = serde_json::from_str::<Value>(line) else { return self.skip("a line that is no JSON") };
        if value.get("event").is_some_and(Value::is_string) {
            let time = value.get("time").and_then(Value::as_str).and_then(milliseconds);
            if let Some(fields) = value.as_object_mut() {
                fields.remove("expect");
                time.map(|time| fields.insert("time".to_owned(), time.into()));
            }
            return Event::from_value(value).map(|event| vec![event]).unwrap_or_else(|why| self.skip(&why));
        }
        let client = |adapter: &&'static dyn Adapter| adapter.session_lines().is_some_and(|lines| lines.knows(&value));
        let Some(adapter) = self.adapters.iter().copied().find(client) else {
            return self.skip("a line of no form that is known");
        };
        let Some(lines) = adapter.session_lines() else { return Vec::new() };
        let SessionLine { frames, ends, at } = lines.read(&value, &mut self.known);
        let time = at.as_deref().and_then(milliseconds);
        let mut events = Vec::new();
        for frame in frames {
            match self.decoded(adapter, &frame) {
                Ok(decoded) => {
                    events.extend(decoded.into_iter().map(|event| Event { time: event.time.or(time), ..event }))
                }
                Err(why) => drop(self.skip(&why)),
            }
        }
        let session = events.last().map(|event| event.session.clone()).or_else(|| self.latest.clone());
        self.latest.clone_from(&session);
        let ended =
            ends.into_iter().filter_map(|one| Some(Event { time, ..Event::new(session.as_deref()?, end(one)?) }));
        events.extend(ended.collect::<Vec<_>>());
        events
    }

    fn decoded(&mut self, adapter: &'static dyn Adapter, frame: &Value) -> Result<Vec<Event>, String> {
        let codec = adapter.codec();
        let message = codec.open(&Frame::new(frame.to_string())).map_err(|problem| problem.message)?;
        let session = self.sessions.entry(message.session.clone()).or_default();
        let mut events = session.decode(codec, &message).map_err(|problem| problem.message)?.events;
        events.iter_mut().for_each(|event| self.place(event));
        Ok(events)
    }

    /// Says where the paths of a call lead, from the folder in which the first session began. Of a file that an argument
    /// names, the replay says it.
    fn place(&mut self, event: &mut Event) {
        let root = self.root.get_or_insert_with(|| event.cwd.clone().unwrap_or_default());
        let EventKind::ToolCall { input, analysis, .. } = &mut event.kind else { return };
        if ARGUMENTS.iter().any(|name| input.get(name).is_some_and(Value::is_string)) {
            return analysis.paths.clear();
        }
        for path in analysis.paths.iter_mut().filter(|path| path.resolved.is_none()) {
            let below = path.written.strip_prefix(root.as_str()).and_then(|rest| rest.strip_prefix('/'));
            path.resolved = Some(below.unwrap_or(&path.written).trim_start_matches("./").to_owned());
        }
    }

    fn skip(&mut self, why: &str) -> Vec<Event> {
        self.left_out.push(why.chars().take(MAX_WHY).collect());
        Vec::new()
    }

    /// Why something of the last line was left out; each reason once.
    pub(super) fn take_left_out(&mut self) -> Vec<String> {
        std::mem::take(&mut self.left_out)
    }
}

/// The end of a call that a client's file tells beside what its hooks would say.
fn end(recorded: Recorded) -> Option<EventKind> {
    let end = recorded.end?;
    let outcome = match (end.ran, end.passed) {
        (false, _) => CallOutcome::Refused,
        (true, Some(true)) => CallOutcome::Ok,
        (true, Some(false)) => CallOutcome::Failed,
        (true, None) => CallOutcome::Unknown,
    };
    Some(EventKind::ToolResult {
        id: Some(recorded.call),
        outcome: Some(outcome),
        ok: None,
        exit_code: end.exit_code,
        output: None,
        tests: end.tests.unwrap_or_default(),
        reported: BTreeMap::new(),
        tool: None,
        input: None,
    })
}

/// The files of sessions that the clients of this machine keep.
pub fn client_files(adapters: &[&'static dyn Adapter], home: &Path) -> Vec<PathBuf> {
    let folders = adapters.iter().filter_map(|adapter| adapter.session_lines()).flat_map(|lines| lines.folders());
    let mut found = Vec::new();
    folders.for_each(|folder| below(&home.join(folder), &mut found));
    found.sort();
    found
}

/// Whether the session of a file works in this folder, as far as its first lines say.
pub fn works_in(file: &Path, folder: &Path) -> bool {
    let Ok(file) = File::open(file) else { return false };
    let lines = BufReader::new(file).lines().take(HEAD).map_while(Result::ok);
    let cwd = |line: String| {
        let value: Value = serde_json::from_str(&line).ok()?;
        let place = value.get("cwd").or_else(|| value.pointer("/payload/cwd"))?;
        place.as_str().map(PathBuf::from)
    };
    lines.filter_map(cwd).any(|cwd| cwd.starts_with(folder))
}

/// Adds the files of sessions in a folder and below.
pub(super) fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut folders = vec![(folder.to_path_buf(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            if kind.is_dir() && depth < MAX_DEPTH {
                folders.push((path, depth + 1));
            } else if kind.is_file() && path.extension().is_some_and(|end| end == END) {
                found.push(path);
            }
        }
    }
}
