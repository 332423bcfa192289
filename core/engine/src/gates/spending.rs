//! How much of budgets a call uses up (rules 4.8).

use crate::calls::analysis::{Access, PathUse, UNKNOWN, UNNAMED};
use crate::calls::parts;
use crate::calls::tool::{Call, SHELL, only_reads};
use crate::decide::judge::Caller;
use crate::policy::budget::{Budget, Count, Tally, bytes};
use crate::policy::matcher::{Servers, Subject, Use};
use crate::prelude::*;
use crate::state::open_call::Amount;

/// The longest path that is kept; a file with a longer one, or with one that is not known, is counted with every call.
const MAX_PATH_BYTES: usize = 512;

/// A count with one more call.
pub(crate) struct After<'a> {
    /// How much is used up then.
    pub(crate) spent: u64,
    /// How much of that is the call's.
    pub(crate) added: u64,
    /// The time of the first call that counts, where the budget has a time.
    pub(crate) since: Option<i64>,
    /// The files that are counted with this call.
    pub(crate) files: Vec<&'a String>,
}

impl<'a> After<'a> {
    /// The count with this call. It begins with the call where the budget's time is over. Files that are known already do
    /// not count again.
    pub(crate) fn of(budget: &Budget, known: Option<&Tally>, amount: &'a Amount, time: Option<i64>) -> Self {
        let known = known.filter(|known| !budget.is_over(known, time));
        let is_new = |path: &&String| known.is_none_or(|known| !known.files.contains(path));
        let files: Vec<&String> = amount.files.iter().filter(is_new).collect();
        let of_files = u64::try_from(files.len()).unwrap_or(u64::MAX);
        let added = if budget.count == Count::Files { of_files } else { amount.number };
        let spent = known.map_or(0, |known| known.spent).saturating_add(added);
        let since = budget.within.and_then(|_| known.and_then(|known| known.since).or(time));
        Self { spent, added, since, files }
    }

    /// What is kept of it.
    pub(crate) fn tally(&self, budget: &Budget, run: Option<String>, visit: u32) -> Tally {
        let kept = self.files.iter().filter(|path| path.len() <= MAX_PATH_BYTES && **path != UNKNOWN);
        let files = kept.map(|path| (*path).clone()).collect();
        Tally { budget: budget.name.clone(), run, visit, since: self.since, spent: self.spent, files }
    }
}

impl Budget {
    /// Whether the time of a count is over, so that it begins anew. At a time that is not known it is not.
    pub fn is_over(&self, known: &Tally, time: Option<i64>) -> bool {
        let passed = known.since.zip(time).map(|(since, now)| now.saturating_sub(since));
        self.within.zip(passed).is_some_and(|(within, passed)| passed >= within)
    }

    /// How much the call uses up; `None`: nothing.
    pub(crate) fn amount(&self, call: &Call, caller: Caller<'_>) -> Option<Amount> {
        if !self.selects(call, caller) {
            return None;
        }
        let mut files = Vec::new();
        let number = match self.count {
            Count::Calls => 1,
            Count::Edits => u64::from(writes(call)),
            Count::Files => {
                for path in written(call).map(|path| path.resolved.as_ref().unwrap_or(&path.written)) {
                    if !files.contains(path) {
                        files.push(path.clone());
                    }
                }
                u64::try_from(files.len()).unwrap_or(u64::MAX)
            }
            Count::Bytes if writes(call) => bytes(call),
            Count::Bytes => 0,
            // How much it is, its result says: it takes that something is left.
            Count::Reported => 1,
        };
        (number > 0).then_some(Amount { number, files })
    }

    /// Whether the call counts: it, or a part of it, may be one that is meant.
    fn selects(&self, call: &Call, caller: Caller<'_>) -> bool {
        if self.of.is_empty() {
            return true;
        }
        let (agent, agent_kind) = (caller.agent, caller.kind);
        let named = call.tool.labels.contains(SHELL);
        let one = |call: &Call, labels: &_| {
            let subject = Subject { call, labels, agent, agent_kind, named, evidence: false };
            self.of.iter().any(|matcher| matcher.matches(subject, Servers::Every, Use::Forbid))
        };
        let parts = parts::of(call);
        if parts.is_empty() {
            one(call, &call.tool.labels)
        } else {
            parts.iter().any(|part| one(&part.call, &part.labels))
        }
    }
}

/// The tools of clients that write files, under their canonical names.
const EDITORS: [&str; 4] = ["Edit", "MultiEdit", "Write", "NotebookEdit"];

/// What the call writes or removes, as far as that is seen: what a program may write beside is not.
fn written(call: &Call) -> impl Iterator<Item = &PathUse> {
    let changes = |path: &&PathUse| {
        matches!(path.access, Access::Write | Access::Remove) && !path.folder && path.written != UNNAMED
    };
    call.analysis.paths.iter().filter(changes)
}

fn writes(call: &Call) -> bool {
    let editor = call.tool.server.is_none() && EDITORS.contains(&call.tool.name.as_str());
    // What is not known of a server's tool counts as writing.
    let unknown = call.tool.server.is_some() && !only_reads(&call.tool.labels);
    editor || unknown || written(call).next().is_some()
}
