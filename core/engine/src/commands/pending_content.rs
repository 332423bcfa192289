//! What a person was shown: the content of what waits for their word, as it was when the agent's turn ended (rules 4).
//!
//! A person reads it then and answers later. What changed in between, by a program in the background for example, was not
//! read. So the first word after such a change is refused, and counts as a look at it as it is now.

use crate::answers::denial::InvalidCommand;
use crate::prelude::*;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::{Run, Shown};

/// The main agent's next turn begins: until it ends, a person answers to what the agent does. Calls of subagents, and those
/// of a turn that no prompt began, leave what was shown as it is.
pub(crate) fn prompted(draft: &mut Draft) {
    let shown = draft.state().live_runs().filter(|run| !run.shown.is_empty());
    let over: Vec<Change> = shown.map(|run| Change::Shown { run: run.id.clone(), shown: Vec::new() }).collect();
    over.into_iter().for_each(|change| draft.change(change));
}

/// Why a word about these contents does not count yet: one of them is not what was shown. They are kept as shown now.
pub(crate) fn changed(draft: &mut Draft, run: &Run, now: Vec<Shown>) -> Option<InvalidCommand> {
    let before = |one: &Shown| run.shown.iter().find(|shown| shown.gate == one.gate).map(|shown| &shown.content);
    let changed = now.iter().find(|one| before(one).is_some_and(|before| *before != one.content))?;
    let (name, content) = (changed.gate.name.clone(), changed.gate.content.as_ref());
    let what = content.map(|content| content.text.clone()).unwrap_or_default();
    draft.change(Change::Shown { run: run.id.clone(), shown: now });
    Some(InvalidCommand::ChangedSinceShown { name, what })
}
