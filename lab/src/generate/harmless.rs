//! `conformance/proofs/false-alarms.md`: which calls of an ordinary session are denied, and why, from the lists that
//! the suite plays.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::generated::{Generated, cell};
use phasegate_config::shipped;
use xtask::failure::{Failure, Result};
use xtask::root::{read, root};

const FOLDER: &str = "conformance/harmless";

#[derive(Deserialize)]
struct Calls {
    group: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    what: String,
    #[serde(default)]
    inputs: Vec<toml::Table>,
    #[serde(default)]
    lines: Vec<String>,
}

#[derive(Deserialize)]
struct Skill {
    phase: String,
    #[serde(default)]
    denied: Vec<Denied>,
}

#[derive(Deserialize)]
struct Denied {
    why: String,
    #[serde(default)]
    groups: BTreeSet<String>,
    #[serde(default)]
    calls: Vec<String>,
}

impl Group {
    fn len(&self) -> usize {
        self.inputs.len() + self.lines.len()
    }
}

/// The page.
pub(super) fn page() -> Result<Generated> {
    let calls: Calls = parsed(&format!("{FOLDER}/calls.toml"))?;
    let all: usize = calls.group.iter().map(Group::len).sum();
    let mut text = format!(
        "# False alarms\n\n\
         Made by `cargo xtask gen` from `{FOLDER}`. `cargo xtask conformance` plays the calls in block mode, in the frames of each client.\n\
         A call that is denied and not listed fails the suite, and so does one that is listed and passes.\n\n\
         {all} calls of an ordinary session. **With no skill active: 0 denied.** In the working phase of a shipped skill:\n\n\
         | skill | phase | denied | of |\n|---|---|---|---|\n"
    );
    let mut below = String::new();
    for shipped in shipped().iter().filter(|shipped| !has_inputs(shipped.name)) {
        let skill: Skill = parsed(&format!("{FOLDER}/skills/{}.toml", shipped.name))?;
        // Writing to a string cannot fail.
        let _ = writeln!(
            below,
            "\n## `{}`, in the phase `{}`\n\n| why it is right | what is denied |\n|---|---|",
            shipped.name, skill.phase
        );
        let mut count = 0;
        for denied in &skill.denied {
            let groups = || calls.group.iter().filter(|group| denied.groups.contains(&group.what));
            count += denied.calls.len() + groups().map(Group::len).sum::<usize>();
            let groups = groups().map(|group| format!("all {} of: {}", group.len(), group.what));
            let single = denied.calls.iter().map(|call| format!("`{}`", cell(call)));
            let _ = writeln!(
                below,
                "| {} | {} |",
                cell(&denied.why),
                groups.chain(single).collect::<Vec<_>>().join("<br>")
            );
        }
        let _ = writeln!(text, "| `{}` | `{}` | {count} | {all} |", shipped.name, skill.phase);
    }
    let _ = write!(
        text,
        "\nA client that lacks a tool makes fewer calls, at least 100.\n\n## The calls\n\n| what | how many |\n|---|---|\n"
    );
    for group in &calls.group {
        let _ = writeln!(text, "| {} | {} |", group.what, group.len());
    }
    text.push_str(&below);
    Ok(Generated { path: "conformance/proofs/false-alarms.md".into(), text })
}

/// Whether values begin a skill: no call of every client gives them, so it is not played.
fn has_inputs(name: &str) -> bool {
    let policy = phasegate_config::shipped_policy(name, None);
    policy.and_then(|policy| policy.skill(name).map(|skill| !skill.inputs.is_empty())).unwrap_or_default()
}

fn parsed<T: DeserializeOwned>(path: &str) -> Result<T> {
    let path = root().join(path);
    toml::from_str(&read(&path)?).map_err(|error| Failure::file(&path, error))
}
