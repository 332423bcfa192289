//! `phasegate workflow start NAME`: one run of a skill for the project, from now to its end.

use std::path::{Path, PathBuf};

use owo_colors::OwoColorize as _;
use phasegate_core::import::TASK_GRAPH;
use phasegate_core::policy::Scope;
use serde_json::{Map, Value, json};

use super::found::{found, text};
use crate::args::ModeArg;
use crate::command::activate::pair;
use crate::command::control::{Target, activation, give, give_project};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate workflow start`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The skill, of `scope: project`
    skill: String,
    /// A value of each of its inputs
    #[arg(value_name = "NAME=VALUE", value_parser = pair)]
    inputs: Vec<(String, String)>,
    /// The mode; never less strict than the configs require
    #[arg(long)]
    mode: Option<ModeArg>,
    /// Begin where this `active_task_graph.json` stands
    #[arg(long, value_name = "FILE")]
    import: Option<PathBuf>,
    /// Tell the agent of this session; default: of the one that was active last and goes on
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// The fields of such a file that say where a run stands.
const IMPORTED: [&str; 5] = ["current_phase", "phase_artifacts", "skipped_phases", "current_wave", "wave_gates"];
/// Those of a task.
const OF_TASK: [&str; 4] = ["id", "wave", "status", "depends_on"];

/// Begins the run. `phasegate activate` puts a skill in force instead: then each end is followed by another run.
///
/// # Errors
///
/// As for [`give`]. The skill is not of the project's scope, or the file cannot be imported.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let found = found(context, args.session.as_ref())?;
    let policy = found.policy()?;
    if let Some(skill) = policy.skill(&args.skill)
        && skill.scope != Scope::Project
    {
        let name = &args.skill;
        return Err(Failure::new(format!("a run of `{name}` belongs to a session: the skill has no `scope: project`"))
            .with_help(format!("`phasegate activate {name}` puts it in force in every session")));
    }
    let mut command = activation(&args.skill, &args.inputs, args.mode);
    if let Some(file) = &args.import {
        command.insert("state".to_string(), imported(file, &found.project.root)?);
    }
    let through = args.session.clone().or(found.shared.id().map(ToString::to_string));
    let answer = match through {
        Some(session) => give(context, &Target { session: Some(session) }, "activate_skill", command.into())?.result,
        None => give_project(context, "activate_skill", command.into())?,
    };
    if context.out.json {
        context.out.value(&answer);
        return Ok(Exit::Done);
    }
    let (skill, mode, phase) = (text(&answer, "skill"), text(&answer, "mode"), text(&answer, "current_phase"));
    let how = if args.import.is_some() { "goes on" } else { "begins" };
    context.out.line(format_args!("{} {how} in phase {}, {mode} mode", skill.bold(), phase.green()));
    context.out.line("  one run for every session of the project; `phasegate workflow status` shows where it stands");
    Ok(Exit::Done)
}

/// The state in a file, as far as it says where a run stands. The journal keeps no more of it.
fn imported(file: &Path, root: &Path) -> Result<Value, Failure> {
    let wrong = |why: String| Failure::new(format!("`{}` cannot be imported: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let graph: Value = serde_json::from_str(&text).map_err(|error| wrong(format!("it is not JSON: {error}")))?;
    let mut kept = only(&graph, &IMPORTED);
    let tasks = graph.get("tasks").and_then(Value::as_array);
    kept.extend(tasks.map(|tasks| {
        let tasks = tasks.iter().map(|task| Value::Object(only(task, &OF_TASK)));
        ("tasks".to_string(), tasks.collect())
    }));
    let path = file.canonicalize().ok().and_then(|path| Some(path.strip_prefix(root).ok()?.display().to_string()));
    Ok(json!({"format": TASK_GRAPH, "value": kept, "path": path}))
}

fn only(value: &Value, keys: &[&str]) -> Map<String, Value> {
    let fields = value.as_object().into_iter().flatten();
    fields.filter(|(key, _)| keys.contains(&key.as_str())).map(|(key, value)| (key.clone(), value.clone())).collect()
}
