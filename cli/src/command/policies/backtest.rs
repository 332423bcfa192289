//! `phasegate backtest [FILES|FOLDERS]`: what the configs would have stopped in recorded sessions.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use owo_colors::OwoColorize as _;
use phasegate_core::Effect;
use phasegate_runtime::operate::backtest::{self, Counts, Finding, Report, SessionReport, Trial};
use phasegate_runtime::operate::replay::Options;
use phasegate_runtime::{Project, Runtime};
use serde_json::json;

use super::replay::{Configured, configured};
use crate::args::ModeArg;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;
use crate::progress::Progress;

/// The page of `--html`; what was found stands in it as JSON.
const PAGE: &str = include_str!("backtest/report.html");
/// Where it stands.
const PLACE: &str = "/*REPORT*/null";
/// How many rows of a kind a person reads.
const SHOWN: usize = 10;
/// How long the progress waits between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// The arguments of `phasegate backtest`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files of sessions, and folders of such: transcripts, or what clients keep; default: the sessions of this project that
    /// the clients of this machine keep
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// A skill to try: one of the project's or a shipped one. It begins by itself where it says when, else with each session
    #[arg(long, value_name = "NAME")]
    pub skill: Option<String>,
    /// A pack of rules to try, as `phasegate rules packs` lists them; may be given several times
    #[arg(long = "rules", value_name = "PACK")]
    pub packs: Vec<String>,
    /// The minimum mode of every run
    #[arg(long, value_name = "MODE")]
    pub mode: Option<ModeArg>,
    /// Compare with the configs of this project: what the two answer differently
    #[arg(long, value_name = "DIR")]
    pub against: Option<PathBuf>,
    /// Take it that the client's shell holds the lines of phases that only read, so that nothing of them stays
    #[arg(long)]
    pub confine: bool,
    /// Write the report as a page to this file
    #[arg(long, value_name = "PATH")]
    pub html: Option<PathBuf>,
    /// Without files: the sessions of all projects on this machine
    #[arg(long)]
    pub everywhere: bool,
}

/// Plays the sessions and prints the report.
///
/// # Errors
///
/// There are no sessions or no configs, a config has mistakes, or a file cannot be read or written.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let files = backtest::by_session(files(args, &runtime, &project)?);
    let trial = trial(args, &runtime, &project)?;
    let mut report = play(&trial, &files, context)?;
    report.compare();
    if let Some(path) = &args.html {
        let text = serde_json::to_string(&report).unwrap_or_default().replace("</", "<\\/");
        std::fs::write(path, PAGE.replace(PLACE, &text))
            .map_err(|error| Failure::new(format!("`{}` cannot be written: {error}", path.display())))?;
    }
    if context.out.json {
        context.out.value(&json!(report));
    } else {
        print(&report, context);
        if let Some(path) = &args.html {
            context.out.line(format!("\nThe page is in {}", path.display()));
        }
    }
    Ok(Exit::Done)
}

fn files(args: &Args, runtime: &Runtime, project: &Project) -> Result<Vec<PathBuf>, Failure> {
    let none = |where_: &str| {
        Failure::new(format!("there are no recorded sessions {where_}")).with_help(
            "name files or folders: transcripts (`phasegate schema event`), or the sessions that clients keep",
        )
    };
    if !args.files.is_empty() {
        let files = backtest::session_files(&args.files).map_err(|error| Failure::new(error.to_string()))?;
        return if files.is_empty() { Err(none("there")) } else { Ok(files) };
    }
    let mut files = backtest::client_files(&phasegate_adapters::all(), &runtime.locations.home);
    if !args.everywhere {
        files.retain(|file| backtest::works_in(file, &project.root));
    }
    let place = if args.everywhere { "on this machine" } else { "of this project on this machine" };
    if files.is_empty() { Err(none(place)) } else { Ok(files) }
}

