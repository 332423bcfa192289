//! `phasegate safety list`.

use phasegate_runtime::Project;
use phasegate_runtime::sessions::{SessionInfo, sessions};
use serde_json::Value;

use crate::command::control::in_full;
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
    let runtime = context.runtime()?;
    let project = context.find_project(&runtime)?;
    let session = chosen(&project, args.session.as_ref())?;
    let answer = runtime.safety(&project, session.as_ref())?;
    if context.out.json {
        let mut fields = answer.as_object().cloned().unwrap_or_default();
        fields.remove("text");
        context.out.value(&fields.into());
    } else {
        let text = answer.get("text").and_then(Value::as_str).unwrap_or_default();
        context.out.line(text.trim_start_matches("phasegate: "));
    }
    Ok(Exit::Done)
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
