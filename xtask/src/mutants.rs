//! `cargo xtask mutants`: a test that nothing can make fail proves nothing, so the decision table is broken on purpose.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use owo_colors::OwoColorize;
use serde::Deserialize;

use xtask::failure::{Failure, Result};
use xtask::process::{cargo, shown};
use xtask::root::{read, root, target, write};

/// `xtask/mutants.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    file: String,
    package: String,
    /// The folders of the members that the package depends on.
    with: Vec<String>,
    test: String,
    mutant: Vec<Mutant>,
}

/// One mistake.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutant {
    what: String,
    find: String,
    replace: String,
}

/// Makes every mistake in a copy of the engine and runs the table's test on it.
pub(crate) fn run() -> Result {
    let list = parse(&read(&root().join("xtask/mutants.toml"))?)?;
    let original = read(&root().join(&list.file))?;
    let mutated = list.mutant.iter().map(|mutant| mutant.apply(&original)).collect::<Result<Vec<_>>>()?;
    let copy = Copy::make(&list)?;
    copy.with(&original)?;
    copy.test().map_err(|log| Failure::new(format!("the test fails without any mutation\n{log}")))?;
    let mut survived = 0_usize;
    for (mutant, text) in list.mutant.iter().zip(&mutated) {
        copy.with(text)?;
        copy.build().map_err(|log| Failure::new(format!("does not compile: {}\n{log}", mutant.what)))?;
        let caught = copy.test().is_err();
        survived += usize::from(!caught);
        let word = if caught { "caught  ".green().to_string() } else { "SURVIVED".red().to_string() };
        anstream::println!("{word}  {}", mutant.what);
    }
    let total = list.mutant.len();
    anstream::println!("mutants: {} caught, {survived} survived", total - survived);
    if survived == 0 {
        return Ok(());
    }
    Err(Failure::new(format!("{survived} of {total} mutants of {} survived its test; add the missing rows", list.file)))
}

fn parse(text: &str) -> Result<List> {
    let list: List = toml::from_str(text).map_err(|error| Failure::new(format!("xtask/mutants.toml: {error}")))?;
    if list.mutant.is_empty() {
        return Err(Failure::new("xtask/mutants.toml lists no mutant"));
    }
    Ok(list)
}

impl Mutant {
    /// The text with the mistake in it.
    fn apply(&self, original: &str) -> Result<String> {
        match original.matches(&self.find).count() {
            1 if self.find != self.replace => Ok(original.replace(&self.find, &self.replace)),
            1 => Err(Failure::new(format!("mutant `{}` changes nothing", self.what))),
            count => {
                Err(Failure::new(format!("mutant `{}`: `{}` occurs {count} times, not once", self.what, self.find)))
            }
        }
    }
}

/// A copy of the workspace that holds the engine and what it depends on.
struct Copy<'a> {
    folder: PathBuf,
    list: &'a List,
}

impl<'a> Copy<'a> {
    fn make(list: &'a List) -> Result<Self> {
        let folder = target().join("mutants/work");
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| Failure::file(&folder, error))?;
        }
        let member = Path::new(&list.file).ancestors().nth(2).unwrap_or(Path::new(""));
        let members: Vec<&Path> = [member].into_iter().chain(list.with.iter().map(Path::new)).collect();
        for entry in members.iter().flat_map(|member| walkdir::WalkDir::new(root().join(member))).flatten() {
            if entry.file_type().is_file() {
                let inside = entry.path().strip_prefix(root()).unwrap_or(entry.path());
                write(&folder.join(inside), &read(entry.path())?)?;
            }
        }
        for name in ["ARCHITECTURE.md", "Cargo.lock", "clippy.toml"] {
            write(&folder.join(name), &read(&root().join(name))?)?;
        }
        write(&folder.join("Cargo.toml"), &manifest(&read(&root().join("Cargo.toml"))?, &members)?)?;
        Ok(Self { folder, list })
    }

    fn with(&self, text: &str) -> Result {
        write(&self.folder.join(&self.list.file), text)
    }

    fn build(&self) -> std::result::Result<(), String> {
        self.cargo(&["--no-run"])
    }

    fn test(&self) -> std::result::Result<(), String> {
        self.cargo(&[])
    }

    fn cargo(&self, more: &[&str]) -> std::result::Result<(), String> {
        let mut command: Command =
            cargo(&["test", "--quiet", "--package", &self.list.package, "--test", &self.list.test]);
        command.args(more).current_dir(&self.folder).env("CARGO_TARGET_DIR", target().join("mutants/target"));
        // One line differs from the build before.
        command.env("CARGO_INCREMENTAL", "1");
        let output = command.output().map_err(|error| format!("`{}`: {error}", shown(&command)))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
    }
}

/// The workspace's manifest with these members.
fn manifest(text: &str, members: &[&Path]) -> Result<String> {
    let mut table: toml::Table = text.parse().map_err(|error| Failure::new(format!("Cargo.toml: {error}")))?;
    if let Some(toml::Value::Table(workspace)) = table.get_mut("workspace") {
        let member = |member: &&Path| toml::Value::String(member.to_string_lossy().into_owned());
        workspace.insert("members".into(), toml::Value::Array(members.iter().map(member).collect()));
    }
    toml::to_string(&table).map_err(|error| Failure::new(format!("Cargo.toml: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mutant(find: &str, replace: &str) -> Mutant {
        Mutant { what: "w".into(), find: find.into(), replace: replace.into() }
    }

    #[test]
    fn a_mutant_must_fit_once_and_change_something() {
        assert_eq!(mutant("a", "b").apply("xay").unwrap(), "xby");
        assert!(mutant("a", "b").apply("xy").is_err());
        assert!(mutant("a", "b").apply("aa").is_err());
        assert!(mutant("a", "a").apply("a").is_err());
    }

    #[test]
    fn every_listed_mutant_fits_the_present_file() {
        let list = parse(&read(&root().join("xtask/mutants.toml")).unwrap()).unwrap();
        let original = read(&root().join(&list.file)).unwrap();
        assert_eq!(list.mutant.len(), 11);
        for mutant in &list.mutant {
            mutant.apply(&original).unwrap();
        }
    }
}
