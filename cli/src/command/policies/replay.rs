//! `phasegate replay [FILE]`: a neutral transcript, line by line, through the same engine.

use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::PathBuf;
use std::sync::Arc;

use owo_colors::OwoColorize as _;
use phasegate_config::shipped;
use phasegate_config::{Kind, Level, Severity, SourceFile, compile, find_shipped};
use phasegate_core::policy::Policy;
use phasegate_core::shell::safety::Registry;
use phasegate_core::values::canonical::Sorted;
use phasegate_runtime::operate::replay::{Options, Replay};
use phasegate_runtime::{Project, Runtime};
use serde_json::Value;

use crate::args::ModeArg;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate replay`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The transcript, JSON Lines; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub file: PathBuf,
    /// Begin each session with this skill active: one of the project's or a shipped one (`lsp-refactor`, `lsp-refactor@compat`)
    #[arg(long, value_name = "NAME")]
    pub skill: Option<String>,
    /// The minimum mode of every run
    #[arg(long, value_name = "MODE")]
    pub mode: Option<ModeArg>,
    /// Also look up facts about files in the project's real files, not only in `file` lines
    #[arg(long)]
    pub live_files: bool,
    /// Take it that the client's shell holds the lines of phases that only read, so that nothing of them stays
    #[arg(long)]
    pub confine: bool,
    /// Append the starts, transitions, violations and ends of runs to this file, a JSON object a line
    #[arg(long, value_name = "PATH")]
    pub audit_log: Option<PathBuf>,
    /// How to print each step
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    pub format: Format,
}

/// How to print each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A line to read
    Human,
    /// One JSON object a line
    Json,
}

/// Steps the transcript.
///
/// # Errors
///
/// The config has mistakes, the skill is not known, or a line of the transcript cannot be applied; its number is named.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let Configured { policy, skill, guarded, safety } = configured(&runtime, &project, args.skill.as_deref(), &[])?;
    let guarded = guarded || context.project.is_some();
    let start = if guarded || args.live_files { Some(context.start()?) } else { None };
    let root = start.as_ref().map(|start| start.display().to_string());
    let live_files = start.filter(|_| args.live_files);
    let mode = args.mode.map(ModeArg::mode);
    let (audit_log, confine) = (args.audit_log.clone(), args.confine);
    let options = Options { root, live_files, skill, mode, other_skills: false, audit_log, confine, safety };
    let mut replay = Replay::new(policy, options).map_err(|error| {
        let names: Vec<_> = shipped().iter().map(|skill| skill.name).collect();
        Failure::new(error.to_string()).with_help(format!("the shipped skills are [{}]", names.join(", ")))
    })?;
    let mut input = open(args)?;
    let human = args.format == Format::Human && !context.out.json;
    let name = args.file.display();
    let mut bytes = Vec::new();
    for number in 1_u64.. {
        bytes.clear();
        let read = input.read_until(b'\n', &mut bytes);
        let wrong = |message: String| Failure::new(format!("{name}, line {number}: {message}"));
        if read.map_err(|error| wrong(format!("cannot be read: {error}")))? == 0 {
            break;
        }
        let line = std::str::from_utf8(&bytes).map_err(|_| wrong("not UTF-8".to_string()))?.trim();
        if line.is_empty() {
            continue;
        }
        let output = replay.line(line).map_err(|error| {
            wrong(error.to_string()).with_help("`phasegate schema event` prints the form of a line")
        })?;
        if human {
            context.out.line(readable(&output, &serde_json::from_str(line).unwrap_or_default()));
        } else {
            context.out.line(Sorted(&output));
        }
    }
    Ok(Exit::Done)
}

fn open(args: &Args) -> Result<Box<dyn BufRead>, Failure> {
    if args.file.as_os_str() == "-" {
        return Ok(Box::new(BufReader::new(stdin())));
    }
    let file = File::open(&args.file)
        .map_err(|error| Failure::new(format!("`{}` cannot be opened: {error}", args.file.display())))?;
    Ok(Box::new(BufReader::new(file)))
}

/// What a transcript is stepped with.
pub(crate) struct Configured {
    pub(crate) policy: Policy,
    /// The plain name of the skill that was named.
    pub(crate) skill: Option<String>,
    /// Whether configs guard the project.
    pub(crate) guarded: bool,
    /// What is registered of commands for the project.
    pub(crate) safety: Arc<Registry>,
}

/// A project's policy and what is registered for it, with a skill of this name, which may be a shipped one that no config uses, and with packs of rules.
///
/// # Errors
///
/// A config has a mistake; its place is named. The state of the project cannot be read.
pub(crate) fn configured(
    runtime: &Runtime,
    project: &Project,
    skill: Option<&str>,
    packs: &[String],
) -> Result<Configured, Failure> {
    let found = runtime.discover(project);
    if let Some(problem) = found.problems.first() {
        return Err(Failure::new(format!("{}: {}", problem.path, problem.message)));
    }
    let mut files = found.files;
    let guarded = !files.is_empty();
    if !packs.is_empty() {
        let text = serde_json::json!({"rules": {"packs": packs}}).to_string();
        files.push(SourceFile { path: "--rules".into(), text, level: Level::User, kind: Kind::Settings });
    }
    let mut compiled = compile(&files);
    let mut skill = skill.map(str::to_owned);
    if let Some(name) = skill.clone().as_deref()
        && compiled.policy.skill(name).is_none()
        && let Some((shipped, form)) = find_shipped(name)
    {
        let (path, text) = (shipped.path(form), shipped.text(form).unwrap_or_default().to_string());
        files.push(SourceFile { path, text, level: Level::Project, kind: Kind::Skill });
        compiled = compile(&files);
        skill = Some(shipped.name.to_string());
    }
    match compiled.diagnostics.iter().find(|found| found.severity == Severity::Error) {
        None => {
            let safety = runtime.project_state(project)?.project.safety;
            Ok(Configured { policy: compiled.policy, skill, guarded, safety })
        }
        Some(first) => Err(Failure::new(format!("{}:{}:{}: {}", first.path, first.line, first.column, first.message))
            .with_help("`phasegate check` lists every error")),
    }
}

/// The most characters of what is told of a call.
const MAX_CALL_CHARS: usize = 60;

/// The call that a line of a transcript makes: its tool, and what it is about.
pub(super) fn call(line: &Value) -> Option<String> {
    let (tool, input) = (line.get("tool")?.as_str()?, line.get("input")?);
    let about = ["command", "file_path", "path", "pattern", "prompt"].iter().find_map(|key| input.get(key));
    let about = about.and_then(Value::as_str).unwrap_or_default().lines().next().unwrap_or_default();
    let short: String = about.chars().take(MAX_CALL_CHARS).collect();
    let more = if short.len() < about.len() { "\u{2026}" } else { "" };
    Some(format!("  {tool} {short}{more}").trim_end().to_string())
}

fn readable(output: &Value, line: &Value) -> String {
    let text = |key: &str| output.get(key).and_then(Value::as_str).unwrap_or_default();
    let decision = match text("decision") {
        "" => "     ".to_string(),
        "allow" => "allow".green().to_string(),
        "warn" => "warn ".yellow().to_string(),
        "ask" => "ask  ".blue().to_string(),
        other => format!("{other:<5}").red().bold().to_string(),
    };
    let (before, phase) = (text("phase_before"), text("phase"));
    let place = if before == phase { phase.to_string() } else { format!("{before} -> {phase}") };
    let number = output.get("seq").and_then(Value::as_u64).unwrap_or_default();
    let branches = output.get("branches").and_then(Value::as_object).into_iter().flatten();
    let each: Vec<String> =
        branches.map(|(name, phase)| format!("{name} {}", phase.as_str().unwrap_or_default())).collect();
    let branches = if each.is_empty() { String::new() } else { format!("  [{}]", each.join(", ")) };
    let mut line = format!(
        "{number:>4} {decision} {:<14} {}{branches}{}",
        text("event"),
        place.cyan(),
        call(line).unwrap_or_default()
    );
    for (key, label) in [("code", ""), ("reason", ""), ("recovery", "recovery: ")] {
        if !text(key).is_empty() {
            line.push_str(&format!("\n             {label}{}", text(key)));
        }
    }
    if let Some(result) = output.get("result").filter(|result| !result.is_null()) {
        line.push_str(&format!("\n             {result}"));
    }
    line
}
