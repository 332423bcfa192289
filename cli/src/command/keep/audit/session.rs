//! The session that an argument names.

use phasegate_runtime::Project;
use phasegate_runtime::sessions::sessions;

use crate::command::runs::control::in_full;
use crate::output::Failure;

/// The session that is meant: the one that is named, else the one of the project that was active last. One that is named
/// counts as soon as it has a journal, also if that cannot be read.
pub(crate) fn named(project: &Project, id: Option<&String>) -> Result<String, Failure> {
    let unknown = |name: &str| {
        Failure::new(format!("no session{name} is known in `{}`", project.root.display()))
            .with_help("`phasegate status` lists the sessions of a project")
    };
    match &in_full(project, id)? {
        Some(id) if project.session_journal(id).exists() => Ok(id.clone()),
        Some(id) => Err(unknown(&format!(" `{id}`"))),
        None => {
            let last = sessions(project)?.known.into_iter().next();
            last.map(|session| session.id).ok_or_else(|| unknown(""))
        }
    }
}
