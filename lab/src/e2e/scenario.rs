//! A way in which a guard can fail, as written.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::folder::folder;
use xtask::failure::{Failure, Result};
use xtask::root::{read, root};

/// A file of scenarios.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    scenario: Vec<Scenario>,
}

/// One way in which a guard can fail.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scenario {
    /// Its name: lower case, words joined by hyphens.
    pub(super) name: String,
    /// What is broken, in a sentence.
    pub(super) fault: String,
    /// What is done before the client starts: commands of a shell, in the scratch folder.
    #[serde(default)]
    pub(super) prepare: Vec<String>,
    /// When the outside program acts.
    #[serde(default)]
    pub(super) when: When,
    /// What an outside program does then: shell commands, in the scratch folder.
    #[serde(default)]
    pub(super) hand: Vec<String>,
    /// What the agent itself calls before the forbidden calls, each in a message of its own.
    #[serde(default)]
    pub(super) agent: Vec<Attempt>,
    /// What an outside program does to repair it: shell commands, in the scratch folder. After a repair a permitted
    /// call must run, at the second try at the latest.
    #[serde(default)]
    pub(super) repair: Vec<String>,
    /// How long the client has to notice, in milliseconds.
    #[serde(default)]
    pub(super) wait_ms: u64,
    /// Further arguments for `phasegate init`.
    #[serde(default)]
    pub(super) init: Vec<String>,
    /// The folder that the client is started in, from the project's root.
    #[serde(default)]
    pub(super) start_in: String,
    /// Further arguments for the client.
    #[serde(default)]
    pub(super) args: Vec<String>,
    /// Variables of the client's environment; an empty value takes a variable away.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// What the guard must have noticed that went past it, by the client's version: words of `phasegate status --json`.
    #[serde(default)]
    pub(super) alarms: BTreeMap<String, Vec<String>>,
    /// Why the forbidden calls run, by the client's version; `*` stands for every version. Without an entry they must not.
    #[serde(default)]
    pub(super) open: BTreeMap<String, String>,
}

/// When the outside program acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum When {
    /// Before the client starts for the first time.
    Start,
    /// While a session runs in which the guard has just denied one call and let another one pass.
    #[default]
    Session,
    /// Between two processes of the client, the second of which continues the session.
    Restart,
}

/// A call of the agent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Attempt {
    /// The tool's name in the client.
    pub(super) tool: String,
    /// Its arguments.
    pub(super) input: Map<String, Value>,
}

/// The reason that a list holds for this version.
pub(super) fn reason<'a>(reasons: &'a BTreeMap<String, String>, version: &str) -> Option<&'a str> {
    of_version(reasons, version).map(String::as_str)
}

/// What a list holds for this version.
pub(super) fn of_version<'a, T>(all: &'a BTreeMap<String, T>, version: &str) -> Option<&'a T> {
    all.get(version).or_else(|| all.get("*"))
}

/// The files of scenarios of a client, by path from the workspace's root.
pub(super) fn files(client: &str) -> Result<BTreeMap<String, String>> {
    let folder = folder(client);
    let path = root().join(&folder);
    if !path.is_dir() {
        // Not every platform has a client that can be run so.
        return Ok(BTreeMap::new());
    }
    let listed = std::fs::read_dir(&path).map_err(|error| Failure::file(&path, error))?;
    let mut files = BTreeMap::new();
    for file in listed.flatten().map(|entry| entry.path()) {
        if file.extension().is_some_and(|end| end == "toml") {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.insert(folder.join(name).display().to_string(), read(&file)?);
        }
    }
    Ok(files)
}

/// Every scenario of a client, in the order of files and within them.
pub(super) fn load(client: &str) -> Result<Vec<Scenario>> {
    let mut all: Vec<Scenario> = Vec::new();
    for (path, text) in files(client)? {
        let file: File = toml::from_str(&text).map_err(|error| Failure::new(format!("{path}: {error}")))?;
        for scenario in file.scenario {
            if all.iter().any(|other| other.name == scenario.name) {
                return Err(Failure::new(format!("{path}: `{}` is there twice", scenario.name)));
            }
            all.push(scenario);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_can_be_read_and_breaks_something() {
        let all = load(crate::record::drivers::FIRST).unwrap();
        assert!(all.len() > 40, "{}", all.len());
        for scenario in all {
            let breaks = !scenario.hand.is_empty() || !scenario.agent.is_empty() || !scenario.args.is_empty();
            let breaks = breaks || !scenario.start_in.is_empty();
            assert!(breaks || !scenario.prepare.is_empty() || !scenario.env.is_empty(), "{}", scenario.name);
            let when = scenario.when == When::Session || scenario.agent.is_empty();
            assert!(when, "{}: the agent acts in a session", scenario.name);
        }
    }
}
