//! `cargo xtask tidy`: the invariants of ARCHITECTURE.md as checks, one file each.

mod finding;
mod tree;
mod source;
mod markdown;
mod modules;
mod arrows;
mod async_fence;
mod budget;
mod size;
mod cycles;
mod documents;
mod forgotten;
mod machine_paths;
mod manifests;
mod named_paths;
mod names;
mod platform_names;
mod purity;
mod sentences;
mod tuples;

use owo_colors::OwoColorize;

use finding::Finding;
use tree::Tree;
use xtask::failure::{Failure, Result};

/// Check the invariants of ARCHITECTURE.md.
#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Run only the check of this name: cycles, tuples, sentences, names, ...
    #[arg(long, value_name = "CHECK")]
    only: Option<String>,
    /// Show only what is found in this file or folder, from the workspace's root.
    path: Option<String>,
}

/// A check's name, and the check: all it may look at is the tree.
type Check = (&'static str, fn(&Tree) -> Vec<Finding>);

const CHECKS: &[Check] = &[
    ("crate arrows", arrows::check),
    ("cycles", cycles::check),
    ("tuples", tuples::check),
    ("names", names::check),
    ("sentences", sentences::check),
    ("manifests", manifests::check),
    ("pure engine", purity::check),
    ("async fence", async_fence::check),
    ("platform names", platform_names::check),
    ("file budgets", budget::check),
    ("size of what ships", size::check),
    ("forgotten test files", forgotten::check),
    ("machine paths", machine_paths::check),
    ("documents", documents::check),
    ("named paths", named_paths::check),
];

/// Runs every check, or the one that is asked for.
pub(crate) fn run(args: &Args) -> Result {
    let tree = Tree::load()?;
    let chosen: Vec<_> = CHECKS.iter().filter(|(name, _)| args.only.as_ref().is_none_or(|only| only == name)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = CHECKS.iter().map(|(name, _)| *name).collect();
        return Err(Failure::new(format!("no such check; there are: {}", names.join(", "))));
    }
    let mut broken = 0_usize;
    for (name, check) in chosen {
        let mut findings = check(&tree);
        findings.retain(|finding| args.path.as_ref().is_none_or(|path| covers(path, &finding.path)));
        broken += findings.len();
        let word = if findings.is_empty() { "ok".green().to_string() } else { "FAILED".red().to_string() };
        anstream::println!("{name:<22} {word}");
        for finding in findings {
            let place = if finding.line == 0 { finding.path } else { format!("{}:{}", finding.path, finding.line) };
            anstream::println!("  {}: {}\n    {} {}", place.bold(), finding.what, "->".dimmed(), finding.instead);
        }
    }
    if broken == 0 { Ok(()) } else { Err(Failure::new(format!("{broken} invariants are broken"))) }
}

/// A package's name, and its folder from the workspace's root.
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) folder: std::path::PathBuf,
}

/// The packages of the workspace.
pub(crate) fn packages() -> Result<Vec<Member>> {
    let folder = |manifest: &str| std::path::Path::new(manifest).parent().map(Into::into).unwrap_or_default();
    let packages = tree::packages()?.into_iter();
    Ok(packages.map(|package| Member { folder: folder(&package.manifest_path), name: package.name }).collect())
}

/// Whether a path is the entry's file or lies in its folder.
fn covers(entry: &str, path: &str) -> bool {
    path.strip_prefix(entry.trim_end_matches('/')).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