fn trial(args: &Args, runtime: &Runtime, project: &Project) -> Result<Trial, Failure> {
    let Configured { policy, skill, guarded, safety } =
        configured(runtime, project, args.skill.as_deref(), &args.packs)?;
    if !guarded && skill.is_none() && args.packs.is_empty() {
        return Err(Failure::new(format!("no config guards `{}`", project.root.display()))
            .with_help("run `phasegate init`, or try `--skill test-first` or `--rules protect-secrets`"));
    }
    let other = |folder: &PathBuf| {
        let folder = folder
            .canonicalize()
            .map_err(|error| Failure::new(format!("`{}` cannot be opened: {error}", folder.display())))?;
        let other = configured(runtime, &Project::find(&runtime.locations, &folder), None, &[])?;
        let none = || Failure::new(format!("no config guards `{}`", folder.display()));
        if other.guarded { Ok(other) } else { Err(none().with_help("name the folder of a guarded project")) }
    };
    let against = args.against.as_ref().map(other).transpose()?.map(|other| other.policy);
    let (mode, confine) = (args.mode.map(ModeArg::mode), args.confine);
    // What begins by itself is not begun for it: sessions that never do such work are left alone.
    let skill = skill.filter(|name| policy.skill(name).is_none_or(|skill| !skill.starts_by_itself()));
    let options = Options { skill, mode, confine, safety, other_skills: true, ..Options::default() };
    Ok(Trial { policy, against, options })
}

/// Plays the sessions, as many at once as the machine has processors.
fn play(trial: &Trial, sessions: &[Vec<PathBuf>], context: &Context) -> Result<Report, Failure> {
    let size = |file: &PathBuf| file.metadata().map_or(0, |data| data.len());
    let (total, read, next) = (sessions.iter().flatten().map(size).sum(), AtomicU64::new(0), AtomicUsize::new(0));
    let reports: Mutex<Vec<(usize, Result<Report, Failure>)>> = Mutex::new(Vec::new());
    let adapters = phasegate_adapters::all();
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(files) = sessions.get(at) else { break };
            let done = |bytes| {
                read.fetch_add(bytes, Ordering::Relaxed);
            };
            let played =
                backtest::play(trial, &adapters, files, &done).map_err(|error| Failure::new(error.to_string()));
            reports.lock().unwrap_or_else(PoisonError::into_inner).push((at, played));
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(sessions.len());
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let mut progress = Progress::new(context.out, "playing sessions:");
        while threads.iter().any(|thread| !thread.is_finished()) {
            progress.set(read.load(Ordering::Relaxed), total);
            std::thread::sleep(LOOK);
        }
        progress.clear();
    });
    let mut reports = reports.into_inner().unwrap_or_else(PoisonError::into_inner);
    reports.sort_by_key(|(at, _)| *at);
    let mut all = Report::default();
    for (_, report) in reports {
        all.merge(report?);
    }
    Ok(all)
}

fn print(report: &Report, context: &Context) {
    let out = |text: String| context.out.line(text);
    let Counts { calls, warned, asked, denied } = report.total;
    let sessions = report.sessions.len();
    let many = |word: &str, number: u64| plural(word, usize::try_from(number).unwrap_or(usize::MAX));
    out(format!("{sessions} {} with {calls} {}", plural("session", sessions), many("call", calls)));
    out(format!(
        "  {} denied, {} asked about, {} warned",
        share(denied, calls),
        share(asked, calls),
        share(warned, calls)
    ));
    let held: u64 = report.sessions.iter().map(|session| session.held).sum();
    if held > 0 {
        out(format!("  {held} {} not ended before the work was done", many("turn", held)));
    }
    table(context, "By phase or rule", report.sources.iter().map(|(name, counts)| (name.as_str(), *counts)));
    let stopped = report.tools.iter().filter(|(_, counts)| counts.stopped() > 0);
    table(context, "By tool", stopped.map(|(name, counts)| (name.as_str(), *counts)));
    let firsts = report.sessions.iter().filter_map(|session| Some((session, session.findings.first()?)));
    rows(context, "The first call of each session that would have gone otherwise", &firsts.collect::<Vec<_>>());
    let doubtful = report.findings().filter(|(_, finding)| finding.may_be_wrong());
    rows(
        context,
        "May be wrong: the call succeeded, and tests passed later or the same call passes elsewhere",
        &doubtful.collect::<Vec<_>>(),
    );
    let differing = report.findings().filter(|(_, finding)| finding.differs());
    rows(context, "Answered differently by the two configs", &differing.collect::<Vec<_>>());
    for (why, left) in &report.left_out {
        out(format!("\n{} {} × {why}, first in {}", "left out:".yellow(), left.times, left.first));
    }
    if report.not_kept > 0 {
        out(format!("\n{} further findings are counted and not listed", report.not_kept));
    }
}

