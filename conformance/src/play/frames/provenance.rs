//! A frame needs a provenance: which client sent it, what drove the client, and a digest of the recording.

use std::collections::BTreeSet;

use phasegate_adapter::{Adapter, Finding, Level};
use phasegate_runtime::digest::sha256_hex;
use serde::Deserialize;
use serde_json::json;

use super::recordings::{Recordings, add};
use crate::loading::Loading;
use crate::play::folders::cases;
use crate::trial::{Check, Mismatch};

/// `provenance.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Provenance {
    recording: Vec<Recording>,
}

/// Where one recording comes from.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recording {
    /// The recording's path, below `recordings/`.
    file: String,
    /// The version of the platform whose frames they are, which is also the recording's folder.
    client: String,
    /// Other programs that took part, each with its version.
    #[serde(default)]
    with: Vec<String>,
    /// The SHA-256 digest of the file, in hexadecimal digits.
    sha256: String,
    /// The file name of the program that drove the client; it need not be in the repository.
    driver: String,
    /// The SHA-256 digest of that program, which identifies it.
    driver_sha256: String,
    /// A script for the driver, in the adapter's folder.
    #[serde(default)]
    script: Option<String>,
    /// The SHA-256 digest of the script.
    #[serde(default)]
    script_sha256: Option<String>,
}

/// One trial for each recording, and one for each that has no entry.
pub(super) fn trials(loading: &mut Loading, adapter: &'static dyn Adapter, recordings: &Recordings) {
    let path = format!("{}/provenance.toml", adapter.id());
    let Some(text) = loading.take(&path) else { return };
    let listed: Vec<Recording> = match toml::from_str::<Provenance>(&text) {
        Ok(provenance) => provenance.recording,
        Err(error) => return loading.fails(&path, &error),
    };
    let named: BTreeSet<&str> = listed.iter().map(|recording| recording.file.trim_end_matches(".jsonl")).collect();
    for name in recordings.keys().filter(|name| !named.contains(name.as_str())) {
        loading.fails(&format!("{}/recordings/{name}", adapter.id()), &"has no entry in provenance.toml");
    }
    for recording in listed {
        if let Some(script) = &recording.script {
            let _ = loading.take(&format!("{}/{script}", adapter.id()));
        }
        let name = format!("provenance/{}", recording.file);
        let run = Box::new(move || recording.check(adapter));
        add(loading, adapter, Check::Decode, &name, "provenance", run);
    }
}

impl Recording {
    fn check(&self, adapter: &dyn Adapter) -> Vec<Mismatch> {
        let folder = cases().join(adapter.id());
        let digest = |path: &str| std::fs::read(folder.join(path)).map(|bytes| sha256_hex(&bytes)).unwrap_or_default();
        let mut mismatches = Vec::new();
        let mut held = |field: &str, wanted: &str, got: &str| {
            if wanted != got {
                mismatches.push(Mismatch::new(&self.file, field, json!(wanted), json!(got)));
            }
        };
        held("sha256", &self.sha256, &digest(&format!("recordings/{}", self.file)));
        let text = std::fs::read_to_string(folder.join("recordings").join(&self.file)).unwrap_or_default();
        held("paths", "", foreign_path(&text).unwrap_or_default());
        held("client", &self.client, self.file.split('/').next().unwrap_or_default());
        if let Some(script) = &self.script {
            held("script_sha256", self.script_sha256.as_deref().unwrap_or_default(), &digest(script));
        }
        let versions = adapter.diagnostics().versions();
        let known: Vec<&str> = versions.iter().map(String::as_str).collect();
        if Finding::of_version(Some(&self.client), &known, "").level != Level::Ok {
            held("client", &versions.join(", "), &self.client);
        }
        if self.with.iter().any(|program| program.split_whitespace().count() < 2) {
            held("with", "a program and its version", &self.with.join(", "));
        }
        if self.driver.is_empty() || self.driver_sha256.len() != 64 {
            held("driver", "a driver and its digest", &self.driver);
        }
        mismatches
    }
}

/// An absolute path that does not lie in `/workspace`: recordings name no folder of the machine they were made on.
fn foreign_path(text: &str) -> Option<&str> {
    let places = text.match_indices('/').map(|(at, _)| text.split_at(at));
    places.filter(|(before, _)| before.ends_with(['"', ' ', '=', '(', '\''])).map(|(_, path)| path).find_map(|path| {
        let path = path.split(|c: char| !(c.is_ascii_alphanumeric() || "/._-".contains(c))).next()?;
        let folder = path.trim_start_matches('/').split_once('/')?.0;
        let letters = folder.starts_with(|c: char| c.is_ascii_alphabetic());
        (letters && folder != "workspace").then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::foreign_path;

    #[test]
    fn only_the_workspace_is_named() {
        assert_eq!(foreign_path(r#"{"cwd":"/workspace/project","prompt":"/demo one, a/b </tag> // x"}"#), None);
        assert_eq!(foreign_path(r#"{"cwd":"/srv/project"}"#), Some("/srv/project"));
        assert_eq!(foreign_path("cat /opt/x/y"), Some("/opt/x/y"));
    }
}
