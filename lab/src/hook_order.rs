//! `cargo xtask hook-order`: writes the linker script that puts the functions that hooks call next to each other.
//!
//! It links the program with a map of its sections, plays a short session under `valgrind --tool=callgrind`, and lists
//! the sections of the functions that ran. It wants Linux, lld and valgrind.

mod session;
mod script;

use std::path::PathBuf;
use std::process::Command;

use xtask::failure::{Failure, Result};
use xtask::process::{cargo, output};
use xtask::root::{read, root, target, write};

/// Writes `cli/hook.ld`.
pub(crate) fn run() -> Result {
    let folder = target().join("hook-order");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|error| Failure::file(&folder, error))?;
    let map = folder.join("map");
    let guard = linked(&map)?;
    let profiles = session::play(&guard, &folder)?;
    let mut ran = script::Ran::default();
    for profile in profiles {
        ran.add(&read(&profile)?);
    }
    let lines = script::lines(&read(&map)?, &ran);
    let path = root().join("cli/hook.ld");
    write(&path, &script::written(&lines))?;
    anstream::println!("{}: {} functions", path.display(), lines.len());
    Ok(())
}

/// Links the program as people install it, with its symbols and with a map of its sections. Another profile would do for
/// the names, but its libraries are inlined differently.
fn linked(map: &std::path::Path) -> Result<PathBuf> {
    let mut command: Command = cargo(&["rustc", "--release", "--package", "phasegate", "--bin", "phasegate"]);
    command.args(["--config", "release.toml", "--message-format=json", "--", "-C", "strip=none"]);
    command.args(["-C", "link-arg=-Wl,--no-demangle", "-C"]).arg(format!("link-arg=-Wl,-Map,{}", map.display()));
    let messages = output(&mut command)?;
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let mut paths = messages.filter_map(|message| Some(PathBuf::from(message.get("executable")?.as_str()?)));
    paths.next_back().ok_or_else(|| Failure::new("hook-order: cargo names no program"))
}
