//! `cargo xtask cases FILE...`: plays acceptance cases through the program, and says how each comes out.

mod case;
mod outcome;
mod player;
mod phases;
mod transcript;
mod tasks;
mod planner;
mod run;
mod memory;
mod table;
mod machine;
mod steps;
mod protocols;
mod registry;
mod plans;
mod lock;
mod play;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use owo_colors::OwoColorize;
use rayon::prelude::*;
use serde::Serialize;
use xtask::failure::{Failure, Result};
use xtask::process::build_programs;
use xtask::root::root;

use self::case::Case;
use self::outcome::Outcome;

/// Which cases.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files of cases, as JSON.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Only cases whose names contain this.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Print one JSON object a case.
    #[arg(long)]
    json: bool,
}

impl Args {
    /// The files that are kept beside the tables of differences.
    pub(crate) fn kept() -> Self {
        let folder = root().join("xtask/cases");
        let corpus = root().join("conformance/shell/registry.jsonl");
        let own = KEPT.iter().map(|name| folder.join(name));
        Self { files: own.chain([corpus]).collect(), only: String::new(), json: false }
    }
}

/// The files that are kept.
const KEPT: [&str; 5] = [
    "001-task-planner.json",
    "002-skill-safety-registry.json",
    "003-skill-protocols.json",
    "004-rules.json",
    "004-tool-lock.json",
];

/// How a case came out, as one JSON object.
#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    case: &'a str,
    #[serde(flatten)]
    outcome: &'a Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// Plays the cases. Fails where one differs and the table of differences has no reason for it, or has one for a case that
/// agrees.
pub(crate) fn run(args: &Args) -> Result {
    build_programs()?;
    let mut wrong = 0;
    for file in &args.files {
        wrong += of_file(args, file)?;
    }
    if wrong == 0 {
        Ok(())
    } else {
        Err(Failure::new(format!("{wrong} cases are not as the table of differences says")))
    }
}

fn of_file(args: &Args, file: &Path) -> Result<usize> {
    let name = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
    let cases = case::read(file)?;
    let reasons = reasons(&name)?;
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut wrong = 0;
    let played: Vec<(&Case, Outcome)> = cases
        .par_iter()
        .filter(|case| case.name.contains(&args.only))
        .map(|case| {
            // A case whose setup is strange differs; the rest is played.
            let outcome = play::play(file, &name, case);
            (case, outcome.unwrap_or_else(|failure| Outcome::refused(&failure.to_string())))
        })
        .collect();
    for (case, outcome) in played {
        let differs = matches!(outcome, Outcome::Differs { .. });
        let stated = reasons.iter().find(|(names, _)| fits(names, &case.name)).map(|(_, reason)| reason.as_str());
        let known = match &outcome {
            Outcome::Differs { why, .. } => why.as_deref(),
            _ => None,
        };
        let reason = stated.or(known).or(case.upstream_quirk.as_deref()).filter(|_| differs);
        // A reason for one case that agrees is out of date.
        let is_wrong = if differs { reason.is_none() } else { reasons.contains_key(&case.name) };
        wrong += usize::from(is_wrong);
        *counts.entry(outcome.word()).or_default() += 1;
        if args.json {
            let line = Line { file: &name, case: &case.name, outcome: &outcome, reason };
            anstream::println!("{}", serde_json::to_string(&line).unwrap_or_default());
        } else {
            print(case, &outcome, reason, is_wrong);
        }
    }
    if !args.json {
        let count = |word: &str| counts.get(word).copied().unwrap_or_default();
        let (agrees, differs, not) = (count("agrees"), count("differs"), count("not supported"));
        anstream::println!("{name}: {agrees} agree, {differs} differ, {not} not supported");
    }
    Ok(wrong)
}

fn print(case: &Case, outcome: &Outcome, reason: Option<&str>, is_wrong: bool) {
    let name = &case.name;
    match outcome {
        Outcome::Agrees => anstream::println!("{:<14} {name}", "agrees".green()),
        Outcome::NotSupported { why } => anstream::println!("{:<14} {name}: {why}", "not supported".dimmed()),
        Outcome::Differs { expected, got, .. } => {
            anstream::println!("{:<14} {name}: expected {expected}, got {got}", "differs".yellow());
        }
    }
    match reason {
        Some(reason) => anstream::println!("    reason: {reason}"),
        None if is_wrong => anstream::println!("    {}", "the table of differences says otherwise".red()),
        None => {}
    }
}

/// Whether a name is the one that a table has; a star stands for any characters.
fn fits(names: &str, name: &str) -> bool {
    let Some((start, rest)) = names.split_once('*') else { return names == name };
    name.strip_prefix(start).is_some_and(|after| match rest {
        "" => true,
        rest => after.char_indices().any(|(at, _)| fits(rest, after.get(at..).unwrap_or_default())),
    })
}

/// Why cases of a file differ, by name.
fn reasons(name: &str) -> Result<BTreeMap<String, String>> {
    let path = root().join("xtask/cases").join(name).with_extension("toml");
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(BTreeMap::new()) };
    toml::from_str(&text).map_err(|error| Failure::file(&path, error))
}
