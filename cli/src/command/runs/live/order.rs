//! A command of a person to the runs of a project: through a session that goes on, so that its agent is told, else to the
//! project alone.

use serde_json::{Map, Value};

use super::found::{Found, Seen, found, list, text};
use crate::command::runs::control::{Target, give, give_project};
use crate::context::Context;
use crate::output::Failure;

/// Which run a command means.
#[derive(Debug, clap::Args)]
pub struct Which {
    /// The run; default: the one that began last
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
    /// The session; default: the project, or the session that has the run
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

/// What a command is about, as far as it says which session is meant.
#[derive(Clone, Copy, Default)]
pub(crate) struct About<'a> {
    /// The session.
    pub(crate) session: Option<&'a String>,
    /// The id of a run.
    pub(crate) run: Option<&'a String>,
    /// The name of a phase, of a skill or of a task.
    pub(crate) name: Option<&'a String>,
    /// The name of a task.
    pub(crate) task: Option<&'a String>,
}

impl About<'_> {
    fn fits(&self, run: &Value) -> bool {
        let named = |id: &String| text(run, "run") == id;
        let phase = |name: &String| list(run, "way").any(|one| text(one, "phase") == name);
        let elements = || run.get("plan").into_iter().flat_map(|plan| list(plan, "elements"));
        let task = |id: &String| elements().any(|one| text(one, "id").eq_ignore_ascii_case(id));
        let any = |name: &String| text(run, "skill") == name || phase(name) || task(name);
        self.run.is_none_or(named) && self.name.is_none_or(any) && self.task.is_none_or(task)
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
            [last, ..] if self.run.or(self.name).or(self.task).is_none() => Ok(through(last)),
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
pub(crate) fn order(
    context: &Context,
    about: About<'_>,
    name: &str,
    mut args: Map<String, Value>,
) -> Result<Value, Failure> {
    for (key, value) in [("run", about.run), ("name", about.name), ("id", about.task)] {
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
pub(crate) fn who() -> Option<(String, Value)> {
    let names = ["USER", "LOGNAME", "USERNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    let name = names.into_iter().find(|name| !name.is_empty())?;
    Some(("who".to_string(), Value::from(name)))
}
