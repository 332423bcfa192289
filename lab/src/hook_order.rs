//! `cargo xtask hook-order`: writes the linker script that puts the functions that hooks call next to each other.
//!
//! It links the program with a map of its sections, plays short sessions under `valgrind --tool=callgrind`, and lists
//! the sections of the functions that ran. It wants Linux, lld and valgrind.

mod script;

use std::path::PathBuf;
use std::process::Command;

use crate::counts::session::Session;
use xtask::failure::{Failure, Result};
use xtask::process::{cargo, output};
use xtask::root::{read, root, target, write};

/// The sessions that are played: what hooks usually get.
const SESSIONS: [&str; 2] = ["session.json", "counted.json"];

/// Writes `cli/hook.ld`.
pub(crate) fn run() -> Result {
    let folder = target().join("hook-order");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|error| Failure::file(&folder, error))?;
    let map = folder.join("map");
    let guard = linked(&map)?;
    let (mut profiles, mut starts) = (Vec::new(), Vec::new());
    for name in SESSIONS {
        let session = Session::stage(name, &guard, &folder.join(name))?;
        for (at, frame) in session.frames.iter().enumerate() {
            let profile = folder.join("profile");
            let kept = format!("--callgrind-out-file={}", profile.display());
            frame.feed(session.hook(&["valgrind", "--tool=callgrind", "--demangle=no", &kept]))?;
            // A session starts once: what only its start calls comes last.
            if at == 0 { &mut starts } else { &mut profiles }.push(read(&profile)?);
        }
    }
    profiles.append(&mut starts);
    let mut ran = script::Ran::default();
    profiles.iter().for_each(|profile| ran.add(profile));
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
