//! The programs that are measured.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::failed::failed;
use xtask::failure::{Failure, Result};
use xtask::process::{cargo, output, run as run_command};
use xtask::root::{root, target};

/// The settings with which the program that people install is linked.
const RELEASE: &str = "release.toml";

/// The programs that are measured.
pub(super) struct Programs {
    /// The guard.
    pub(super) guard: PathBuf,
    /// A program that reads its input and prints a line, built by `rustc -O`.
    pub(super) nothing: PathBuf,
    /// The same, linked as the guard is.
    pub(super) nothing_alike: PathBuf,
}

/// Builds the guard and what it is compared with; `plain` is without [`RELEASE`].
pub(super) fn build(plain: bool) -> Result<Programs> {
    std::fs::create_dir_all(target().join("bench")).map_err(|error| Failure::file(&target(), error))?;
    let nothing = nothing("nothing", &[])?;
    let flags = if plain { Vec::new() } else { flags()? };
    Ok(Programs { guard: guard(plain)?, nothing, nothing_alike: self::nothing("nothing-alike", &flags)? })
}

/// Builds the guard and finds it where cargo says it put it; `plain` is without [`RELEASE`].
pub(crate) fn guard(plain: bool) -> Result<PathBuf> {
    let mut args = vec!["build", "--release", "--package", "phasegate", "--bin", "phasegate", "--message-format=json"];
    if !plain {
        args.extend(["--config", RELEASE]);
    }
    let told = output(&mut cargo(&args))?;
    let messages = told.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut paths = messages.filter_map(|message| Some(PathBuf::from(message.get("executable")?.as_str()?)));
    paths.next_back().ok_or_else(|| failed("cargo names no program"))
}

/// Builds the program that does nothing, with these flags besides `-O`.
fn nothing(name: &str, flags: &[String]) -> Result<PathBuf> {
    let binary = target().join("bench").join(name);
    let mut rustc = Command::new("rustc");
    rustc.current_dir(root()).args(["--edition", "2024", "-O"]).args(flags);
    rustc.arg("-o").arg(&binary).arg(root().join("lab/bench/nothing.rs"));
    run_command(&mut rustc)?;
    Ok(binary)
}

/// The compiler's flags that [`RELEASE`] sets, whatever system they are for.
fn flags() -> Result<Vec<String>> {
    let path = root().join(RELEASE);
    read_flags(&xtask::root::read(&path)?).map_err(|error| Failure::file(Path::new(RELEASE), error))
}

fn read_flags(text: &str) -> std::result::Result<Vec<String>, toml::de::Error> {
    #[derive(serde::Deserialize)]
    struct Config {
        target: std::collections::BTreeMap<String, Target>,
    }
    #[derive(serde::Deserialize)]
    struct Target {
        rustflags: Vec<String>,
    }
    let config: Config = toml::from_str(text)?;
    Ok(config.target.into_values().flat_map(|target| target.rustflags).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_of_the_release_are_found() {
        let text = "[build]\ntarget = \"host-tuple\"\n[target.'cfg(unix)']\nrustflags = [\"-C\", \"x=y\"]\n";
        assert_eq!(read_flags(text).unwrap(), ["-C", "x=y"]);
        assert!(!flags().unwrap().is_empty());
    }
}
