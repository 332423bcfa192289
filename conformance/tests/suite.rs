//! Every trial of the suite as a test of its own, so that each is seen by name.

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial as Test};
use phasegate_conformance::{report, suite};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let loaded = Arc::new(suite::load());
    let tests = (0..loaded.trials.len())
        .filter_map(|at| {
            let name = loaded.trials.get(at)?.id.clone();
            let loaded = Arc::clone(&loaded);
            Some(Test::test(name, move || one(&loaded, at)))
        })
        .collect();
    libtest_mimic::run(&arguments, tests).exit_code()
}

fn one(loaded: &suite::Suite, at: usize) -> Result<(), Failed> {
    let Some(trial) = loaded.trials.get(at) else { return Err("no such trial".into()) };
    let verdict = loaded.verdict(trial);
    if verdict.passed() { Ok(()) } else { Err(Failed::from(report::mismatches(&verdict))) }
}
