//! `cargo xtask shell-oracle`: compares what shell commands do with the verdict of the shell analysis.
//!
//! bash runs each line in a throwaway sandbox. What the line wrote, deleted, ran and connected to is the truth;
//! expectations in files do not count. A line that is judged `read` and did anything else fails the run, and so does a
//! sandbox that does not start.

mod random;
mod corpus;
mod mutate;
mod families;
mod namespace;
mod trace;
mod difference;
mod sandbox;
mod score;
mod report;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use self::corpus::{HARMLESS, Helpers, Line};
use self::difference::Change;
use self::families::Grammar;
use self::mutate::Recipe;
use self::namespace::{broken, enter};
use self::sandbox::{PROJECT, Sandbox};
use self::score::{Scored, score};
use xtask::failure::{Failure, Result};
use xtask::root::{target, write};

/// How many mutations, and how many lines of families, a short run has.
const SHORT: usize = 400;
/// How many lines run at once for each processor: most of a line's time is waiting.
const AT_ONCE: usize = 2;

/// What is run, and how it is reported.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many mutations; without it as many as `conformance/shell/mutations.toml` says.
    #[arg(long)]
    mutations: Option<usize>,
    /// How many lines of families; without it as many as `conformance/shell/families.toml` says.
    #[arg(long)]
    families: Option<usize>,
    /// Another seed for the lines of families.
    #[arg(long)]
    seed: Option<u64>,
    /// Run what an adversary tried, and some hundred lines of families and mutations, as `cargo xtask ci` does.
    #[arg(long)]
    short: bool,
    /// Run the lines of this file, JSON Lines with `cmd`, in place of the corpora.
    #[arg(long)]
    file: Option<PathBuf>,
    /// Run this line alone, and print what it did and how it was judged.
    #[arg(long)]
    line: Option<String>,
    /// Print the report as one object.
    #[arg(long)]
    json: bool,
    #[arg(long, hide = true)]
    inside: bool,
}

/// Runs every line and every mutation.
pub(crate) fn run(args: &Args) -> Result {
    if !args.inside {
        return enter();
    }
    let helpers = Helpers::load()?;
    let place = scratch()?;
    if let Some(text) = &args.line {
        return one(text, &place, &helpers);
    }
    let begin = Instant::now();
    let lines = lines(args)?;
    let scored = all(&lines, &place, &helpers)?;
    let report = report::report(&scored, begin.elapsed());
    let json = shown(&report)?;
    let file = target().join("shell-oracle/report.json");
    write(&file, &json)?;
    if args.json {
        anstream::println!("{json}");
    } else {
        report.print();
        anstream::println!("the whole report is {}", file.display());
    }
    let wrong = report.wrong.len();
    if wrong == 0 { Ok(()) } else { Err(Failure::new(format!("{wrong} lines are judged `read` and do not only read"))) }
}

/// The lines that are run.
fn lines(args: &Args) -> Result<Vec<Line>> {
    if let Some(file) = &args.file {
        return corpus::file(file);
    }
    let mut lines = corpus::load()?;
    let harmless: Vec<String> =
        lines.iter().filter(|line| line.corpus == HARMLESS).map(|line| line.text.clone()).collect();
    if args.short {
        lines.retain(|line| line.corpus == corpus::ADVERSARIAL);
    }
    let count = |given: Option<usize>, whole: usize| given.unwrap_or(if args.short { SHORT } else { whole });
    let recipe = Recipe::load()?;
    let made = recipe.mutate(&harmless, count(args.mutations, recipe.count));
    let mutation = |(at, text)| Line { corpus: report::MUTATIONS, id: format!("mu{at:05}"), text };
    lines.extend(made.into_iter().enumerate().map(mutation));
    let grammar = Grammar::load()?;
    let seed = args.seed.unwrap_or(grammar.seed);
    lines.extend(grammar.lines(&harmless, count(args.families, grammar.count), seed));
    Ok(lines)
}

/// A file system in memory for everything that lines leave behind. It is gone with the namespace.
fn scratch() -> Result<PathBuf> {
    let place = target().join("shell-oracle/scratch");
    std::fs::create_dir_all(&place).map_err(|error| Failure::file(&place, error))?;
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=16m,mode=755", "tmpfs"]).arg(&place).status();
    if mounted.is_ok_and(|status| status.success()) { Ok(place) } else { Err(broken("no file system in memory")) }
}

fn one(text: &str, place: &std::path::Path, helpers: &Helpers) -> Result {
    let sandbox = Sandbox::new(place, 0)?;
    let truth = sandbox.run(text)?;
    anstream::println!("{}", shown(&truth)?);
    let line = Line { corpus: "line", id: "line".into(), text: text.into() };
    let scored = score(&line, truth, valid(text), helpers);
    anstream::println!("{}", shown(&scored)?);
    if scored.wrong.is_empty() { Ok(()) } else { Err(Failure::new("it is judged `read` and does not only read")) }
}

fn shown(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string_pretty(value).map_err(|error| Failure::new(error.to_string()))
}

/// Whether bash can parse a line; bash runs nothing.
fn valid(line: &str) -> bool {
    let line = &line.replace('\0', "");
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile", "-n", "-c", line]).stdin(Stdio::null()).stdout(Stdio::null());
    bash.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Every line, run and judged, in the order given.
fn all(lines: &[Line], place: &std::path::Path, helpers: &Helpers) -> Result<Vec<Scored>> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from) * AT_ONCE;
    let sandboxes = (0..workers).map(|number| Sandbox::new(place, number)).collect::<Result<Vec<_>>>()?;
    sandboxes.iter().try_for_each(canary)?;
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} lines, {eta} left");
    let bar = ProgressBar::new(lines.len() as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Scored)>> = Mutex::new(Vec::new());
    let failed: Mutex<Option<Failure>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for sandbox in &sandboxes {
            scope.spawn(|| {
                while let Some((at, line)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| lines.get(at).map(|line| (at, line)))
                {
                    match sandbox.run(&line.text) {
                        Ok(truth) => {
                            let scored = score(line, truth, valid(&line.text), helpers);
                            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((at, scored));
                        }
                        Err(failure) => {
                            next.store(lines.len(), Ordering::Relaxed);
                            let text = format!("{failure}; at {}/{}: {:?}", line.corpus, line.id, line.text);
                            *failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner) =
                                Some(Failure::new(text));
                        }
                    }
                    bar.inc(1);
                }
            });
        }
    });
    bar.finish_and_clear();
    if let Some(failure) = failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        return Err(failure);
    }
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, scored)| scored).collect())
}

/// A sandbox that does not see a write, or sees one where there is none, shows nothing.
fn canary(sandbox: &Sandbox) -> Result {
    let wrote = sandbox.run("cat a.txt >canary; rm b.txt; no-such-program")?;
    let created = Change::Created(format!("{PROJECT}/canary"));
    let deleted = Change::Deleted(format!("{PROJECT}/b.txt"));
    if !wrote.changes.contains(&created) || !wrote.changes.contains(&deleted) || wrote.trace.executed.len() != 2 {
        return Err(broken(&format!("what a line does is not seen whole: {wrote:?}")));
    }
    let read = sandbox.run("cat a.txt && git status --short && git log --oneline")?;
    if !read.changes.is_empty() || read.status != Some(0) {
        return Err(broken(&format!("a line that reads did more, or did not run: {read:?}")));
    }
    Ok(())
}
