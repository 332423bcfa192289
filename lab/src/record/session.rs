//! A recorded session as a case of the conformance suite: where it comes from, the project as it was, every frame.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use phasegate_conformance::play::session::{About, SESSIONS, Sessions};
use serde::Serialize;
use serde_json::value::RawValue;

use super::frame::{Frame, Reply};
use super::scratch::Scratch;
use xtask::failure::{Failure, Result};
use xtask::process;
use xtask::root::{read, root, write};

/// A line of `frames.jsonl`.
#[derive(Serialize)]
struct Line<'a> {
    n: usize,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    environment: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, Option<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    record: Vec<String>,
    frame: Box<RawValue>,
    reply: &'a Reply,
}

/// The project's files, without its history.
pub(crate) fn files(scratch: &Scratch) -> Result<BTreeMap<String, String>> {
    let project = scratch.path("project");
    let own = |entry: &walkdir::DirEntry| entry.file_name() != ".git";
    let mut files = BTreeMap::new();
    for entry in walkdir::WalkDir::new(&project).into_iter().filter_entry(own).flatten() {
        if entry.file_type().is_file() {
            let path = entry.path().strip_prefix(&project).unwrap_or(entry.path());
            files.insert(path.to_string_lossy().into_owned(), neutral(scratch, &read(entry.path())?));
        }
    }
    Ok(files)
}

/// Writes the session; returns its folder.
pub(crate) fn save(session: About, frames: &[Frame], scratch: &Scratch) -> Result<PathBuf> {
    let name = format!("{}@{}", session.story, session.client_version);
    let cases = root().join("conformance/cases").join(&session.client);
    let folder = cases.join("sessions").join(name);
    let mut lines = String::new();
    let mut before = session.files.clone();
    let mut recorded: Vec<&String> = Vec::new();
    for (at, frame) in frames.iter().enumerate() {
        let files = changed(&mut before, frame, scratch);
        let new: Vec<&String> = frame.record.iter().filter(|line| !recorded.contains(line)).collect();
        recorded.extend(&new);
        let record = new.into_iter().map(|line| neutral(scratch, line)).collect();
        lines.push_str(&line(at + 1, frame, files, record, scratch)?);
        lines.push('\n');
    }
    let path = cases.join(SESSIONS);
    let mut sessions = Sessions::parse(&read(&path)?).map_err(Failure::new)?;
    sessions.keep(session);
    write(&path, &toml::to_string_pretty(&sessions).map_err(|error| Failure::file(&path, error))?)?;
    write(&folder.join("frames.jsonl"), &lines)?;
    Ok(folder)
}

/// The files that changed since the frame before, with their texts; `None` for one that is gone.
fn changed(
    before: &mut BTreeMap<String, String>,
    frame: &Frame,
    scratch: &Scratch,
) -> BTreeMap<String, Option<String>> {
    if frame.files.is_empty() {
        return BTreeMap::new();
    }
    let now: BTreeMap<_, _> = frame.files.iter().map(|(path, text)| (path.clone(), neutral(scratch, text))).collect();
    let gone = |path: &&String| !path.starts_with('.') && !now.contains_key(*path);
    let gone: Vec<String> = before.keys().filter(gone).cloned().collect();
    let new = now.iter().filter(|(path, text)| before.get(*path) != Some(text));
    let mut changed: BTreeMap<_, _> = new.map(|(path, text)| (path.clone(), Some(text.clone()))).collect();
    for path in gone {
        before.remove(&path);
        changed.insert(path, None);
    }
    before.extend(now);
    changed
}

fn line(
    n: usize,
    frame: &Frame,
    files: BTreeMap<String, Option<String>>,
    record: Vec<String>,
    scratch: &Scratch,
) -> Result<String> {
    let failed = |error: serde_json::Error| Failure::new(format!("frame {n}: {error}"));
    // The text of the object stays as the client wrote it: order of keys, numbers, escapes.
    let raw = RawValue::from_string(neutral(scratch, frame.input.trim())).map_err(failed)?;
    let Reply { stdout, stderr, status } = &frame.reply;
    let reply = Reply { stdout: neutral(scratch, stdout), stderr: neutral(scratch, stderr), status: *status };
    serde_json::to_string(&Line { n, environment: &frame.environment, files, record, frame: raw, reply: &reply })
        .map_err(failed)
}

/// A text with the paths of the machine it was recorded on replaced by those below `/workspace`.
fn neutral(scratch: &Scratch, text: &str) -> String {
    neutral_below(&scratch.base, text)
}

/// A text with the paths below this folder replaced by those below `/workspace`.
pub(crate) fn neutral_below(base: &Path, text: &str) -> String {
    let base = base.display().to_string();
    let slug = |path: &str| {
        path.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect::<String>()
    };
    text.replace(&base, "/workspace").replace(&slug(&base), "-workspace")
}

/// The digest of a file, as lower-case hexadecimal digits.
pub(crate) fn sha256(path: &Path) -> Result<String> {
    let text = process::output(std::process::Command::new("sha256sum").arg(path))?;
    let digest = text.split_whitespace().next().map(str::to_string);
    digest.ok_or_else(|| Failure::file(path, "no digest"))
}

/// Today, as `YYYY-MM-DD`, in UTC.
pub(crate) fn today() -> Result<String> {
    Ok(process::output(std::process::Command::new("date").args(["-u", "+%F"]))?.trim().to_string())
}
