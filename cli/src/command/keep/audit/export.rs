//! `phasegate audit export`: the beginnings, moves, violations and ends of runs as JSON Lines.

use std::ops::ControlFlow;

use phasegate_core::values::canonical::Sorted;
use phasegate_runtime::Project;
use phasegate_runtime::operate::audit::history::{Past, walk};
use phasegate_runtime::operate::audit::line::{Place, of};
use phasegate_runtime::operate::audit::transcript::Transcript;
use phasegate_runtime::sessions::sessions;
use serde_json::Value;

use super::session;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate audit export`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only this session; default: every session of the project
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Print the events themselves, as `phasegate replay` reads them
    #[arg(long)]
    pub transcript: bool,
    /// The output format
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    pub format: Format,
}

/// How events are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// One JSON object a line
    Jsonl,
}

/// Prints the events, oldest first.
///
/// # Errors
///
/// The session is not known, or a journal cannot be read.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let ids = match &args.session {
        Some(_) => vec![session::named(&project, args.session.as_ref())?],
        None => all(&project)?,
    };
    let Format::Jsonl = args.format;
    let mut lines = Vec::new();
    for id in &ids {
        let mut transcript = Transcript::default();
        walk(&runtime.policies, &project, id, |past| {
            let found = if args.transcript { transcript.lines(id, &past) } else { events(id, &past) };
            lines.extend(found.into_iter().map(|line| (past.time, line)));
            ControlFlow::Continue(())
        })?;
    }
    lines.sort_by_key(|(time, _)| *time);
    lines.iter().for_each(|(_, line)| context.out.line(Sorted(line)));
    Ok(Exit::Done)
}

/// The ids of all sessions. One whose journal cannot be read would be left out without a word, so it is a failure.
fn all(project: &Project) -> Result<Vec<String>, Failure> {
    let found = sessions(project)?;
    match found.damaged.into_iter().next() {
        Some((_, problem)) => Err(problem.into()),
        None => Ok(found.known.into_iter().map(|session| session.id).collect()),
    }
}

fn events(session: &str, past: &Past) -> Vec<Value> {
    let agent = past.event.get("agent").and_then(|agent| agent.get("id")).and_then(Value::as_str);
    let place = Place {
        time: past.time,
        session,
        seq: Some(past.seq),
        policy: &past.policy,
        agent: agent.filter(|id| !id.is_empty()),
        principal: past.event.get("principal").and_then(Value::as_str),
    };
    past.records.iter().filter_map(|record| of(&place, record)).collect()
}
