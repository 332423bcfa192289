//! `phasegate check [FILE...]`: every mistake in the configs, each with its place.

pub(in crate::command) mod junit;
mod prove;
pub(in crate::command) mod transcripts;

use std::collections::BTreeSet;
use std::fmt;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use anstream::ColorChoice;
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use phasegate_config::{Diagnostic, Kind, Severity, SourceFile, compile, compile_knowing};
use phasegate_core::{Code, Policy};
use phasegate_runtime::project::discover::named;
use phasegate_runtime::project::misplaced_files::deprecated_files;
use phasegate_runtime::project::strays::strays;
use serde_json::{Value, json};

use super::explain::inputs;
use super::replay::configured;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;
use prove::{Asked, Verdict};
use transcripts::{Mistake, Played};

/// The most files beside the named ones that are looked at.
const MAX_BESIDE: usize = 1000;

/// The arguments of `phasegate check`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files to check; default: all that apply to the project. What a skill of them runs may be another skill of its folder
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Also play the transcripts in `.phasegate/tests`, and compare the answers with what they expect
    #[arg(long, conflicts_with = "files")]
    pub tests: bool,
    /// Also write what became of the transcripts to this file, as JUnit XML
    #[arg(long, value_name = "FILE", requires = "tests")]
    pub junit: Option<PathBuf>,
    /// Also prove or refute what is claimed of this skill, by default of all: by `.phasegate/tests/*.yaml`, and of every skill that
    /// each phase can be reached, that none is a dead end, and that calls which wait get through
    #[arg(long, value_name = "SKILL", num_args = 0..=1, require_equals = true, conflicts_with = "files")]
    pub prove: Option<Option<String>>,
    /// Save the transcripts that refute a claim in this folder
    #[arg(long, value_name = "FOLDER", requires = "prove")]
    pub save: Option<PathBuf>,
    /// A value for an input of a skill that is proven; without it, a sample is taken
    #[arg(long = "input", value_name = "NAME=VALUE", requires = "prove")]
    pub inputs: Vec<String>,
}

/// Checks the configs.
///
/// # Errors
///
/// The project cannot be opened, a named file does not exist, or no config applies.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let runtime = context.runtime()?;
    let Read { files, beside, problems: mut diagnostics } = if args.files.is_empty() {
        let project = context.find_project(&runtime)?;
        let found = runtime.discover(&project);
        let problems = found.problems.into_iter().chain(strays(&project.root)).collect::<Vec<_>>();
        if found.files.is_empty() && problems.is_empty() {
            return Err(nothing_to_check(&project.root));
        }
        Read { files: found.files, problems, ..Read::default() }
    } else {
        read_named(&args.files, context)?
    };
    let configs = files.iter().filter(|file| !matches!(file.kind, Kind::Prompt | Kind::Format)).count();
    let known = context.find_project(&runtime).map(|project| runtime.known(&project)).unwrap_or_default();
    let mut compiled = compile_knowing(&[files.as_slice(), beside.as_slice()].concat(), &known);
    if !beside.is_empty() {
        let own = compile(&files).policy;
        compiled.policy.skills.retain(|skill| own.skill(&skill.name).is_some());
        compiled.diagnostics.retain(|found| beside.iter().all(|file| file.path != found.path));
    }
    diagnostics.extend(compiled.diagnostics);
    if args.files.is_empty() {
        diagnostics.extend(deprecated_files(&context.find_project(&runtime)?.root, &compiled.policy));
    }
    let errors = diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
    let played = if args.tests && errors == 0 {
        transcripts::play(&context.find_project(&runtime)?.root, &compiled.policy)?
    } else {
        Vec::new()
    };
    if let Some(path) = &args.junit {
        junit::write(&context.start()?.join(path), &played, &diagnostics)?;
    }
    let proven = if errors == 0 { proven(args, &files, &compiled.policy, context)? } else { Vec::new() };
    let failed = played.iter().any(|one| !one.mistakes.is_empty()) || proven.iter().any(Verdict::is_refuted);
    if context.out.json {
        let list: Vec<_> = diagnostics.iter().map(as_json).collect();
        let mut value = json!({"files": configs, "errors": errors, "diagnostics": list});
        if let (true, Some(fields)) = (args.tests, value.as_object_mut()) {
            fields.insert("tests".into(), played.iter().map(Played::as_json).collect());
        }
        if let (true, Some(fields)) = (args.prove.is_some(), value.as_object_mut()) {
            fields.insert("claims".into(), proven.iter().map(Verdict::as_json).collect());
        }
        context.out.value(&value);
    } else {
        diagnostics.iter().for_each(|found| print(context, found, &files));
        let (mistakes, warnings) = (count(errors, "error"), count(diagnostics.len() - errors, "warning"));
        context.out.line(format_args!("{} checked: {mistakes}, {warnings}", count(configs, "file")));
        played.iter().for_each(|one| told(context, one));
        prove::print(&proven, context);
    }
    Ok(if errors > 0 || failed {
        Exit::No
    } else if configs == 0 {
        Exit::Failed
    } else {
        Exit::Done
    })
}

