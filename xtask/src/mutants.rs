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
    /// What the file depends on, as a manifest says it.
    dependencies: toml::Table,
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

/// Makes every mistake in a copy of the file and runs the table's test on it.
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

/// A crate that holds the file alone, under the name and with the test of the crate that it is from.
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
        let this = Self { folder, list };
        for name in ["ARCHITECTURE.md", "Cargo.lock"] {
            write(&this.folder.join(name), &read(&root().join(name))?)?;
        }
        let member = list.member()?;
        let test = member.join(format!("tests/it/{}.rs", list.test));
        write(&this.folder.join(&test), &read(&root().join(&test))?)?;
        write(&this.folder.join(member).join("src/lib.rs"), &list.modules())?;
        write(&this.folder.join(member).join("Cargo.toml"), &list.manifest())?;
        let workspace = format!("[workspace]\nresolver = \"3\"\nmembers = [\"{}\"]\n", member.display());
        write(&this.folder.join("Cargo.toml"), &workspace)?;
        Ok(this)
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
        let output = command.output().map_err(|error| format!("`{}`: {error}", shown(&command)))?;
        if output.status.success() {
            return Ok(());
        }
        Err(format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
    }
}

impl List {
    /// The file as a module of its crate, in the modules around it, each of which has its names too.
    fn modules(&self) -> String {
        let inside = self.file.split_once("/src/").map_or(self.file.as_str(), |(_, inside)| inside);
        let mut names = inside.trim_end_matches(".rs").rsplit('/');
        let file = format!("pub mod {};\n", names.next().unwrap_or_default());
        let around = |inner: String, name: &str| {
            let first = inner.trim_start_matches("pub mod ").split([';', ' ']).next().unwrap_or_default();
            format!("pub mod {name} {{\npub use self::{first}::*;\n{inner}}}\n")
        };
        names.fold(file, around)
    }

    /// The folder of the crate that the file is from.
    fn member(&self) -> Result<&Path> {
        let member = self.file.split_once("/src/").map(|(member, _)| Path::new(member));
        member.ok_or_else(|| Failure::new(format!("xtask/mutants.toml: `{}` is no source of a crate", self.file)))
    }

    fn manifest(&self) -> String {
        let Self { package, dependencies, .. } = self;
        let mut manifest = toml::Table::from_iter([("dependencies".to_owned(), dependencies.clone().into())]);
        let package = [("name", package.as_str()), ("version", "0.0.0"), ("edition", "2024")];
        let package = package.map(|(key, value)| (key.to_owned(), value.into()));
        let path = format!("tests/it/{}.rs", self.test);
        let test = [("name", self.test.clone()), ("path", path)].map(|(key, value)| (key.to_owned(), value.into()));
        manifest.insert("test".to_owned(), vec![toml::Value::from(toml::Table::from_iter(test))].into());
        manifest.insert("package".to_owned(), toml::Table::from_iter(package).into());
        manifest.to_string()
    }
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
