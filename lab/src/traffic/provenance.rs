//! Where each recording comes from: `provenance.toml` of the adapter.

use serde::{Deserialize, Serialize};

use crate::record::session::sha256;
use xtask::failure::{Failure, Result};
use xtask::root::{read, root, write};

/// The adapter's folder of cases.
pub(super) const CASES: &str = "conformance/cases/mcp";

const HEAD: &str = "# Where every recording comes from: `cargo xtask record-mcp` writes this. `client` is the revision of the protocol,\n\
    # `with` names client and server, `script` is the scenario, `driver` the recorder.\n\n";

const DRIVER: &str = "lab/src/traffic.rs";

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Provenance {
    recording: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    file: String,
    client: String,
    with: Vec<String>,
    sha256: String,
    driver: String,
    driver_sha256: String,
    script: String,
    script_sha256: String,
}

/// Notes where a recording comes from.
pub(super) fn note(file: &str, scenario: &str, revision: &str, with: Vec<String>) -> Result {
    let folder = root().join(CASES);
    let path = folder.join("provenance.toml");
    let mut all: Provenance = match read(&path) {
        Ok(text) => toml::from_str(&text).map_err(|error| Failure::file(&path, error))?,
        Err(_) => Provenance::default(),
    };
    let script = format!("scripts/{scenario}.json");
    all.recording.retain(|entry| entry.file != file);
    all.recording.push(Entry {
        file: file.into(),
        client: revision.into(),
        with,
        sha256: sha256(&folder.join("recordings").join(file))?,
        driver: "traffic.rs".into(),
        driver_sha256: sha256(&root().join(DRIVER))?,
        script_sha256: sha256(&folder.join(&script))?,
        script,
    });
    all.recording.sort_by(|one, other| one.file.cmp(&other.file));
    let text = toml::to_string_pretty(&all).map_err(|error| Failure::file(&path, error))?;
    write(&path, &format!("{HEAD}{text}"))
}
