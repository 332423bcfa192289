//! The draft of one event: the working state, and the changes that made it.

use crate::prelude::*;
use crate::state::change::Change;
use crate::state::{Run, State};

/// The state as one event changes it. Every change goes through [`Draft::change`], so the list of changes is complete.
#[derive(Clone)]
pub(crate) struct Draft {
    state: State,
    changes: Vec<Change>,
    announced: Vec<String>,
    under_way: Vec<String>,
}

impl Draft {
    pub(crate) fn new(state: &State) -> Self {
        Self { state: state.clone(), changes: Vec::new(), announced: Vec::new(), under_way: Vec::new() }
    }

    /// The state as it stands after the changes so far.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// What changed so far, in order.
    pub(crate) fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// A run by id.
    pub(crate) fn run(&self, id: &str) -> Option<&Run> {
        self.state.run(id)
    }

    /// Applies a change and notes it.
    pub(crate) fn change(&mut self, change: Change) {
        self.state.apply(&change);
        self.changes.push(change);
    }

    /// Begins a run.
    pub(crate) fn begin(&mut self, run: Run) {
        self.change(Change::RunBegun(Box::new(run)));
    }

    /// Makes the host report the phase of the run after the event.
    pub(crate) fn announce(&mut self, run: &str) {
        self.announced.push(run.to_string());
    }

    /// Makes the host report that a prompt begins no other run, because this one is under way.
    pub(crate) fn note_under_way(&mut self, run: &str) {
        self.announce(run);
        self.under_way.push(run.to_string());
    }

    /// Whether a prompt began no other run because of this one.
    pub(crate) fn is_under_way(&self, run: &str) -> bool {
        self.under_way.iter().any(|known| known == run)
    }

    /// The runs to announce so far, in the order in which they were named.
    pub(crate) fn announced(&self) -> &[String] {
        &self.announced
    }

    /// The runs to announce, each once, in the order in which they were named last.
    pub(crate) fn take_announced(&mut self) -> Vec<String> {
        let mut announced: Vec<String> = Vec::new();
        for run in core::mem::take(&mut self.announced) {
            announced.retain(|known| *known != run);
            announced.push(run);
        }
        announced
    }

    /// The state after the event, and what changed.
    pub(crate) fn into_parts(self) -> Parts {
        Parts { state: self.state, changes: self.changes }
    }
}

/// What a draft leaves.
pub(crate) struct Parts {
    /// The state after the event.
    pub(crate) state: State,
    /// The changes that led to it, in order.
    pub(crate) changes: Vec<Change>,
}
