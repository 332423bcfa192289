//! `cargo xtask shims`: the plugins against the platforms' own published types, and the bridge's end in them against the
//! real program and against programs that fail in its place.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::npm::{self, Packages};
use xtask::failure::{Failure, Result};
use xtask::process::{build_programs, output, run as run_command};
use xtask::root::{read, root, target, write};

/// Where what all plugins share is, with the list of what they are checked against.
const FOLDER: &str = "adapters/shim";
/// The tests, from there.
const TESTS: [&str; 2] = ["test/bridge.test.ts", "test/plugins.test.ts"];
/// An older package of a platform that is supported too: the plugin's folder, the name that it imports, and the name under
/// which the older one is installed.
const OLDER: [(&str, &str, &str); 1] = [("pi", "@earendil-works/pi-coding-agent", "pi-coding-agent-0.73")];

/// Checks types, then plays the faults.
pub(crate) fn run() -> Result {
    let packages = npm::install(FOLDER)?;
    types(&packages)?;
    for plugin in crate::generate::shims::plugins() {
        packed(&plugin)?;
    }
    build_programs()?;
    let mut beside = faults(&packages, true)?.spawn().map_err(|error| Failure::new(format!("node: {error}")))?;
    let plain = run_command(&mut faults(&packages, false)?);
    let at_once = beside.wait().map_err(|error| Failure::new(format!("node: {error}")))?;
    plain?;
    if at_once.success() { Ok(()) } else { Err(Failure::new("the bridge's end fails where answers are read at once")) }
}

/// The plugins are copied to where the packages are: types are looked for beside the file.
fn types(packages: &Packages) -> Result {
    let place = packages.file("..").join("checked");
    let mut files = vec![copy(&root().join(FOLDER).join("bridge.ts"), &place)?];
    for test in TESTS {
        files.push(copy(&root().join(FOLDER).join(test), &place)?);
    }
    for plugin in crate::generate::shims::plugins() {
        files.push(copy(&plugin, &place)?);
    }
    check(packages, &place, &files, &[])?;
    for (folder, name, older) in OLDER {
        let of_folder = |file: &&PathBuf| file.starts_with(place.join(folder));
        let files: Vec<_> = files.iter().filter(of_folder).cloned().collect();
        check(packages, &place, &files, &[(name, older)])?;
    }
    Ok(())
}

fn copy(file: &Path, place: &Path) -> Result<PathBuf> {
    let below = file.strip_prefix(root().join("adapters")).unwrap_or(file);
    let copied = place.join(below);
    write(&copied, &read(file)?)?;
    Ok(copied)
}

/// Checks these files, with names of packages that stand for others.
fn check(packages: &Packages, place: &Path, files: &[PathBuf], instead: &[(&str, &str)]) -> Result {
    let mut settings: serde_json::Value = serde_json::from_str(&read(&root().join(FOLDER).join("tsconfig.json"))?)
        .map_err(|error| Failure::new(format!("tsconfig.json: {error}")))?;
    let paths: serde_json::Map<_, _> =
        instead.iter().map(|(name, older)| ((*name).to_string(), serde_json::json!([packages.file(older)]))).collect();
    if let Some(fields) = settings.as_object_mut() {
        fields.insert("files".into(), serde_json::json!(files));
    }
    let options = settings.get_mut("compilerOptions").and_then(serde_json::Value::as_object_mut);
    options.ok_or_else(|| Failure::new("tsconfig.json has no compilerOptions"))?.insert("paths".into(), paths.into());
    let project = place.join("tsconfig.json");
    write(&project, &settings.to_string())?;
    let mut compiler = Command::new(packages.node()?);
    compiler.arg(packages.file("typescript/bin/tsc")).arg("--project").arg(&project).current_dir(place);
    run_command(&mut compiler).map_err(|failure| Failure::new(format!("the plugins have the wrong types: {failure}")))
}

/// Packs a plugin as the registry would have it, and looks whether it is in there.
fn packed(plugin: &Path) -> Result {
    let (Some(folder), Some(name)) = (plugin.parent(), plugin.file_name()) else { return Ok(()) };
    let mut npm = Command::new("npm");
    npm.args(["pack", "--dry-run", "--json", "--ignore-scripts", "--loglevel=error"]).current_dir(folder);
    let said = output(&mut npm)?;
    let listed: serde_json::Value = serde_json::from_str(&said).map_err(|error| Failure::file(folder, error))?;
    let files = listed.pointer("/0/files").and_then(serde_json::Value::as_array).into_iter().flatten();
    let mut names = files.filter_map(|file| file.get("path")?.as_str());
    match names.any(|file| name == file) {
        true => Ok(()),
        false => Err(Failure::file(folder, "the package does not hold the plugin")),
    }
}

/// Plays the faults, where answers are read at once or where they are not.
fn faults(packages: &Packages, at_once: bool) -> Result<Command> {
    let mut tests = Command::new(packages.node()?);
    tests.args([
        "--test",
        "--test-reporter=dot",
        "--experimental-strip-types",
        "--disable-warning=ExperimentalWarning",
    ]);
    tests.args(TESTS.map(|test| format!("{FOLDER}/{test}"))).current_dir(root());
    tests.env("AT_ONCE", if at_once { "1" } else { "0" });
    tests.env("PHASEGATE", target().join("debug/phasegate"));
    Ok(tests)
}
