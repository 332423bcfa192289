//! Which plan a person approves or rejects.

use crate::command::runs::control::in_full;
use crate::command::runs::status::plans::found::{Plan, all};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// What a person answers, as far as its file and its session are known.
#[derive(Default)]
pub(super) struct Waiting {
    pub(super) path: Option<String>,
    pub(super) session: Option<String>,
}

/// The plan of this name that is meant among those that wait; what is no plan has no file.
pub(super) fn waiting(
    name: &str,
    path: Option<&String>,
    session: Option<&String>,
    context: &Context,
) -> Result<Waiting, Failure> {
    let runtime = context.runtime()?;
    let session = in_full(&context.find_project(&runtime)?, session)?;
    let mut plans = all(context, path.map(String::as_str))?;
    plans.retain(|plan| plan.artifact == name);
    let named = plans.first().map(|plan| (plan.path.clone(), plan.status, plan.session.clone()));
    plans.retain(|plan| matches!(plan.status, "proposed" | "rejected"));
    plans.retain(|plan| session.is_none() || plan.session == session);
    // One that was rejected can be approved after all, and no longer waits.
    if plans.iter().any(|plan| plan.status == "proposed") {
        plans.retain(|plan| plan.status == "proposed");
    }
    let same = |plan: &Plan| plans.iter().all(|other| other.session == plan.session);
    match (plans.as_slice(), path) {
        ([plan], _) => Ok(Waiting { path: Some(plan.path.clone()), session: plan.session.clone() }),
        ([], Some(path)) => Err(not_waiting(path, named)),
        // Nothing waits, or a session has written several: the engine says what is wrong.
        ([], None) => Ok(Waiting { path: None, session }),
        ([first, ..], _) if same(first) => Ok(Waiting { path: None, session: first.session.clone() }),
        (several, _) => {
            let place =
                |plan: &Plan| format!("`{}` of session {}", plan.path, plan.session.as_deref().unwrap_or_default());
            let each: Vec<String> = several.iter().map(place).collect();
            Err(Failure::new(format!("{} plans wait: {}", each.len(), each.join(", ")))
                .with_help("say which one is meant, by its path or with `--session ID`"))
        }
    }
}

/// Why a plan of this path cannot be answered: no such plan waits.
fn not_waiting(path: &str, named: Option<(String, &str, Option<String>)>) -> Failure {
    let Some((path, status, session)) = named else {
        return Failure::new(format!("no plan is named `{path}`"))
            .with_help("`phasegate status plans` lists all plans");
    };
    let of = session.map(|session| format!(", session {session}")).unwrap_or_default();
    let help = "`phasegate status plans` lists all plans; a draft was written by no session that goes on: have the agent write it";
    Failure {
        exit: Exit::No,
        ..Failure::new(format!("`{path}` does not wait for an answer ({status}{of})")).with_help(help)
    }
}