/// What is proven of the skills, or of a named one, which may be a shipped one that no config uses.
fn proven(args: &Args, files: &[SourceFile], policy: &Policy, context: &Context) -> Result<Vec<Verdict>, Failure> {
    let Some(skill) = &args.prove else { return Ok(Vec::new()) };
    let (runtime, project) = context.runtime_and_project()?;
    let mut policy = policy.clone();
    let mut name = skill.clone();
    if let Some(given) = skill.as_deref().filter(|name| policy.skill(name).is_none()) {
        let found = configured(&runtime, &project, Some(given), &[])?;
        if found.skill.as_deref().is_none_or(|name| found.policy.skill(name).is_none()) {
            return Err(Failure::new(format!("there is no skill `{given}`")));
        }
        (policy, name) = (found.policy, found.skill);
    }
    let save = args.save.as_ref().map(|folder| Ok::<_, Failure>(context.start()?.join(folder))).transpose()?;
    let inputs = inputs(&args.inputs)?;
    let (skill, save) = (name.as_deref(), save.as_deref());
    prove::prove(&Asked { policy: &policy, skill, inputs: &inputs, files, root: &project.root, save })
}

/// Tells what became of a transcript.
pub(in crate::command) fn told(context: &Context, played: &Played) {
    let Played { path, expectations, mistakes, .. } = played;
    for Mistake { line, message } in mistakes {
        context.out.line(format_args!("{path}:{line}: {message}"));
    }
    let what = count(*expectations, "expectation");
    match mistakes.len() {
        0 => context.out.line(format_args!("{path}: {what}, all met")),
        _ => context.out.line(format_args!("{path}: {what}, {}", count(mistakes.len(), "mistake"))),
    }
}

/// In a wrong folder, nothing is right because there is nothing.
fn nothing_to_check(root: &Path) -> Failure {
    Failure::new(format!("nothing to check: no config applies to `{}`", root.display()))
        .with_help("run it in the project's folder or with `--project`, or make a config with `phasegate init`")
}

/// What is checked.
#[derive(Default)]
struct Read {
    files: Vec<SourceFile>,
    /// The skills beside named files.
    beside: Vec<SourceFile>,
    /// What could not be read.
    problems: Vec<Diagnostic>,
}

fn read_named(paths: &[PathBuf], context: &Context) -> Result<Read, Failure> {
    let start = context.start()?;
    let (mut files, mut problems) = (Vec::new(), Vec::new());
    for path in paths {
        if !path.exists() {
            return Err(Failure::new(format!("there is no file `{}`", path.display()))
                .with_help("`phasegate check` without a name checks every config that applies to the project"));
        }
        let found = named(path, &start);
        files.extend(found.files);
        problems.extend(found.problems);
    }
    problems.extend(files.iter().filter(|file| is_without_phases(file)).map(without_phases));
    let beside = if files.iter().any(|file| file.kind == Kind::Skill) { beside(paths, &start) } else { Vec::new() };
    Ok(Read { files, beside, problems })
}

