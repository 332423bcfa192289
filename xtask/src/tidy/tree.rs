//! What the checks look at: every text file of the workspace, and what cargo says about its packages.

use std::cell::OnceCell;

use serde::Deserialize;

use xtask::failure::Failure;
use xtask::process::{cargo, output};
use xtask::root::root;

/// The workspace as data.
#[derive(Default)]
pub(super) struct Tree {
    /// The text files, sorted by path.
    pub(super) files: Vec<TextFile>,
    /// The workspace's own packages.
    pub(super) packages: Vec<Package>,
}

/// A text file.
pub(super) struct TextFile {
    /// The path from the workspace's root, with `/`.
    pub(super) path: String,
    /// Its text.
    pub(super) text: String,
    /// The text as Rust, once a check has asked for it.
    parsed: OnceCell<syn::Result<syn::File>>,
}

/// A package, as `cargo metadata` describes it.
#[derive(Deserialize)]
pub(super) struct Package {
    /// Its name.
    pub(super) name: String,
    /// Its `Cargo.toml`; from the workspace's root once loaded.
    pub(super) manifest_path: String,
    /// What it depends on.
    pub(super) dependencies: Vec<Dependency>,
    /// What it builds.
    pub(super) targets: Vec<Target>,
}

/// A dependency.
#[derive(Deserialize)]
pub(super) struct Dependency {
    /// Its name.
    pub(super) name: String,
    /// `None` is a normal one; else `dev` or `build`.
    pub(super) kind: Option<String>,
}

/// Something that cargo builds.
#[derive(Deserialize)]
pub(super) struct Target {
    /// Its root file; from the workspace's root once loaded.
    pub(super) src_path: String,
    /// What cargo makes of it: `lib`, `bin`, `test`, ...
    pub(super) kind: Vec<String>,
    /// Whether the examples in its comments are tests.
    #[serde(default)]
    pub(super) doctest: bool,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

impl Target {
    /// A library with this root file, for the checks' own tests.
    #[cfg(test)]
    pub(super) fn library(root: &str) -> Self {
        Self { src_path: root.into(), kind: vec!["lib".into()], doctest: false }
    }

    /// Whether it is a library or a program, rather than a test, an example or a bench.
    pub(super) fn is_crate(&self) -> bool {
        !self.kind.iter().any(|kind| matches!(kind.as_str(), "test" | "example" | "bench" | "custom-build"))
    }
}

impl Tree {
    /// Reads the workspace.
    pub(super) fn load() -> xtask::failure::Result<Self> {
        Ok(Self { files: files(), packages: packages()? })
    }

    /// A file by path.
    pub(super) fn file(&self, path: &str) -> Option<&TextFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The Rust files, tests and benches among them.
    pub(super) fn rust(&self) -> impl Iterator<Item = &TextFile> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }
}

impl TextFile {
    fn new(path: String, text: String) -> Self {
        Self { path, text, parsed: OnceCell::new() }
    }

    /// The text as Rust.
    ///
    /// # Errors
    ///
    /// The parser refuses it.
    pub(super) fn parsed(&self) -> Result<&syn::File, &syn::Error> {
        self.parsed.get_or_init(|| syn::parse_file(&self.text)).as_ref()
    }

    /// Whether the file is part of a crate rather than a test, an example or a bench of it.
    pub(super) fn is_source(&self) -> bool {
        self.path.ends_with(".rs") && self.path.split('/').any(|part| part == "src")
    }
}

/// What cargo says about the packages.
pub(super) fn packages() -> xtask::failure::Result<Vec<Package>> {
    let listed = output(&mut cargo(&["metadata", "--no-deps", "--format-version", "1", "--offline"]))?;
    let metadata: Metadata =
        serde_json::from_str(&listed).map_err(|error| Failure::new(format!("cargo metadata: {error}")))?;
    let mut packages = metadata.packages;
    for package in &mut packages {
        package.manifest_path = relative(&package.manifest_path);
        for target in &mut package.targets {
            target.src_path = relative(&target.src_path);
        }
    }
    Ok(packages)
}

fn relative(path: &str) -> String {
    let root = root();
    let path = std::path::Path::new(path);
    path.strip_prefix(&root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

fn files() -> Vec<TextFile> {
    let skipped = ["target", ".git", "node_modules"];
    let walk = walkdir::WalkDir::new(root()).sort_by_file_name().into_iter();
    walk.filter_entry(|entry| !skipped.iter().any(|name| entry.file_name() == *name))
        .flatten()
        .filter(|entry| entry.file_type().is_file())
        .filter_map(|entry| {
            let text = std::fs::read_to_string(entry.path()).ok()?;
            Some(TextFile::new(relative(&entry.path().to_string_lossy()), text))
        })
        .collect()
}

/// A tree of these files, for the checks' own tests.
#[cfg(test)]
pub(super) fn tree(files: &[(&str, &str)]) -> Tree {
    let files = files.iter().map(|(path, text)| TextFile::new((*path).into(), (*text).into())).collect();
    Tree { files, packages: Vec::new() }
}

/// A package of this name with these normal dependencies, for the checks' own tests.
#[cfg(test)]
pub(super) fn package(name: &str, dependencies: &[&str]) -> Package {
    let dependencies = dependencies.iter().map(|name| Dependency { name: (*name).into(), kind: None }).collect();
    Package { name: name.into(), manifest_path: format!("{name}/Cargo.toml"), dependencies, targets: Vec::new() }
}
