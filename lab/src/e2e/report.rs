//! The fault report of one version of one client, and the digests that say what it was made with.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::folder::folder;
use super::outcome::Row;
use super::scenario;
use crate::record::session::today;
use xtask::failure::{Failure, Result};
use xtask::root::{root, write};

/// A fault report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    /// The client, by the id of its adapter.
    pub(crate) client: String,
    /// The client's version.
    pub(crate) client_version: String,
    /// The day, `YYYY-MM-DD`.
    pub(crate) made: String,
    /// The digest of the adapter's sources.
    pub(crate) adapter_sha256: String,
    /// The digests of the files of scenarios, by path.
    pub(crate) scripts: BTreeMap<String, String>,
    /// The rows.
    pub(crate) rows: Vec<Row>,
}

impl Report {
    /// An empty report, with the digests of now.
    pub(super) fn new(client: &str, version: &str) -> Result<Self> {
        Ok(Self {
            client: client.into(),
            client_version: version.into(),
            made: today()?,
            adapter_sha256: adapter_digest(client)?,
            scripts: script_digests(client)?,
            rows: Vec::new(),
        })
    }

    /// The report as JSON.
    pub(super) fn text(&self) -> Result<String> {
        serde_json::to_string_pretty(self).map_err(|error| Failure::new(error.to_string()))
    }

    /// Keeps the report.
    pub(super) fn save(&self) -> Result {
        let path = folder(&self.client).join(format!("{}.json", self.client_version));
        write(&root().join(&path), &format!("{}\n", self.text()?))?;
        anstream::println!("wrote {}; `cargo xtask gen` makes the page of it", path.display());
        Ok(())
    }
}

/// Every kept report, by path from the workspace's root.
pub(crate) fn kept() -> Result<BTreeMap<String, Report>> {
    let mut reports = BTreeMap::new();
    for path in listed(&root().join("conformance/faults"), "json") {
        let text = xtask::root::read(&path)?;
        let report = serde_json::from_str(&text).map_err(|error| Failure::file(&path, error))?;
        reports.insert(from_root(&path), report);
    }
    Ok(reports)
}

/// The adapter's list of limits follows from the reports, so the reports do not depend on it.
const TOLD: &str = "limits.rs";

/// The digest of an adapter's sources: what the reports of its client were made with.
pub(crate) fn adapter_digest(client: &str) -> Result<String> {
    let sources = listed(&sources(client)?, "rs");
    let mut all = String::new();
    for path in sources.into_iter().filter(|path| !path.ends_with(TOLD)) {
        all.push_str(&format!("{}\n{}\n", from_root(&path), xtask::root::read(&path)?));
    }
    Ok(sha256(&all))
}

/// The folder of an adapter's sources: its own crate's, or that of the family in which it is a host.
fn sources(client: &str) -> Result<PathBuf> {
    let crates = root().join("adapters");
    let own = crates.join(client).join("src");
    if own.is_dir() {
        return Ok(own);
    }
    let host = format!("hosts/{}.rs", client.replace('-', "_"));
    let all = std::fs::read_dir(&crates).map_err(|error| Failure::file(&crates, error))?;
    let mut all = all.flatten().map(|entry| entry.path().join("src"));
    all.find(|sources| sources.join(&host).is_file()).ok_or_else(|| Failure::new(format!("no crate has `{client}`")))
}

/// The digests of a client's files of scenarios, by path.
pub(crate) fn script_digests(client: &str) -> Result<BTreeMap<String, String>> {
    Ok(scenario::files(client)?.into_iter().map(|(path, text)| (path, sha256(&text))).collect())
}

/// The names of a client's scenarios.
pub(crate) fn scenarios(client: &str) -> Result<Vec<String>> {
    Ok(scenario::load(client)?.into_iter().map(|scenario| scenario.name).collect())
}

fn sha256(text: &str) -> String {
    phasegate_runtime::digest::sha256_hex(text.as_bytes())
}

/// The files below a folder that end so, sorted.
fn listed(folder: &std::path::Path, end: &str) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten().map(walkdir::DirEntry::into_path);
    all.filter(|path| path.extension().is_some_and(|extension| extension == end)).collect()
}

fn from_root(path: &std::path::Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
