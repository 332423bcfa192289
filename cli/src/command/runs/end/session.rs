//! `phasegate end SESSION`: a session whose client is gone.

use phasegate_core::events::event::By;
use phasegate_core::{Code, Event, EventKind};
use phasegate_runtime::Project;
use phasegate_runtime::policies::policy_store::Current;
use phasegate_runtime::processes::attribution::Sign;
use phasegate_runtime::sessions::{SessionInfo, sessions};
use serde_json::{Value, json};

use crate::command::runs::control::{in_a_terminal, in_full, no_session, refused_to_agent};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// A session that a name means.
pub(super) struct Named {
    project: Project,
    id: String,
    /// Where it is, if that is another project than this one.
    elsewhere: String,
}

/// The session of this name: in this project by its beginning, else in any project that its open call locks a person out of.
///
/// # Errors
///
/// Several sessions begin so, or the journals cannot be listed.
pub(super) fn named(name: &str, context: &Context) -> Result<Option<Named>, Failure> {
    let runtime = context.runtime()?;
    let here = context.find_project(&runtime)?;
    let is_skill = matches!(runtime.current(&here), Ok(Current::Ready(ready)) if ready.policy.skill(name).is_some());
    let name = name.to_owned();
    let id = if is_skill { name } else { in_full(&here, Some(&name))?.unwrap_or(name) };
    if here.session_journal(&id).exists() {
        return Ok(Some(Named { project: here, id, elsewhere: String::new() }));
    }
    let began = Project::of_session(&runtime.locations, &id)?;
    Ok(began.map(|project| Named { elsewhere: format!(" of `{}`", project.root.display()), project, id }))
}

/// Ends a session whose client is gone and did not say so. Its open calls end without an outcome, and count as the
/// agent's no longer. If its client goes on all the same, so does the session, with its runs.
///
/// # Errors
///
/// The session is unknown, its client runs, the command counts as the agent's, or the guard could not work.
pub(super) fn end(named: Named, context: &Context) -> Result<Exit, Failure> {
    let Named { project, id, elsewhere } = named;
    let (runtime, id) = (context.runtime()?, &id);
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
