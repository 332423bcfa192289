//! The demands of the five seed documents as data, and what proves each: `conformance/seeds/*.toml`.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};
use crate::root::{read, root};

/// Where the files lie.
pub const FOLDER: &str = "conformance/seeds";

/// Folders of which every file is played by a step of `cargo xtask ci`; so are the tests of each crate.
const PLAYED: [&str; 12] = [
    "conformance/cases/",
    "conformance/stories/",
    "conformance/faults/",
    "conformance/attacks/",
    "conformance/harmless/",
    "conformance/shell/",
    "skills/",
    "docs/",
    "packs/",
    "conformance/clients/",
    "conformance/expected-failures.toml",
    "ARCHITECTURE.md",
];

/// A seed document.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seed {
    /// Its title.
    pub title: String,
    /// Its demands, in its order.
    #[serde(rename = "item")]
    pub items: Vec<Item>,
    /// The file's name without its ending.
    #[serde(skip)]
    pub number: String,
}

/// A demand or a promise of a seed that a user can see.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// The seed's words.
    pub says: String,
    /// What phasegate does.
    pub here: String,
    /// What shows it: files that a check plays, each with a text of it after `::`.
    pub proof: Vec<String>,
    /// How phasegate differs, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub departs: Option<String>,
}

/// Reads every seed, in order.
///
/// # Errors
///
/// A file that cannot be read, or that is not of this form.
pub fn all() -> Result<Vec<Seed>> {
    let folder = root().join(FOLDER);
    let entries = std::fs::read_dir(&folder).map_err(|error| Failure::file(&folder, error))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    paths.sort();
    paths.iter().map(|path| one(path)).collect()
}

fn one(path: &Path) -> Result<Seed> {
    let mut seed: Seed = toml::from_str(&read(path)?).map_err(|error| Failure::file(path, error))?;
    seed.number = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
    Ok(seed)
}

/// What is wrong with the items of a seed, a sentence each.
#[must_use]
pub fn problems(seed: &Seed) -> Vec<String> {
    let mut said = BTreeSet::new();
    let mut found = Vec::new();
    for item in &seed.items {
        let mut problem = |what: String| found.push(format!("{} \"{}\": {what}", seed.number, item.says));
        if !said.insert(&item.says) {
            problem("it is there twice".to_owned());
        }
        if [Some(&item.says), Some(&item.here), item.departs.as_ref()].into_iter().flatten().any(|text| is_blank(text))
        {
            problem("a text of it is empty".to_owned());
        }
        if item.proof.is_empty() {
            problem("nothing proves it".to_owned());
        }
        for proof in &item.proof {
            if let Some(what) = refused(proof) {
                problem(what);
            }
        }
    }
    found
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Why something is no proof.
fn refused(proof: &str) -> Option<String> {
    let (path, within) = proof.split_once("::").map_or((proof, None), |(path, within)| (path, Some(within)));
    if !is_played(path) {
        return Some(format!("`{path}` is no file that a check plays"));
    }
    let full = root().join(path);
    let Ok(text) = read(&full) else {
        return (!full.is_dir()).then(|| format!("`{path}` is not there"));
    };
    let is_code = path.ends_with(".rs");
    match within {
        None if is_code => Some(format!("`{proof}` names no test")),
        Some(name) if is_code && !text.contains(&format!("fn {name}(")) => {
            Some(format!("`{path}` has no test `{name}`"))
        }
        Some(name) if !text.contains(name) => Some(format!("`{path}` does not contain `{name}`")),
        _ => None,
    }
}

/// Whether a step of `cargo xtask ci` plays a file.
fn is_played(path: &str) -> bool {
    PLAYED.iter().any(|folder| path.starts_with(folder))
        || path.contains("/tests/")
        || path.ends_with("tests.rs")
        || path.starts_with("xtask/cases/")
        || path.starts_with("adapters/shim/")
        || path.starts_with("clients/")
        || (path.ends_with(".rs") && path.contains("/src/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(proof: &[&str]) -> Seed {
        let proof = proof.iter().map(|&one| one.to_owned()).collect();
        let item = Item { says: "a demand".into(), here: "it is met".into(), proof, departs: None };
        Seed { title: "a seed".into(), items: vec![item], number: "009".into() }
    }

    #[test]
    fn an_item_needs_a_proof_that_is_there() {
        let own = "xtask/src/seeds.rs::an_item_needs_a_proof_that_is_there";
        assert_eq!(problems(&seed(&[own])), Vec::<String>::new());
        assert!(problems(&seed(&[]))[0].contains("nothing proves it"));
        assert!(problems(&seed(&["README.md"]))[0].contains("no file that a check plays"));
        assert!(problems(&seed(&["skills/tests/nothing.jsonl"]))[0].contains("is not there"));
        assert!(problems(&seed(&["xtask/src/seeds.rs"]))[0].contains("names no test"));
        assert!(problems(&seed(&["xtask/src/seeds.rs::no_such_test"]))[0].contains("has no test"));
    }

    #[test]
    fn no_demand_is_there_twice() {
        let own = "xtask/src/seeds.rs::no_demand_is_there_twice";
        let mut twice = seed(&[own]);
        twice.items.extend(seed(&[own]).items);
        assert!(problems(&twice)[0].contains("twice"));
    }
}
