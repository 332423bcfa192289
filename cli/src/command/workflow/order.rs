//! A command of a person to the runs of a project: through a session that goes on, so that its agent is told, else to the
//! project alone.

use serde_json::{Map, Value};

use super::found::{Found, Seen, found, list, text};
use crate::command::control::{Target, give, give_project};
use crate::context::Context;
use crate::output::Failure;

/// What a command is about, as far as it says which session is meant.
#[derive(Clone, Copy, Default)]
pub(super) struct About<'a> {
    /// The session.
    pub(super) session: Option<&'a String>,
    /// The id of a run.
    pub(super) run: Option<&'a String>,
    /// The name of a phase.
    pub(super) phase: Option<&'a String>,
    /// The name of a phase, or of a skill.
    pub(super) name: Option<&'a String>,
    /// The name of a task.
    pub(super) task: Option<&'a String>,
}

impl About<'_> {
    fn fits(&self, run: &Value) -> bool {
        let named = |id: &String| text(run, "run") == id;
        let phase = |name: &String| list(run, "way").any(|one| text(one, "phase") == name);
        let elements = || run.get("plan").into_iter().flat_map(|plan| list(plan, "elements"));
        let task = |id: &String| elements().any(|one| text(one, "id").eq_ignore_ascii_case(id));
        let either = |name: &String| text(run, "skill") == name || phase(name);
        self.run.is_none_or(named)
            && self.phase.is_none_or(phase)
            && self.name.is_none_or(either)
            && self.task.is_none_or(task)
    }

    /// The session that the command goes through; `None`: to the project.
    fn session(&self, found: &Found) -> Result<Option<String>, Failure> {
        let fits = |seen: &&Seen| seen.runs.iter().any(|run| self.fits(run));
        let through = |seen: &Seen| seen.id().map(ToString::to_string);
        if fits(&&found.shared) {
            return Ok(through(&found.shared));
        }
        let own: Vec<&Seen> = found.sessions.iter().filter(fits).collect();
        match own.as_slice() {
            [one] => Ok(through(one)),
            // The answer says what there is.
            [] => Ok(found.places().find_map(through)),
            several => {
                let ids: Vec<&str> = several.iter().filter_map(|one| one.id()).collect();
                Err(Failure::new(format!("runs of several sessions may be meant: {}", ids.join(", ")))
                    .with_help("say which one with `--session ID`"))
            }
        }
    }
}

/// Gives a command, and gives back its answer.
///
/// # Errors
///
/// As for [`give`].
pub(super) fn order(
    context: &Context,
    about: About<'_>,
    name: &str,
    mut args: Map<String, Value>,
) -> Result<Value, Failure> {
    for (key, value) in [("run", about.run), ("phase", about.phase), ("name", about.name), ("id", about.task)] {
        args.extend(value.map(|value| (key.to_string(), Value::from(value.clone()))));
    }
    let session = match about.session {
        Some(session) => Some(session.clone()),
        None => about.session(&found(context, None)?)?,
    };
    match session {
        Some(session) => Ok(give(context, &Target { session: Some(session) }, name, args.into())?.result),
        None => give_project(context, name, args.into()),
    }
}

/// The name of the person, as the environment has it.
pub(super) fn who() -> Option<(String, Value)> {
    let names = ["USER", "LOGNAME", "USERNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    let name = names.into_iter().find(|name| !name.is_empty())?;
    Some(("who".to_string(), Value::from(name)))
}
