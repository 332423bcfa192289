//! `phasegate end SESSION`.

use phasegate_core::event::By;
use phasegate_core::{Code, Event, EventKind};
use phasegate_runtime::Project;
use phasegate_runtime::attribution::Sign;
use phasegate_runtime::sessions::{SessionInfo, sessions};
use serde_json::{Value, json};

use super::control::{in_a_terminal, in_full, no_session, refused_to_agent};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate end`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The session
    pub session: String,
}

/// Ends a session whose client is gone and did not say so. Its open calls end without an outcome, and count as the
/// agent's no longer. If its client goes on all the same, so does the session, with its runs.
///
/// # Errors
///
/// The session is unknown, its client runs, the command counts as the agent's, or the guard could not work.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let runtime = context.runtime()?;
    let here = context.find_project(&runtime)?;
    let id = &in_full(&here, Some(&args.session))?.unwrap_or_default();
    // A session is named to a person in every project that its open call locks them out of.
    let began = if here.session_journal(id).exists() { None } else { Project::of_session(&runtime.locations, id)? };
    let elsewhere = began.as_ref().map(|began| format!(" of `{}`", began.root.display())).unwrap_or_default();
    let project = began.unwrap_or(here);
    let known = sessions(&project)?.known;
    let session = known.iter().find(|session| session.id == *id).ok_or_else(|| no_session(&project, id))?;
    if let Some(sign) = runtime.sign_against_an_end(&project, id)? {
        if matches!(&sign, Sign::Call(call) if call.session == *id) {
            return Err(client_runs(session));
        }
        return Err(refused_to_agent("end", &sign));
    }
    if session.open_program().is_some() {
        in_a_terminal("end")?;
    }
    let kind = EventKind::Command { by: By::Human, name: "end_session".to_string(), args: Value::Null };
    runtime.handle_event(project, id, Event::new(id, kind))?;
    if context.out.json {
        context.out.value(&json!({"status": "ended", "session": id}));
    } else {
        context.out.line(format_args!("session {id}{elsewhere} has ended"));
    }
    Ok(Exit::Done)
}

/// The refusal where a client is at work in the session, and a call of it is open.
fn client_runs(session: &SessionInfo) -> Failure {
    let processes: Vec<String> =
        session.guards.iter().chain(&session.clients).filter(|one| !one.gone()).map(|one| one.0.to_string()).collect();
    let (id, processes) = (&session.id, processes.join(", "));
    Failure {
        exit: Exit::No,
        code: Some(Code::CommandRefused),
        message: format!("the client of session `{id}` still runs (process {processes}), and a call of it is open"),
        help: Some("end the session in the client, or end that process; the session then ends with it".into()),
    }
}
