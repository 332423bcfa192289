//! The suite as a command: `run` prints the matrix, `play` shows recorded sessions, `walkthrough` shows the original's
//! walkthrough in columns, `stage` prepares a session.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};
use owo_colors::OwoColorize as _;
use phasegate_conformance::expected::matches;
use phasegate_conformance::platform::all_sessions;
use phasegate_conformance::play::case::Case;
use phasegate_conformance::play::player::Stage;
use phasegate_conformance::play::session::Session;
use phasegate_conformance::report::Report;
use phasegate_conformance::report::demo::show;
use phasegate_conformance::report::outcome;
use phasegate_conformance::report::walkthrough::{WALKTHROUGH, table};
use phasegate_conformance::suite::{Suite, load};
use phasegate_conformance::texts::{self, Changed};
use phasegate_conformance::trial::{Check, Mismatch, Trial};
use phasegate_conformance::upstream::{self, Sample};
use phasegate_conformance::{bless_from_now_on, cases};
use rayon::prelude::*;

/// One suite for every platform.
#[derive(Parser)]
#[command(name = "phasegate-conformance")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run the suite and print its matrix.
    Run(Selection),
    /// Play recorded sessions through the real binary and show what was allowed, warned and blocked, and why.
    Play {
        /// Sessions by name (`<adapter>/<story>@<version>`).
        sessions: Vec<String>,
        /// Every session.
        #[arg(long)]
        all: bool,
    },
    /// Play the original's walkthrough in each form of its skill, and print the decisions side by side.
    Walkthrough,
    /// Play samples of the original system, the skills of which lie in `000-fixtures.json` beside the file, and print one JSON
    /// object a sample with what does not match.
    Samples {
        /// The file.
        file: PathBuf,
        /// Only the sample of this name.
        #[arg(long)]
        only: Option<String>,
    },
    /// Set a recorded session up in a folder, play it up to its first judged call, and print that and what followed it.
    Stage {
        /// The folder; what it holds is removed.
        folder: PathBuf,
    },
}

#[derive(clap::Args)]
struct Selection {
    /// Only what belongs to this adapter.
    #[arg(long)]
    adapter: Option<String>,
    /// Only areas that begin so.
    #[arg(long)]
    area: Option<String>,
    /// Only trials whose id matches; a star stands for anything.
    #[arg(long)]
    case: Option<String>,
    /// Print what frames show instead: an event and its outcome a line, a platform a column.
    #[arg(long, conflicts_with = "format")]
    cells: bool,
    /// Only what is seen without playing every session: files, frames, replies, and the fewest sessions in which every
    /// kept text is said.
    #[arg(long)]
    quick: bool,
    /// For whom the report is.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Accept the present output as the expected one, in decode, encode and session files. Stories are never rewritten.
    #[arg(long)]
    bless: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A matrix, then every mismatch.
    Human,
    /// Every mismatch.
    Brief,
    /// One JSON object.
    Json,
}

fn main() -> ExitCode {
    match Args::parse().task {
        Task::Run(selection) => run(&selection),
        Task::Play { sessions, all } => ended(play(&sessions, all)),
        Task::Walkthrough => ended(walkthrough()),
        Task::Samples { file, only } => ended(samples(&file, only.as_deref())),
        Task::Stage { folder } => ended(stage(&folder)),
    }
}

