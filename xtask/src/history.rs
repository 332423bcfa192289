//! `cargo xtask history-oracle`: the monitors of `core/history` against Dogwood's interpreter, the rules of `core/rules`
//! against Cedar's evaluator, and the packs of rules over what happened before as they are compiled.

use xtask::failure::Result;
use xtask::process::{cargo, run as run_command};

/// How much is compared.
#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Every case with its decisions, and 100,000 random traces; built with optimization.
    #[arg(long)]
    pub(crate) long: bool,
}

/// Builds Dogwood and Cedar, which nothing else does, and compares.
pub(crate) fn run(args: &Args) -> Result {
    let features = "phasegate-history/oracle,phasegate-rules/compile,phasegate-config/history,phasegate-config/schema";
    let mut test = cargo(&["test", "--quiet", "--features", features]);
    test.args(["phasegate-history", "phasegate-rules", "phasegate-config"].iter().flat_map(|name| ["-p", name]));
    if args.long {
        let quick_build =
            ["profile.release.lto=false", "profile.release.codegen-units=16", "profile.release.opt-level=2"];
        test.arg("--release").args(quick_build.iter().flat_map(|setting| ["--config", setting]));
        test.envs([("HISTORY_CASES", "1"), ("HISTORY_DECISIONS", "1"), ("HISTORY_TRACES", "100000")]);
    }
    let tests = ["oracle", "compile", "cedar", "it"];
    run_command(test.args(tests.iter().flat_map(|name| ["--test", name])).args(["--", "--nocapture"]))
}
