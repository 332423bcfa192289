//! Halting: a person has a tree of runs stand still, and go on. An agent may halt what is its own.

use serde_json::{Value, json};

use crate::answers::denial::DenialKind;
use crate::calls::cause::By;
use crate::commands::target::{self, Words};
use crate::policy::Policy;
use crate::prelude::*;
use crate::runs::tree;
use crate::state::Run;
use crate::state::change::Change;
use crate::state::draft::Draft;

/// The most characters of a reason.
const MAX_WHY_CHARS: usize = 200;

/// Halts the whole tree of the run that is meant, for a reason; without one it goes on.
pub(crate) fn halt(
    policy: &Policy,
    draft: &mut Draft,
    words: &Words<'_>,
    why: Option<&str>,
    by: By,
) -> Result<Value, DenialKind> {
    let meant = target::phase(policy, draft.state(), words, true)?;
    let root = draft.run(&meant.run).map(|run| tree::root(draft.state(), run));
    let (id, skill) = root.map(|root| (root.id.clone(), root.skill.clone())).unwrap_or_default();
    let of_tree = |run: &&Run| tree::root(draft.state(), run).id == id;
    let runs: Vec<String> = draft.state().live_runs().filter(of_tree).map(|run| run.id.clone()).collect();
    let reason = |why: &str| why.chars().filter(|letter| !letter.is_control()).take(MAX_WHY_CHARS).collect::<String>();
    for run in runs {
        draft.announce(&run);
        draft.change(Change::RunHalted { run, why: why.map(reason), by_agent: by != By::Human });
    }
    let status = if why.is_some() { "halted" } else { "resumed" };
    Ok(json!({"status": status, "skill": skill, "run": id}))
}
