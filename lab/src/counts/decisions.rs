//! Decisions in process: the calls that benchmarks time, each decided once.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::callgrind;
use super::reference::Counts;
use xtask::failure::{Failure, Result};
use xtask::process::{cargo, output};
use xtask::root::{read, target};

/// A benchmark, and what of it is counted.
struct Counted {
    /// The folder of its package.
    package: &'static str,
    bench: &'static str,
    cases: &'static [&'static str],
}

const COUNTED: &[Counted] = &[
    Counted { package: "core/engine", bench: "decide", cases: &["allowed", "denied"] },
    Counted { package: "core/engine", bench: "rules", cases: &["100 rules", "200 rules, 10 facts"] },
    Counted { package: "core/config", bench: "tasks", cases: &["40 tasks"] },
];

/// Only what the engine does counts, not how the policy and the state were made.
const STEP: &str = "--toggle-collect=phasegate_core::step::step";

/// Counts the decision of each case, with those that lead to its state.
pub(super) fn count(counts: &mut Counts) -> Result {
    let programs = build()?;
    let written = target().join("counted");
    for Counted { package, bench, cases } in COUNTED {
        let program = programs.iter().find(|built| built.is(package, bench));
        let program =
            program.ok_or_else(|| Failure::new(format!("cargo built no benchmark `{bench}` of {package}")))?;
        for case in *cases {
            let out = format!("--callgrind-out-file={}", written.display());
            let mut command = Command::new("valgrind");
            command.args(["--tool=callgrind", STEP, &out]).arg(&program.path).args(["count", case]);
            output(&mut command)?;
            let profile = callgrind::read(&read(&written)?);
            if profile.instructions == 0 {
                return Err(Failure::new(format!("{bench}: nothing of `{case}` was counted")));
            }
            counts.of(&format!("the engine: {case}")).instructions(profile);
        }
    }
    Ok(())
}

/// A benchmark that cargo built.
struct Built {
    manifest: String,
    bench: String,
    path: PathBuf,
}

impl Built {
    fn is(&self, package: &str, bench: &str) -> bool {
        self.bench == bench && self.manifest.ends_with(&format!("{package}/Cargo.toml"))
    }
}

/// Builds the benchmarks as tests are built, and of the whole workspace: cargo has built that already.
fn build() -> Result<Vec<Built>> {
    let mut command = cargo(&["test", "--workspace", "--no-run", "--message-format=json", "--test", "agree"]);
    command.args(COUNTED.iter().flat_map(|counted| ["--bench", counted.bench]));
    let told = output(&mut command)?;
    let messages = told.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let built = |message: Value| {
        let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let path = PathBuf::from(text("/executable")?);
        Some(Built { manifest: text("/manifest_path")?, bench: text("/target/name")?, path })
    };
    Ok(messages.filter_map(built).collect())
}
