//! `xtask/passed.toml`: when each slow check last passed, and on what.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::slow::{SLOW, Slow};
use xtask::failure::{Failure, Result};
use xtask::process::output;
use xtask::root::{read, root, write};

/// Where it is kept.
pub(crate) const FILE: &str = "xtask/passed.toml";
const HEAD: &str = "# When each slow check last passed, and on what: `cargo xtask ci` writes it. A check runs again when the digest of its\n\
                    # folders is another one.\n\n";

/// The slow checks that passed, by name.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct Passed(BTreeMap<String, Row>);

/// When a check passed, and on what.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// The day, `YYYY-MM-DD`.
    date: String,
    /// The commit that was checked out.
    commit: String,
    /// How long it took.
    seconds: u64,
    /// The SHA-256 digest of the files in its folders.
    sha256: String,
}

impl Passed {
    /// What is kept.
    pub(crate) fn read() -> Result<Self> {
        let path = root().join(FILE);
        if !path.exists() {
            return Ok(Self::default());
        }
        toml::from_str(&read(&path)?).map_err(|error| Failure::file(&path, error))
    }

    /// Writes it, without checks that are no more.
    pub(crate) fn write(&mut self) -> Result {
        self.0.retain(|name, _| SLOW.iter().any(|step| step.name == name));
        let text = toml::to_string_pretty(self).map_err(|error| Failure::new(error.to_string()))?;
        write(&root().join(FILE), &format!("{HEAD}{text}"))
    }

    /// Whether the folders of a check are not those that it passed on.
    pub(crate) fn stale(&self, step: &Slow) -> Result<bool> {
        let now = digest(step)?;
        Ok(self.0.get(step.name).is_none_or(|row| row.sha256 != now))
    }

    /// When a check passed, in words.
    pub(crate) fn since(&self, name: &str) -> String {
        self.0.get(name).map_or_else(|| "never".to_owned(), |row| format!("{} ({})", row.date, row.commit))
    }

    /// Notes that a check passed on its folders as they are.
    pub(crate) fn renew(&mut self, step: &Slow, time: Duration) -> Result {
        let row = Row {
            date: output(std::process::Command::new("date").args(["-u", "+%Y-%m-%d"]))?.trim().to_owned(),
            commit: output(&mut git(&["rev-parse", "--short=12", "HEAD"]))?.trim().to_owned(),
            seconds: time.as_secs(),
            sha256: digest(step)?,
        };
        self.0.insert(step.name.to_owned(), row);
        Ok(())
    }
}

fn git(args: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new("git");
    command.args(args).current_dir(root());
    command
}

/// The digest of what a check is about: each file's path and content, those that git does not ignore.
fn digest(step: &Slow) -> Result<String> {
    let mut list = git(&["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]);
    let listed = output(list.args(step.folders))?;
    let mut paths: Vec<&str> = listed.split('\0').filter(|path| !path.is_empty()).collect();
    paths.sort_unstable();
    paths.dedup();
    if paths.is_empty() {
        return Err(Failure::new(format!("the check `{}` is about no file", step.name)));
    }
    let mut digest = Sha256::new();
    for path in paths {
        // A file that is deleted and not yet committed is none.
        if let Ok(bytes) = std::fs::read(root().join(path)) {
            digest.update(format!("{path}\0{}\0", bytes.len()));
            digest.update(&bytes);
        }
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
