//! `cargo xtask packages`: the crates that others depend on, packed and built as a registry would give them.

use xtask::failure::{Failure, Result};
use xtask::process::{cargo, output, run as run_command};

/// Packs every crate that may be published, and builds each from its package alone.
pub(crate) fn run() -> Result {
    let metadata = output(&mut cargo(&["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)
        .map_err(|error| Failure::new(format!("`cargo metadata` printed no JSON: {error}")))?;
    let packages = metadata.get("packages").and_then(serde_json::Value::as_array);
    let names = packages.into_iter().flatten().filter(|package| package.get("publish").is_some_and(|to| to.is_null()));
    let mut command = cargo(&["package", "--quiet", "--allow-dirty"]);
    for name in names.filter_map(|package| package.get("name")?.as_str()) {
        command.args(["-p", name]);
    }
    run_command(&mut command)
}
