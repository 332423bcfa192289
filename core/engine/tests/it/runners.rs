//! Recorded outputs of test runners: what each run proves.

use std::collections::BTreeSet;
use std::path::Path;

use phasegate_core::calls::analysis::{RunsIn, SimpleCommand, Status, Verdict, Word};
use phasegate_core::events::event::Outcome;
use phasegate_core::evidence::condition::{ReportWanted, TestsResult, Wanted};
use phasegate_core::shell::runner;
use phasegate_core::shell::test_report;
use phasegate_core::shell::test_report::Runner;
use serde::Deserialize;

/// One run of a runner, as recorded, and what it proves.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    name: String,
    #[expect(dead_code, reason = "says what was recorded")]
    version: String,
    command: String,
    exit: i64,
    stdout: String,
    stderr: String,
    what: String,
    proves: String,
    /// The guard sees less than the truth, which is the safe side.
    #[serde(default)]
    missed: bool,
    /// The guard takes it for what it is not: no reader of the output can see the truth.
    #[serde(default)]
    taken_for: Option<String>,
}

impl Recorded {
    /// What the guard takes for proven. A line of the shell is no command of the table.
    fn proven(&self, of: Runner) -> &'static str {
        let line = self.command.trim_end_matches(" 2>&1");
        // A variable before the command is the environment of the recording.
        let line = line.split_once(' ').filter(|(first, _)| first.contains('=')).map_or(line, |(_, rest)| rest);
        if line.contains(['|', '>', ';', '&', '"', '\'']) {
            return "none";
        }
        let words: Vec<Word> = line.split(' ').map(|word| Word::Known(word.into())).collect();
        let command = SimpleCommand {
            words,
            assignments: vec![],
            redirections: vec![],
            span: (0, 0),
            verdict: Verdict::Execute,
            starts: Vec::new(),
            global_options: 0,
            unplaced: false,
            led_plainly: false,
            pushes_other: false,
            beside: vec![],
            status: Status::Own,
            transparent: false,
            launched: false,
            alias: false,
            repeats: false,
            runs_in: RunsIn::Root,
            network: false,
            besides: false,
            looks: false,
            unheard: false,
            obeyed: false,
            registered: None,
            because: None,
            tests: None,
        };
        let Some(run) = runner::started(&command).filter(|run| run.runner.reports_as(of)) else {
            return "none";
        };
        let reports = test_report::read(&[self.stdout.as_str(), &self.stderr].join("\n"));
        let outcome = if self.exit == 0 { Outcome::Ok } else { Outcome::Failed };
        let proven = |result: &TestsResult| {
            let part = *result == TestsResult::Passed && !run.whole;
            Wanted::Report(ReportWanted {
                result: *result,
                runner: run.runner,
                part,
                unsure: run.unsure,
                through: None,
            })
            .proven_by(outcome, &reports)
        };
        let all = [TestsResult::Passed, TestsResult::Failed, TestsResult::Broken];
        all.into_iter().find(proven).map_or("none", TestsResult::word)
    }
}

#[test]
fn every_recorded_run_proves_what_its_file_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runners");
    let (mut wrong, mut seen) = (Vec::new(), BTreeSet::new());
    for file in std::fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        let runner = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let of: Runner = serde_json::from_value(runner.clone().into()).unwrap();
        let all: Vec<Recorded> = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        for run in all {
            let proven = run.proven(of);
            seen.insert((runner.clone(), proven));
            let wanted = if run.missed { "none" } else { run.taken_for.as_deref().unwrap_or(&run.proves) };
            if proven != wanted {
                wrong.push(format!(
                    "{runner} {}: {} proves {proven}, in truth {} ({})",
                    run.name, run.command, run.proves, run.what
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
    for runner in seen.iter().map(|(runner, _)| runner.clone()).collect::<BTreeSet<_>>() {
        for result in ["passed", "failed", "broken"] {
            // Gradle prints no count of tests that passed, and a recipe of `make` may run none; of these, none says that a
            // test could not be built.
            let no_broken = ["make", "bun", "ctest"].contains(&runner.as_str());
            let no_passed = ["gradle", "make"].contains(&runner.as_str());
            if (no_passed && result == "passed") || (no_broken && result == "broken") {
                continue;
            }
            assert!(seen.contains(&(runner.clone(), result)), "no run of {runner} proves {result}");
        }
    }
}
