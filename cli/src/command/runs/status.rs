//! `phasegate status`: where the sessions of a project stand. Nothing is recorded by asking.

mod found;
mod budgets;
mod export;
mod graph;
pub(in crate::command) mod history;
pub(in crate::command) mod next;
mod plan;
pub(in crate::command) mod plans;
mod runs;
mod text;
mod waves;

use phasegate_adapter::Problem;
use phasegate_core::policy::access::{AccessMode, Granted};
use phasegate_core::state::pins::approval_name;
use phasegate_runtime::clients::hook_installation::switched_off;
use phasegate_runtime::policies::accepted_configs::Choice;
use phasegate_runtime::policies::policy_store::{Current, summary};
use phasegate_runtime::sessions::{SessionInfo, Sessions, pins, sessions};
use phasegate_runtime::{Project, Runtime};
use serde_json::{Value, json};

use budgets::Budgets;
use found::{Found, Guarded, Shared, Shown};
pub(crate) use found::{given, words};

use super::control::in_full;
use crate::command::keep::adapters::invocation;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate status`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to show; default: where each session stands
    #[arg(value_enum, value_name = "WHAT")]
    pub of: Option<Of>,
    /// The skill; of `plans` the path of one, or the end of it
    pub name: Option<String>,
    /// Only this session; by default with all that its phases allow and forbid, and its last calls
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// The run that `graph` or `export` shows; default: the only one that is part of no other
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
}

/// What `phasegate status` shows.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Of {
    /// The way that each live run has gone, its tasks, what is missing and what waits for a person
    Runs,
    /// What the agent of a session has to do next
    Next,
    /// Where the runs of each session stand, also those that have ended; as JSON `SkillExecutionState`
    History,
    /// The plans, with what became of each; with a path its steps, and which call each permits
    Plans,
    /// The phases of a run, or of a skill by its name, as Mermaid
    Graph,
    /// Where a run of the project stands, as `active_task_graph.json`
    Export,
}

/// Shows the project and its sessions, or what is asked for.
///
/// # Errors
///
/// The session is not known, or a journal cannot be read.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (name, session) = (args.name.as_ref(), args.session.as_ref());
    match args.of {
        None => sessions_of(args, context),
        Some(Of::Runs) => runs::run(session, context),
        Some(Of::Next) => next::run(name, session, context),
        Some(Of::History) => history::run(name, session, context),
        Some(Of::Plans) => plans::run(name, context),
        Some(Of::Graph) => graph::run(name, args.run.as_ref(), context),
        Some(Of::Export) => export::run(args.run.as_ref(), context),
    }
}

fn sessions_of(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let Sessions { mut known, mut damaged, unread, .. } = sessions(&project)?;
    if let Some(id) = &in_full(&project, args.session.as_ref())? {
        known.retain(|session| session.id == *id);
        if known.is_empty() {
            return Err(Failure::new(format!("no session `{id}` is known in `{}`", project.root.display()))
                .with_help("`phasegate status` without `--session` lists those of the project"));
        }
    }
    // Those that go on come first.
    known.sort_by_key(|session| session.state.session.ended);
    let older = runtime.reloads(&project, None).unwrap_or_default();
    let mut found = Vec::new();
    for session in known {
        let journal = project.session_journal(&session.id);
        match shown(&runtime, &project, session) {
            Ok(mut shown) => {
                shown.reload = older.iter().find(|reload| reload.session == shown.session.id).cloned();
                found.push(shown);
            }
            Err(problem) => damaged.push((journal, problem)),
        }
    }
    let shared = match found.first() {
        Some(first) => Shared::of(&first.runs, &first.approvals, first.reload.as_ref()),
        None => Shared::of(&all_runs(&runtime, &project, None)?, &runtime.approvals(&project, None)?, None),
    };
    let all = pins(&project)?;
    let tools = all.iter().flat_map(|(server, tools)| tools.iter().map(move |(tool, pin)| (server, tool, pin)));
    let changed = tools.filter(|(_, _, pin)| pin.changed.is_some());
    let found = Found {
        guarded: guarded(&runtime, &project)?,
        shown: found,
        shared,
        fresh: runtime.status(&project, None)?,
        violations: runtime.violations(&project)?,
        damaged,
        unread,
        changed_tools: changed.map(|(server, tool, _)| approval_name(server, tool)).collect(),
        project,
    };
    if context.out.json {
        context.out.value(&found.as_json());
    } else {
        text::print(context.out, &found, args.session.is_some());
    }
    Ok(Exit::Done)
}

fn shown(runtime: &Runtime, project: &Project, session: SessionInfo) -> Result<Shown, Problem> {
    let runs = all_runs(runtime, project, Some(&session))?;
    let (status, approvals) = (runtime.status(project, Some(&session))?, runtime.approvals(project, Some(&session))?);
    Ok(Shown { session, status, runs, approvals, reload: None })
}

fn all_runs(runtime: &Runtime, project: &Project, session: Option<&SessionInfo>) -> Result<Vec<Value>, Problem> {
    Ok(match runtime.runs(project, session)? {
        Value::Array(runs) => runs,
        _ => Vec::new(),
    })
}

fn guarded(runtime: &Runtime, project: &Project) -> Result<Guarded, Failure> {
    let remembered = project.remembered()?;
    let (mut by_itself, mut access) = (Vec::new(), AccessMode::Normal);
    let mut budgets = Budgets { all: Vec::new(), now: (runtime.now)() };
    let Choice { current, offer, .. } = runtime.chosen(project)?;
    let (state, text) = match current {
        Current::Ready(ready) => {
            let alone = ready.policy.skills.iter().filter(|skill| !skill.is_invoked());
            by_itself.extend(alone.map(|skill| skill.name.clone()));
            access = ready.policy.access;
            budgets.all.clone_from(&ready.policy.budgets);
            ("guarded", format!("policy {}", ready.policy.version))
        }
        Current::Invalid { diagnostics, .. } => {
            ("policy-invalid", format!("{}; `phasegate check` shows each", summary(&diagnostics)))
        }
        Current::Unguarded if remembered.is_some() => {
            let next = "restore its config or run `phasegate init`; `phasegate init --undo` ends the guard";
            ("policy-missing", format!("it is guarded but has no config; {next}"))
        }
        Current::Unguarded => ("unguarded", "no config guards it; `phasegate init` sets one up".to_string()),
    };
    let (in_force, inputs) = (runtime.in_force(project)?, json!(runtime.in_force_inputs(project)?));
    let lasts = |granted: &Granted| granted.until.is_none_or(|until| (runtime.now)() < until);
    let shared = runtime.project_state(project)?;
    let (granted, spent) = (shared.project.access.filter(lasts), budgets.of_project(&shared));
    let is_here = |sign: &String| !sign.starts_with("~/") && project.root.join(sign).exists();
    let mut adapters = phasegate_adapters::all();
    adapters.retain(|adapter| adapter.installer().places().signs.iter().any(is_here));
    let invocation = invocation(&adapters, "NAME");
    let alarms = runtime.alarms(project)?;
    let unaccepted = runtime.other_servers(project)?;
    let off = switched_off(&runtime.locations, &project.root, &adapters);
    Ok(Guarded {
        state,
        text,
        access,
        granted,
        budgets,
        spent,
        in_force,
        inputs,
        by_itself,
        invocation,
        offer,
        alarms,
        unaccepted,
        off,
    })
}
