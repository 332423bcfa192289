//! `phasegate status`: where the sessions of a project stand. Nothing is recorded by asking.

use std::collections::BTreeMap;
use std::time::SystemTime;

use owo_colors::OwoColorize as _;
use phasegate_core::policy::Mode;
use phasegate_runtime::policy_store::{Current, summary};
use phasegate_runtime::sessions::{SessionInfo, Sessions, sessions};
use phasegate_runtime::{Project, Runtime};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, duration};

/// The arguments of `phasegate status`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

/// Shows the project and its sessions.
///
/// # Errors
///
/// The session is not known, or a journal cannot be read.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let runtime = context.runtime()?;
    let project = context.find_project(&runtime)?;
    let Sessions { mut known, damaged, unread, .. } = sessions(&project)?;
    if let Some(id) = &args.session {
        known.retain(|session| session.id == *id);
        if known.is_empty() {
            return Err(Failure::new(format!("no session `{id}` is known in `{}`", project.root.display()))
                .with_help("`phasegate status` without `--session` lists those of the project"));
        }
    }
    let policy = policy(&runtime, &project)?;
    let mut shown = Vec::new();
    for session in &known {
        shown.push(Shown { session, status: runtime.status(&project, Some(session))? });
    }
    let fresh = runtime.status(&project, None)?;
    for (path, problem) in &damaged {
        context.out.note(format_args!("`{}` cannot be read: {problem}", path.display()));
    }
    if unread > 0 {
        context.out.note(format_args!("{unread} messages of a platform could not be read"));
    }
    if context.out.json {
        context.out.value(&as_json(&project, &policy, &shown, &fresh));
    } else {
        print(context, &project, &policy, &shown, &fresh);
    }
    Ok(Exit::Done)
}

/// A session with its status.
struct Shown<'s> {
    session: &'s SessionInfo,
    status: Value,
}

/// What guards the project.
struct Guarded {
    /// The word of a state.
    state: &'static str,
    text: String,
    /// The skills that are in force for every session, and in which mode.
    in_force: BTreeMap<String, Mode>,
}

/// What guards the project.
fn policy(runtime: &Runtime, project: &Project) -> Result<Guarded, Failure> {
    let remembered = project.remembered()?;
    let (state, text) = match runtime.current(project)? {
        Current::Ready(ready) => ("guarded", format!("policy {}", ready.policy.version)),
        Current::Invalid { diagnostics, .. } => ("policy-invalid", summary(&diagnostics)),
        Current::Unguarded if remembered.is_some() => ("policy-missing", "it is guarded but has no config".to_string()),
        Current::Unguarded => ("unguarded", "no config guards it".to_string()),
    };
    Ok(Guarded { state, text, in_force: runtime.in_force(project)? })
}

/// The original's fields for the addressed session at the top level, and then every session.
fn as_json(project: &Project, policy: &Guarded, shown: &[Shown<'_>], fresh: &Value) -> Value {
    let mut top = shown.first().map_or(fresh, |shown| &shown.status).clone();
    let list: Vec<_> = shown
        .iter()
        .map(|Shown { session, status }| json!({"session": session.id, "records": session.records, "status": status}))
        .collect();
    if let Value::Object(fields) = &mut top {
        fields.insert("project".to_string(), json!(project.root.display().to_string()));
        fields.insert("guard".to_string(), json!({"state": policy.state, "text": policy.text}));
        fields.insert("in_force".to_string(), json!(policy.in_force));
        fields.insert("session".to_string(), json!(shown.first().map(|shown| &shown.session.id)));
        fields.insert("sessions".to_string(), Value::from(list));
    }
    top
}

fn print(context: &Context, project: &Project, policy: &Guarded, shown: &[Shown<'_>], fresh: &Value) {
    let out = context.out;
    out.line(format_args!("{} {}: {}", project.root.display().bold(), policy.state, policy.text));
    for (skill, mode) in &policy.in_force {
        out.line(format_args!("{} is in force for every session ({} mode)", skill.bold(), mode.word()));
    }
    if shown.is_empty() {
        out.line("no session yet");
        let skills = words(fresh.get("available_skills"));
        if !skills.is_empty() {
            out.line(format_args!("skills that apply: {}", skills.join(", ")));
        }
    }
    for Shown { session, status } in shown {
        out.line(format_args!(
            "\nsession {} ({}, {} records)",
            session.id.bold(),
            age(session.active),
            session.records
        ));
        let text = |key: &str| status.get(key).and_then(Value::as_str).unwrap_or_default();
        if status.get("active").and_then(Value::as_bool) == Some(true) {
            let index = status.get("phase_index").and_then(Value::as_u64).unwrap_or(0) + 1;
            let total = status.get("total_phases").and_then(Value::as_u64).unwrap_or(0);
            out.line(format_args!(
                "  {} in phase {} ({index} of {total}), {} mode",
                text("skill_name").bold(),
                text("current_phase").green(),
                text("mode")
            ));
        } else {
            out.line("  no skill is active");
        }
        for (label, key) in [
            ("skills that apply", "available_skills"),
            ("allowed", "allowed_tools"),
            ("forbidden", "forbidden_tools"),
            ("history", "tool_history"),
        ] {
            let words = words(status.get(key));
            if !words.is_empty() {
                out.line(format_args!("  {label}: {}", words.join(", ")));
            }
        }
    }
}

/// The texts of a JSON list.
pub(crate) fn words(value: Option<&Value>) -> Vec<&str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

fn age(moment: SystemTime) -> String {
    match moment.elapsed().unwrap_or_default() {
        recent if recent.as_secs() < 60 => "active just now".to_string(),
        past => format!("active {} ago", duration(past)),
    }
}
