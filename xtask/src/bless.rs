//! `cargo xtask bless`: the present output becomes the expected one. It lists the texts that changed; read the diff before
//! committing it.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::{conformance, lab};
use xtask::failure::{Failure, Result};
use xtask::process::{cargo, output};

/// Runs the golden tests so that they write, then everything that is generated.
pub(crate) fn run() -> Result {
    golden_tests(&[("PHASEGATE_BLESS", "1"), ("TRYCMD", "overwrite")])?;
    conformance::run_with(&["--bless", "--format", "brief"])?;
    lab::run_with("gen", &[])?;
    anstream::println!("expectations accepted; `git diff` shows what changed");
    Ok(())
}

/// Runs the tests that compare with files of expected output, with these variables. Their names begin with `golden_`.
pub(crate) fn golden_tests(variables: &[(&str, &str)]) -> Result {
    // Built with what every other build here is built with: `cargo test --test it` would choose other features.
    let kinds = ["--lib", "--bins", "--test", "it", "--test", "cedar"];
    let built = output(cargo(&["build", "--quiet", "--workspace", "--message-format=json"]).args(kinds))?;
    let mut failed = Vec::new();
    for line in built.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let text = |place: &str| line.pointer(place).and_then(Value::as_str);
        let is_test = line.pointer("/target/kind/0").is_some_and(|kind| kind == "test");
        let (Some(program), Some(manifest), true) = (text("/executable"), text("/manifest_path"), is_test) else {
            continue;
        };
        let folder = Path::new(manifest).parent().unwrap_or(Path::new("."));
        let mut tests = Command::new(program);
        let ran = tests.args(["golden_", "--quiet"]).current_dir(folder).envs(variables.iter().copied()).output();
        let ran = ran.map_err(|error| Failure::new(format!("{program}: {error}")))?;
        if !ran.status.success() {
            anstream::println!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
            failed.push(folder.file_name().unwrap_or_default().to_string_lossy().into_owned());
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(Failure::new(format!("not as expected in: {}", failed.join(", ")))) }
}
