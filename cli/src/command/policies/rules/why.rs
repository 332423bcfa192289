//! `phasegate rules why --call FILE`.

use std::io::Read as _;
use std::path::PathBuf;

use owo_colors::OwoColorize as _;
use phasegate_config::{Severity, compile};
use phasegate_core::rules::rule_report::{RuleTold, RulesTold};
use phasegate_runtime::operate::replay::{Options, Replay};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate rules why`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The call, as JSON: a line of a transcript, or only its `tool` and `input`; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    pub call: PathBuf,
    /// Also list the rules that do not hold
    #[arg(long)]
    pub all: bool,
}

/// Shows what the rules say of a call.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let found = runtime.discover(&project);
    let compiled = compile(&found.files);
    let errors = found.problems.iter().chain(&compiled.diagnostics).any(|found| found.severity == Severity::Error);
    if errors {
        return Err(Failure::new("the configs have errors").with_help("`phasegate check` lists them"));
    }
    let line = call(args)?.to_string();
    let root = project.root.display().to_string();
    let safety = runtime.project_state(&project)?.project.safety;
    let options = Options { root: Some(root), live_files: Some(project.root.clone()), safety, ..Options::default() };
    let mut replay = Replay::new(compiled.policy, options).map_err(|error| Failure::new(error.to_string()))?;
    let told = replay.told(&line).map_err(|error| Failure::new(error.to_string()))?;
    let told = told.ok_or_else(|| Failure::new("the file holds no call"))?;
    let answer = replay.line(&line).map_err(|error| Failure::new(error.to_string()))?;
    let rules = |told: &RulesTold| serde_json::to_value(told).unwrap_or_default();
    let field = |name: &str| answer.get(name).cloned().unwrap_or_default();
    let passes = matches!(field("decision").as_str(), Some("allow" | "warn"));
    if context.out.json {
        let mut value = rules(&told);
        if let Some(fields) = value.as_object_mut() {
            let names = ["decision", "code", "gate", "reason", "recovery"];
            fields.extend(names.map(|name| (name.to_string(), field(name))));
        }
        context.out.value(&value);
    } else {
        print(args, context, &told, &answer);
    }
    Ok(if passes { Exit::Done } else { Exit::No })
}

fn print(args: &Args, context: &Context, told: &RulesTold, answer: &Value) {
    let text = |name: &str| answer.get(name).and_then(Value::as_str).unwrap_or_default().to_string();
    let reason = text("reason");
    let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    context.out.line(format_args!("{}{reason}", text("decision").bold()));
    for (number, part) in told.parts.iter().enumerate() {
        context.out.line(format_args!("part {number}: {}", shown(part)));
        let own = told.rules.iter().filter(|rule| rule.part == number);
        let (others, mut listed): (Vec<_>, Vec<_>) = own.partition(|rule| rule.truth.is_no());
        listed.extend(others.iter().filter(|_| args.all));
        for rule in listed {
            context.out.line(format_args!("  {:<7} {}  {}", rule.effect, rule.rule.bold(), said(rule)));
        }
        match others.len() {
            _ if args.all => {}
            0 => {}
            1 => context.out.line(format_args!("  1 rule does not hold")),
            more => context.out.line(format_args!("  {more} rules do not hold")),
        }
    }
    if !args.all && told.rules.iter().any(|rule| rule.truth.is_no()) {
        context.out.line(format_args!("`--all` lists the rules that do not hold, `--json` prints what rules see"));
    }
}

/// Whether a rule holds, as a person reads it.
fn said(rule: &RuleTold) -> &'static str {
    let truth = serde_json::to_value(rule.truth).unwrap_or_default();
    match truth.as_str() {
        Some("yes") => "holds",
        Some("no") => "does not hold",
        Some("failed") => "cannot be evaluated",
        _ => "may hold",
    }
}

/// A part as a person reads it.
fn shown(part: &Value) -> String {
    let unknown = |name: &str| part.get(name).is_some_and(|value| !value.is_null()).then(|| "(not known)".to_string());
    let command = part.pointer("/command/text").and_then(as_text).or_else(|| unknown("command"));
    let path = part.pointer("/path/name").and_then(as_text).or_else(|| unknown("path"));
    let done = |name: &&str| part.pointer(&format!("/path/{name}")).is_some_and(|done| *done != Value::Bool(false));
    let does: Vec<&str> = ["reads", "writes", "runs"].into_iter().filter(done).collect();
    let path =
        path.map(|path| if does.len() == 1 { format!("{} {path}", does.join("")) } else { format!("path {path}") });
    let shown: Vec<String> = command.into_iter().chain(path).collect();
    if shown.is_empty() { "the call".to_string() } else { shown.join(", ") }
}

/// A text, with `*` for what is not known of it.
fn as_text(value: &Value) -> Option<String> {
    if let Some(text) = value.as_str().or_else(|| value.get("maybe")?.as_str()) {
        return Some(text.to_string());
    }
    let pieces = value.get("pieces")?.as_array()?;
    let piece = |piece: &Value| piece.get("text").unwrap_or(piece).as_str().unwrap_or("*").to_string();
    Some(pieces.iter().map(piece).collect())
}

/// The call as a line of a transcript.
fn call(args: &Args) -> Result<Value, Failure> {
    let shown = args.call.display();
    let unreadable = |error: std::io::Error| Failure::new(format!("`{shown}` cannot be read: {error}"));
    let mut text = String::new();
    if args.call.as_os_str() == "-" {
        std::io::stdin().read_to_string(&mut text).map_err(unreadable)?;
    } else {
        text = std::fs::read_to_string(&args.call).map_err(unreadable)?;
    }
    let mut value: Value =
        serde_json::from_str(&text).map_err(|error| Failure::new(format!("`{shown}` is not JSON: {error}")))?;
    let fields = value.as_object_mut().ok_or_else(|| Failure::new(format!("`{shown}` is no JSON object")))?;
    fields.entry("event").or_insert_with(|| json!("tool_call"));
    Ok(value)
}