fn table<'a>(context: &Context, title: &str, rows: impl Iterator<Item = (&'a str, Counts)>) {
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by_key(|(name, counts)| (std::cmp::Reverse(counts.stopped()), *name));
    if rows.is_empty() {
        return;
    }
    context.out.line(format!("\n{}", title.bold()));
    for (name, counts) in rows.iter().take(SHOWN) {
        let said = [(counts.denied, "denied"), (counts.asked, "asked"), (counts.warned, "warned")];
        let said: Vec<_> =
            said.iter().filter(|(times, _)| *times > 0).map(|(times, word)| format!("{times} {word}")).collect();
        context.out.line(format!("  {name:<40} {}", said.join(", ")));
    }
}

fn rows(context: &Context, title: &str, rows: &[(&SessionReport, &Finding)]) {
    if rows.is_empty() {
        return;
    }
    context.out.line(format!("\n{}", title.bold()));
    for (session, finding) in rows.iter().take(SHOWN) {
        let effect = match finding.answer.effect {
            Effect::Deny => "deny ".red().to_string(),
            Effect::Ask => "ask  ".blue().to_string(),
            Effect::Warn => "warn ".yellow().to_string(),
            Effect::Allow => "allow".green().to_string(),
        };
        let before = finding.before.filter(|_| finding.differs()).map(|before| format!("{} -> ", before.word()));
        let name = PathBuf::from(&session.file).file_stem().map(|name| name.to_string_lossy().into_owned());
        let id = if session.id.is_empty() { name.unwrap_or_default() } else { session.id.clone() };
        let id: String = id.chars().take(8).collect();
        let what = finding.what.lines().next().unwrap_or_default();
        let line: String = format!("{} {what}", finding.tool).chars().take(90).collect();
        context.out.line(format!("  {id:<8} #{:<5} {}{effect} {line}", finding.call, before.unwrap_or_default()));
        if let Some(reason) = finding.answer.reason.as_deref().filter(|_| finding.answer.effect > Effect::Allow) {
            context.out.line(format!("                        {}", reason.dimmed()));
        }
    }
    if rows.len() > SHOWN {
        context.out.line(format!("  and {} more; `--json` and `--html` list all", rows.len() - SHOWN));
    }
}

fn plural(word: &str, number: usize) -> String {
    if number == 1 { word.to_owned() } else { format!("{word}s") }
}

/// A number with its share, in per cent.
fn share(part: u64, whole: u64) -> String {
    let hundredths = part.saturating_mul(10_000).checked_div(whole).unwrap_or_default();
    if part == 0 { "0".to_owned() } else { format!("{part} ({}.{:02} %)", hundredths / 100, hundredths % 100) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_down_to_a_hundredth() {
        assert_eq!([share(0, 0), share(27, 6_048), share(1, 1)], ["0", "27 (0.44 %)", "1 (100.00 %)"]);
    }

    #[test]
    fn the_page_has_a_place_for_the_report() {
        assert_eq!(PAGE.matches(PLACE).count(), 1);
        assert!(
            !PAGE.contains("http://")
                || PAGE.matches("http").count() == PAGE.matches("http://www.w3.org/2000/svg").count()
        );
    }
}
