//! `cargo xtask e2e`: runs a real client, guarded in block mode, through every way in which a guard can fail, and shows
//! by files created whether each forbidden call ran. A whole run is kept as the fault report of the client's version.

mod folder;
pub(crate) mod scenario;
mod staging;
pub(crate) mod outcome;
pub(crate) mod report;

use std::path::{Path, PathBuf};

use owo_colors::OwoColorize;

use self::outcome::Row;
use self::report::Report;
use self::scenario::Scenario;
use crate::record::client::{self, Client};
use crate::record::drivers::{FIRST, IDS, driver, program};
use crate::record::isolation::isolated;
use xtask::failure::{Failure, Result};
use xtask::process::build_programs;
use xtask::root::target;

/// Which client, and which scenarios.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The client, by the id of its adapter.
    #[arg(long, default_value = FIRST, value_parser = IDS)]
    client: String,
    /// The client's binary; without it the one that `PATH` has.
    #[arg(long, alias = "claude")]
    binary: Option<PathBuf>,
    /// The phasegate binary; without it the one that cargo builds now.
    #[arg(long)]
    guard: Option<PathBuf>,
    /// Only scenarios whose name begins so; may be given several times. No report is written then.
    #[arg(long = "scenario", value_name = "NAME")]
    scenarios: Vec<String>,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    /// Leave the scratch folders, with the client's logs and the model's.
    #[arg(long)]
    keep: bool,
    #[arg(long, hide = true)]
    inside: bool,
}

/// Runs the scenarios; fails where one does not come out as it says.
pub(crate) fn run(args: &Args) -> Result {
    if !args.inside {
        if args.guard.is_none() {
            build_programs()?;
        }
        return isolated("not every scenario came out as written");
    }
    let client = driver(&args.client)?;
    let program = program(client, args.binary.as_deref())?;
    let version = client::version(client, &program)?;
    let all = scenario::load(&args.client)?;
    let mut report = Report::new(&args.client, &version)?;
    let mut failed = 0;
    for scenario in all.iter().filter(|scenario| args.wants(&scenario.name)) {
        match play(scenario, client, &program, &version, args) {
            Ok(row) => {
                failed += usize::from(!say(&row, args));
                report.rows.push(row);
            }
            Err(failure) => {
                anstream::eprintln!("{} {}: {failure}", "failed".red().bold(), scenario.name);
                failed += 1;
            }
        }
    }
    if args.json {
        anstream::println!("{}", report.text()?);
    }
    if failed > 0 {
        return Err(Failure::new(format!("{failed} scenarios did not come out as written")));
    }
    if report.rows.is_empty() {
        return Err(Failure::new("there is no such scenario"));
    }
    if args.scenarios.is_empty() { report.save() } else { Ok(()) }
}

impl Args {
    fn wants(&self, name: &str) -> bool {
        self.scenarios.is_empty() || self.scenarios.iter().any(|wanted| name.starts_with(wanted.as_str()))
    }
}

fn play(scenario: &Scenario, client: &dyn Client, program: &Path, version: &str, args: &Args) -> Result<Row> {
    let built = args.guard.clone().unwrap_or_else(|| target().join("debug/phasegate"));
    let stage = staging::Stage::new(scenario, &built, client)?;
    let row = stage.play(client, program).and_then(|played| outcome::row(scenario, version, &stage, &played));
    match row {
        Ok(row) if row.problem.is_none() && !args.keep => stage.remove().map(|()| row),
        Ok(row) => {
            anstream::eprintln!("the scratch folder of {} is {}", scenario.name, stage.base().display());
            Ok(row)
        }
        Err(failure) => Err(Failure::new(format!("{failure}; the scratch folder is {}", stage.base().display()))),
    }
}

/// Shows a row; whether it came out as written.
fn say(row: &Row, args: &Args) -> bool {
    let word = match &row.problem {
        None if row.outcome == outcome::Outcome::Denied => "denied".green().bold().to_string(),
        None => row.outcome.word().yellow().bold().to_string(),
        Some(_) => format!("{} ({})", "FAILED".red().bold(), row.outcome.word()),
    };
    let line = format!("{word} {}: {}", row.scenario.bold(), row.fault);
    let problem = row.problem.iter().map(|problem| format!("\n  {problem}"));
    let calls = row.calls.iter().map(|call| {
        let ran = if call.ran { "ran" } else { "did not run" };
        format!("\n  {:<22} {ran}: {}", call.call, first_line(&call.read))
    });
    let word = row.last_word.iter().map(|word| format!("\n  the client ended with: {}", first_line(word)));
    let text: String = std::iter::once(line).chain(problem).chain(word).chain(calls).collect();
    if args.json {
        anstream::eprintln!("{text}")
    } else {
        anstream::println!("{text}")
    };
    row.problem.is_none()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("(nothing was read)")
}
