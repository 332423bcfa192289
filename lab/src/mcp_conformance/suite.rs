//! The suite itself: a program of Node.js that writes what it found into files.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};

use crate::npm::Packages;
use xtask::failure::{Failure, Result};
use xtask::process::output;
use xtask::root::{read, target};

/// How many scenarios for servers the suite has in its version that is locked.
const SCENARIOS: usize = 32;

/// The program, below `node_modules`.
const PROGRAM: &str = "@modelcontextprotocol/conformance/dist/index.js";
/// How the suite begins a line that names the scenario it runs.
const RUNNING: &str = "=== Running scenario: ";

/// The suite, ready to run.
pub(super) struct Suite {
    node: PathBuf,
    program: PathBuf,
    scenarios: Vec<String>,
}

/// What one check of a scenario found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Check {
    /// Its id.
    pub(super) id: String,
    /// `SUCCESS`, `FAILURE`, `WARNING` or `INFO`.
    pub(super) status: String,
    /// What went wrong.
    #[serde(rename = "errorMessage", default, skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
}

/// The checks of each scenario that was run.
pub(super) type Scenarios = BTreeMap<String, Vec<Check>>;

impl Suite {
    /// The installed suite, and which scenarios it has.
    pub(super) fn new(packages: &Packages) -> Result<Self> {
        let (node, program) = (packages.node()?, packages.file(PROGRAM));
        let listed = output(Command::new(&node).arg(&program).args(["list", "--server"]))?;
        let scenarios = scenarios(&listed);
        if scenarios.len() != SCENARIOS {
            return Err(Failure::new(format!("the suite has {} scenarios, {SCENARIOS} expected", scenarios.len())));
        }
        Ok(Self { node, program, scenarios })
    }

    /// The scenarios by name, in the suite's order.
    pub(super) fn scenarios(&self) -> &[String] {
        &self.scenarios
    }

    /// Runs every scenario against the server at this address.
    pub(super) fn run(&self, url: &str, what: &str) -> Result<Scenarios> {
        let results = target().join("mcp-conformance");
        let _ = std::fs::remove_dir_all(&results);
        std::fs::create_dir_all(&results).map_err(|error| Failure::file(&results, error))?;
        let failed = |error: std::io::Error| Failure::new(format!("the suite: {error}"));
        let mut command = Command::new(&self.node);
        command.arg(&self.program).args(["server", "--suite", "all", "--url", url, "--output-dir"]).arg(&results);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(failed)?;
        let style = ProgressStyle::with_template("{bar:32} {pos}/{len} {msg}");
        let bar = ProgressBar::new(self.scenarios.len() as u64);
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        for line in child.stdout.take().into_iter().flat_map(|out| BufReader::new(out).lines()) {
            if let Some(scenario) = line.map_err(failed)?.strip_prefix(RUNNING) {
                bar.set_message(format!("{what}: {}", scenario.trim_end_matches(" ===")));
                bar.inc(1);
            }
        }
        // Its exit status says whether all passed; the files say more.
        child.wait().map_err(failed)?;
        bar.finish_and_clear();
        self.scenarios.iter().map(|name| Ok((name.clone(), checks(&results, name)?))).collect()
    }
}

/// The names in the suite's list: `  - NAME [REVISIONS]`.
fn scenarios(listed: &str) -> Vec<String> {
    let names = listed.lines().filter_map(|line| line.trim().strip_prefix("- "));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_string).collect()
}

/// What a scenario wrote: the folder is named `server-NAME-TIME`, and times begin with a digit.
fn checks(results: &Path, scenario: &str) -> Result<Vec<Check>> {
    let begin = format!("server-{scenario}-");
    let written =
        |name: &str| name.strip_prefix(&begin).is_some_and(|time| time.starts_with(|c: char| c.is_ascii_digit()));
    let entries = std::fs::read_dir(results).map_err(|error| Failure::file(results, error))?;
    let mut folders = entries.flatten().filter(|entry| written(&entry.file_name().to_string_lossy()));
    let Some(folder) = folders.next() else {
        return Err(Failure::new(format!("the suite wrote nothing of `{scenario}`")));
    };
    let path = folder.path().join("checks.json");
    serde_json::from_str(&read(&path)?).map_err(|error| Failure::file(&path, error))
}

#[cfg(test)]
mod tests {
    use super::scenarios;

    #[test]
    fn names_are_read_from_the_list() {
        assert_eq!(
            scenarios("Server scenarios:\n  - ping [2025-06-18]\n  - tools-list [a,b]\n"),
            ["ping", "tools-list"]
        );
    }
}
