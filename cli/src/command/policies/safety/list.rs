//! `phasegate safety list`.

use phasegate_runtime::Project;
use phasegate_runtime::sessions::{SessionInfo, sessions};
use serde_json::{Map, Value};

use super::judge::Judge;
use super::register::{note_no_effect, without_effect};
use crate::command::runs::control::in_full;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate safety list`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session; default: the one of the project that was active last
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

/// Lists what is registered for the project and in one session.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let session = chosen(&project, args.session.as_ref())?;
    let mut answer = runtime.safety(&project, session.as_ref())?;
    let state = match session {
        Some(session) => session.state,
        None => runtime.project_state(&project)?,
    };
    let judge = Judge::of(&runtime, &project, &state);
    if context.out.json {
        each_read(&mut answer, &mut |program, one| {
            let pattern = one.get("pattern").and_then(Value::as_str).unwrap_or_default();
            let because = without_effect(&judge, program, pattern);
            one.extend(because.map(|because| ("no_effect".to_owned(), because.into())));
        });
        let mut fields = answer.as_object().cloned().unwrap_or_default();
        fields.remove("text");
        context.out.value(&fields.into());
    } else {
        let text = answer.get("text").and_then(Value::as_str).unwrap_or_default();
        context.out.line(text.trim_start_matches("phasegate: "));
        each_read(&mut answer, &mut |program, one| {
            let pattern = one.get("pattern").and_then(Value::as_str).unwrap_or_default();
            note_no_effect(context, &judge, program, pattern);
        });
    }
    Ok(Exit::Done)
}

/// Calls `visit` with each program and each READ pattern that is registered of it.
fn each_read(answer: &mut Value, visit: &mut dyn FnMut(&str, &mut Map<String, Value>)) {
    let entries = answer.get_mut("registered").and_then(Value::as_array_mut);
    for entry in entries.into_iter().flatten() {
        let program = entry.get("tool").and_then(Value::as_str).unwrap_or_default().to_owned();
        let commands = entry.get_mut("commands").and_then(Value::as_array_mut);
        let patterns = commands.into_iter().flatten().filter_map(Value::as_object_mut);
        let reads = |one: &&mut Map<String, Value>| one.get("level").and_then(Value::as_str) == Some("READ");
        patterns.filter(reads).for_each(|one| visit(&program, one));
    }
}

/// The session that is named, else the one of a client that was active last. A server of tools has a session of its own,
/// which is meant where there is no other.
pub(super) fn chosen(project: &Project, named: Option<&String>) -> Result<Option<SessionInfo>, Failure> {
    let wanted = in_full(project, named)?;
    let mut known = sessions(project)?.known;
    known.sort_by_key(|session| (session.id.starts_with("mcp-"), session.state.session.ended));
    let found = known.into_iter().find(|session| wanted.as_ref().is_none_or(|id| session.id == *id));
    match (wanted, found) {
        (Some(id), None) => {
            Err(Failure::new(format!("no session `{id}` is known"))
                .with_help("`phasegate status` lists known sessions"))
        }
        (_, found) => Ok(found),
    }
}
