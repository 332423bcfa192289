//! How much of budgets a call uses up (rules 4.8).

use alloc::string::String;
use alloc::vec::Vec;

use crate::analysis::{Access, PathUse};
use crate::budget::{Budget, Count, MAX_FILES, Tally, bytes};
use crate::judge::Caller;
use crate::matcher::{Servers, Subject, Use};
use crate::parts;
use crate::tool::{Call, SHELL};

/// The longest path that is kept; a file with a longer one is counted with every call.
const MAX_PATH_BYTES: usize = 512;

/// How much a call uses up.
pub(crate) struct Amount {
    pub(crate) number: u64,
    /// For a budget of files: the paths.
    pub(crate) files: Vec<String>,
}

impl Tally {
    /// The same, at a time: nothing, where the time of the budget is over. At a time that is not known it is not.
    pub(crate) fn at(mut self, budget: &Budget, time: Option<i64>) -> Self {
        let Some(within) = budget.within else { return self };
        let over = self.since.zip(time).is_some_and(|(since, now)| now.saturating_sub(since) >= within);
        if over {
            (self.spent, self.since) = (0, None);
            self.files.clear();
        }
        self
    }

    /// The same, with a call. Files that are known already do not count again.
    pub(crate) fn with(mut self, budget: &Budget, amount: &Amount, time: Option<i64>) -> Self {
        let new: Vec<&String> = amount.files.iter().filter(|path| !self.files.contains(path)).collect();
        let number =
            if budget.count == Count::Files { u64::try_from(new.len()).unwrap_or(u64::MAX) } else { amount.number };
        self.spent = self.spent.saturating_add(number);
        let room = usize::try_from(MAX_FILES).unwrap_or_default().saturating_sub(self.files.len());
        let kept: Vec<String> =
            new.into_iter().filter(|path| path.len() <= MAX_PATH_BYTES).take(room).cloned().collect();
        self.files.extend(kept);
        if budget.within.is_some() {
            self.since = self.since.or(time);
        }
        self
    }
}

impl Budget {
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
            let subject = Subject { call, labels, agent, agent_kind, named };
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

/// What the call writes or removes, as far as that is seen.
fn written(call: &Call) -> impl Iterator<Item = &PathUse> {
    let changes = |path: &&PathUse| matches!(path.access, Access::Write | Access::Remove) && !path.folder;
    call.analysis.paths.iter().filter(changes)
}

fn writes(call: &Call) -> bool {
    let editor = call.tool.server.is_none() && EDITORS.contains(&call.tool.name.as_str());
    editor || written(call).next().is_some()
}
