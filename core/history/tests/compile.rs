//! Rules as people write them: what they are compiled to, and what is said of mistakes.
//!
//! `PHASEGATE_BLESS=1` writes the expected files anew; then read the difference.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice, reason = "tests")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use phasegate_history::Leaf;
use phasegate_history::compile::{Compiled, EVENTS, Problem, Schemas, compile};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// The files of a folder, by name.
fn sources(name: &str) -> BTreeMap<String, String> {
    let files = fs::read_dir(folder().join(name)).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (path.file_stem().unwrap().to_str().unwrap().into(), fs::read_to_string(path).unwrap())).collect()
}

fn compiled(name: &str, source: &str) -> Result<Compiled, Vec<Problem>> {
    let actions = fs::read_to_string(folder().join("schema.cedarschema")).unwrap();
    compile(&name.replace('-', "_"), source, Schemas { actions: &actions, events: EVENTS })
}

fn expect(name: &str, found: &str) {
    let path = folder().join(name);
    if std::env::var_os("PHASEGATE_BLESS").is_some() {
        fs::write(&path, found).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap_or_default(), found, "{name}");
}

#[test]
fn rules_are_compiled_to_data() {
    let mut leaves: BTreeMap<String, Vec<Leaf>> = BTreeMap::new();
    let mut cedar = String::new();
    for (name, source) in sources("rules") {
        let compiled = compiled(&name, &source).unwrap_or_else(|problems| panic!("{name}: {problems:#?}"));
        assert_eq!(compiled.warnings, [], "{name}");
        for leaf in &compiled.leaves {
            assert!(compiled.cedar.contains(&leaf.field), "{name}: {}", compiled.cedar);
            assert!(compiled.schema.contains(&leaf.field), "{name}");
        }
        let _ = writeln!(cedar, "// {name}\n{}\n", compiled.cedar.trim());
        leaves.insert(name, compiled.leaves);
    }
    expect("leaves.json", &(serde_json::to_string_pretty(&leaves).unwrap() + "\n"));
    expect("lowered.cedar", &cedar);
}

#[test]
fn mistakes_are_named_with_their_place() {
    let mut found = String::new();
    for (name, source) in sources("broken") {
        let problems = compiled(&name, &source).expect_err(&name);
        for problem in problems {
            let place = problem.span.map_or("nowhere".into(), |span| format!("`{}`", &source[span]));
            let _ = writeln!(found, "{name}: {place}: {}", problem.message);
            if let Some(help) = problem.help {
                let _ = writeln!(found, "    {help}");
            }
        }
    }
    expect("broken.golden", &found);
}

#[test]
fn conditions_that_say_nothing_are_named() {
    let mut found = String::new();
    for (name, source) in sources("vacuous") {
        let compiled = compiled(&name, &source).unwrap_or_else(|problems| panic!("{name}: {problems:#?}"));
        for warning in &compiled.warnings {
            let place = warning.span.clone().map_or("nowhere".into(), |span| format!("`{}`", source[span].trim()));
            let _ = writeln!(found, "{name}: {place}: {}", warning.message);
        }
        if compiled.warnings.is_empty() {
            let _ = writeln!(found, "{name}: nothing is said");
        }
    }
    expect("vacuous.golden", &found);
}