fn ended(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            anstream::eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// The default stories, as the newest client played them.
const SHOWN: [&str; 3] = ["rename-block", "refactor-block", "refactor-warn"];

fn play(names: &[String], all: bool) -> Result<(), String> {
    let sessions = all_sessions()?;
    if let Some(name) = names.iter().find(|name| !sessions.iter().any(|session| session.id() == **name)) {
        let known: Vec<String> = sessions.iter().map(Session::id).collect();
        return Err(format!("no session `{name}`; there are\n  {}", known.join("\n  ")));
    }
    let mut selected: Vec<&Session> = Vec::new();
    for session in &sessions {
        let newest = phasegate_adapters::find(&session.about.client)
            .and_then(|adapter| adapter.diagnostics().versions().into_iter().next());
        let shown =
            SHOWN.contains(&session.about.story.as_str()) && newest.as_ref() == Some(&session.about.client_version);
        if all || names.contains(&session.id()) || (names.is_empty() && shown) {
            selected.push(session);
        }
    }
    if selected.is_empty() {
        return Err("no session is recorded".into());
    }
    let rest = sessions.len() - selected.len();
    for session in selected {
        show(session, &mut |text| anstream::print!("{text}"))?;
    }
    if rest > 0 {
        anstream::println!("\n{rest} more sessions are recorded; `--all` plays them too");
    }
    Ok(())
}

fn walkthrough() -> Result<(), String> {
    let path = cases().join(WALKTHROUGH);
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let cases = Case::parse(&text)?;
    let case = cases.iter().find(|case| case.case == "walkthrough").ok_or("no case `walkthrough`")?;
    let rows = table(case)?;
    anstream::print!("\n{}\n{}\n{rows}", case.name.bold(), "each cell: what was decided -> phase after".dimmed());
    Ok(())
}

fn samples(file: &Path, only: Option<&str>) -> Result<(), String> {
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()));
    let fixtures = read(&file.with_file_name("000-fixtures.json"))?;
    let fixtures = serde_json::from_str(&fixtures).map_err(|error| format!("000-fixtures.json: {error}"))?;
    let samples: Vec<serde_json::Value> = serde_json::from_str(&read(file)?).map_err(|error| error.to_string())?;
    let known = load().expected;
    for sample in samples {
        let name = sample.get("name").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
        if only.is_some_and(|only| only != name) {
            continue;
        }
        // A sample of another form is one that differs: the rest is played.
        let mismatches = match serde_json::from_value::<Sample>(sample) {
            Ok(sample) => upstream::play(&sample, &fixtures),
            Err(error) => vec![Mismatch::broken(&name, error)],
        };
        let mismatches: Vec<serde_json::Value> = mismatches
            .iter()
            .map(|mismatch| {
                let why = known.reason_for(&mismatch.field, "decide/seed-000/upstream/");
                serde_json::json!({"field": mismatch.field, "expected": mismatch.expected, "got": mismatch.got, "reason": why})
            })
            .collect();
        anstream::println!("{}", serde_json::json!({"case": name, "mismatches": mismatches}));
    }
    Ok(())
}

fn stage(folder: &Path) -> Result<(), String> {
    let sessions = all_sessions()?;
    let session = sessions.first().ok_or("no session is recorded")?;
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|error| error.to_string())?;
    }
    let mut stage = Stage::new(session, folder)?;
    let mut frames = session.frames.iter();
    while let Some(call) = frames.next() {
        let judged = |record: &serde_json::Value| record.pointer("/decision/line").is_some();
        if stage.play(call)?.records.iter().any(judged) {
            let result = frames.next().ok_or("the session ends with its first judged call")?;
            let (call, result) = (stage.placed(call.frame.get()), stage.placed(result.frame.get()));
            let told = serde_json::json!({"adapter": session.about.client, "call": call, "result": result});
            anstream::println!("{told}");
            return Ok(());
        }
    }
    Err(format!("no call of {} is judged by a phase", session.id()))
}

fn run(selection: &Selection) -> ExitCode {
    if selection.bless {
        bless_from_now_on();
    }
    let suite: Suite = load();
    let said = if selection.quick { texts::cover() } else { BTreeSet::new() };
    let quick = |trial: &&Trial| !selection.quick || trial.check != Check::Session || said.contains(&trial.id);
    let selected: Vec<&Trial> = suite.trials.iter().filter(|trial| selection.takes(trial)).filter(quick).collect();
    if selected.is_empty() {
        anstream::eprintln!("no trial is selected");
        return ExitCode::FAILURE;
    }
    let verdicts: Vec<_> = selected.par_iter().map(|trial| suite.verdict(trial)).collect();
    if selection.bless
        && let Err(problem) = settle()
    {
        anstream::eprintln!("error: {problem}");
        return ExitCode::FAILURE;
    }
    let report = Report { outcomes: selected.into_iter().zip(verdicts).collect() };
    match selection.format {
        Format::Human if selection.cells => anstream::print!("{}", report.cells()),
        Format::Human => anstream::print!("{}{}", report.matrix(), report.mismatches()),
        Format::Brief => anstream::print!("{}", report.mismatches()),
        Format::Json => anstream::println!("{:#}", report.json()),
    }
    if report.failed() == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Writes what was blessed, and lists the texts that changed.
fn settle() -> Result<(), String> {
    outcome::settle()?;
    let changed = texts::settle()?;
    for Changed { key, before, after } in &changed {
        anstream::println!("{}", key.bold());
        for (sign, text) in [("-", before), ("+", after)] {
            if let Some(text) = text {
                anstream::println!("  {sign} {text}");
            }
        }
    }
    anstream::println!("{} texts changed", changed.len());
    Ok(())
}

impl Selection {
    fn takes(&self, trial: &Trial) -> bool {
        self.adapter.as_ref().is_none_or(|adapter| trial.adapter.as_ref() == Some(adapter))
            && self.area.as_ref().is_none_or(|area| trial.area.starts_with(area.as_str()))
            && self.case.as_ref().is_none_or(|glob| matches(glob, &trial.id))
    }
}