/// The other skills in the folders of these files: what a skill runs may be one of them.
fn beside(paths: &[PathBuf], start: &Path) -> Vec<SourceFile> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let named_files: BTreeSet<PathBuf> = paths.iter().map(|path| real(path)).collect();
    let folders: BTreeSet<PathBuf> =
        named_files.iter().filter_map(|path| path.parent()).map(Path::to_path_buf).collect();
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let others = entries.map(|entry| entry.path()).filter(|path| {
        let end = path.extension().and_then(|end| end.to_str());
        matches!(end, Some("yaml" | "yml" | "json")) && path.is_file() && !named_files.contains(&real(path))
    });
    let mut others: Vec<PathBuf> = others.take(MAX_BESIDE).collect();
    others.sort_unstable();
    others.iter().flat_map(|path| named(path, start).files).filter(|file| file.kind == Kind::Skill).collect()
}

/// Whether the file is a skill's that says nothing of phases. Where it says something wrong, that is a mistake of its own.
fn is_without_phases(file: &SourceFile) -> bool {
    let alone = || compile(std::slice::from_ref(file));
    file.kind == Kind::SkillMd
        && matches!(alone(), found if found.policy.skills.is_empty() && found.diagnostics.is_empty())
}

fn without_phases(file: &SourceFile) -> Diagnostic {
    Diagnostic {
        code: Code::ConfigMissing,
        severity: Severity::Warning,
        path: file.path.clone(),
        line: 1,
        column: 1,
        span: (0, 0),
        message: "the file holds no phases".into(),
        cause: Some("its front matter has no `tool_permissions`, so it has no effect".into()),
        suggestion: Some(
            "put `tool_permissions` with `phases` into its front matter, between the leading `---` lines".into(),
        ),
    }
}

pub(in crate::command) fn print(context: &Context, found: &Diagnostic, files: &[SourceFile]) {
    let source = files.iter().find(|file| file.path == found.path);
    if !graphical() {
        context.out.line(plain(found));
        return;
    }
    let report = Report {
        found,
        source: NamedSource::new(&found.path, source.map(|file| file.text.clone()).unwrap_or_default()),
    };
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode());
    match handler.render_report(&mut text, &report) {
        Ok(()) => context.out.line(text.trim_end()),
        Err(_) => context.out.line(plain(found)),
    }
}

/// Whether pictures are wanted: on a terminal, or where colours are forced.
fn graphical() -> bool {
    match ColorChoice::global() {
        ColorChoice::Always | ColorChoice::AlwaysAnsi => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => std::io::stdout().is_terminal(),
    }
}

fn plain(found: &Diagnostic) -> String {
    let mut text = format!(
        "{}:{}:{}: {}[{}]: {}",
        found.path,
        found.line,
        found.column,
        word(found.severity),
        found.code,
        found.message
    );
    for (label, more) in [("cause", &found.cause), ("help", &found.suggestion)] {
        if let Some(more) = more {
            text.push_str(&format!("\n  {label}: {more}"));
        }
    }
    text
}

pub(in crate::command) fn as_json(found: &Diagnostic) -> Value {
    json!({
        "code": found.code,
        "severity": word(found.severity),
        "path": found.path,
        "line": found.line,
        "column": found.column,
        "span": [found.span.0, found.span.1],
        "message": found.message,
        "cause": found.cause,
        "suggestion": found.suggestion,
    })
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

pub(in crate::command) fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// A diagnostic in the form that miette draws.
#[derive(Debug)]
struct Report<'a> {
    found: &'a Diagnostic,
    source: NamedSource<String>,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.found.message)
    }
}

impl std::error::Error for Report<'_> {}

impl miette::Diagnostic for Report<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.found.code))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.found.severity {
            Severity::Warning => miette::Severity::Warning,
            Severity::Error => miette::Severity::Error,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let parts: Vec<_> = [&self.found.cause, &self.found.suggestion].into_iter().flatten().cloned().collect();
        (!parts.is_empty()).then(|| Box::new(parts.join("\n")) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let (start, length) = self.found.span;
        let end = self.source.inner().len();
        let start = start.min(end);
        let label = LabeledSpan::new(None, start, length.min(end - start));
        Some(Box::new(std::iter::once(label)))
    }
}
