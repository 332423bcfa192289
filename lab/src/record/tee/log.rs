//! The log of frames.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::record::drivers::driver;
use crate::record::frame::Frame;

/// The variables by which the client that these arguments name says how it was started.
pub(super) fn environment(rest: &[String]) -> BTreeMap<String, String> {
    let set = |name: &&str| Some(((*name).to_string(), std::env::var(name).ok()?));
    let client = rest.iter().find_map(|word| driver(word).ok());
    client.map(|client| client.variables().iter().filter_map(set).collect()).unwrap_or_default()
}

/// The lines of the client's own file that say something of calls, where the guard reads it for this frame.
pub(super) fn record(rest: &[String], input: &[u8]) -> Vec<String> {
    let lines = || {
        let adapter = rest.iter().find_map(|word| phasegate_adapters::find(word))?;
        let message = adapter.codec().open(&phasegate_adapter::Frame::new(input.to_vec())).ok()?;
        let record = adapter.client_record()?;
        let text = std::fs::read_to_string(record.ends(&message)?).ok()?;
        Some(text.lines().filter(|line| !record.read(line).is_empty()).map(str::to_owned).collect())
    };
    lines().unwrap_or_default()
}

/// Appends a frame.
pub(super) fn keep(log: &mut File, frame: &Frame) -> std::io::Result<()> {
    log.write_all(format!("{}\n", serde_json::to_string(frame)?).as_bytes())
}

/// The folders of documents that are the agent's own in the hidden folders of clients.
const DOCUMENTS: [&str; 3] = ["specs", "plans", "memory"];

/// The texts of the project's files, without those of the guard, of clients and of version control.
pub(super) fn own_files(rest: &[String]) -> BTreeMap<String, String> {
    let places =
        rest.iter().find_map(|word| phasegate_adapters::find(word)).map(|adapter| adapter.installer().places());
    let variables = places.map(|places| places.project_variables).unwrap_or_default();
    let named = variables.iter().find_map(std::env::var_os).map(PathBuf::from);
    // A plugin starts the bridge in the project.
    let here = || std::env::current_dir().ok().filter(|folder| folder.join(".phasegate").is_dir());
    let Some(project) = named.or_else(here) else { return BTreeMap::new() };
    let is_hidden = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with('.');
    let own = |entry: &walkdir::DirEntry| {
        let name = entry.file_name();
        let parent = entry.path().parent().and_then(Path::file_name).filter(|_| entry.depth() == 2);
        match entry.depth() {
            0 => true,
            1 if is_hidden(name) => entry.file_type().is_dir(),
            2 if parent.is_some_and(is_hidden) => DOCUMENTS.iter().any(|documents| name == *documents),
            _ => !is_hidden(name) && name != "__pycache__",
        }
    };
    let found = walkdir::WalkDir::new(&project).into_iter().filter_entry(own).flatten();
    let text = |entry: walkdir::DirEntry| {
        let path = entry.path().strip_prefix(&project).ok()?.to_string_lossy().into_owned();
        Some((path, std::fs::read_to_string(entry.path()).ok()?))
    };
    found.filter(|entry| entry.file_type().is_file()).filter_map(text).collect()
}
