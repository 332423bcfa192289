//! Calls that go on and may change files (rules 3.3).

use alloc::sync::Arc;

use super::World;
use crate::evidence::content::Content;
use crate::prelude::*;
use crate::state::{OpenCall, State};
use crate::values::glob::{self, Glob};

impl World<'_> {
    /// Takes note of what open calls may still change, at this time.
    pub(crate) fn see_open(&mut self, state: &State, now: Option<i64>) {
        let open = || state.session.calls.iter().filter(|call| call.may_still_write(now));
        let paths = |call: &Arc<OpenCall>| call.writes.clone();
        self.open = open().filter(|call| call.executes).flat_map(paths).collect();
        self.writing = open().flat_map(paths).collect();
        self.own_files.clone_from(&state.project.own_files);
    }

    /// What `ask` answers if no call goes on.
    pub(crate) fn without_open<T>(&mut self, ask: impl FnOnce(&mut Self) -> T) -> T {
        let open = core::mem::take(&mut self.open);
        let answer = ask(self);
        self.open = open;
        answer
    }

    /// Whether a line that goes on may change the files.
    pub(crate) fn may_change(&self, content: &Content) -> bool {
        is_among(&self.open, content)
    }

    /// Whether a call that goes on writes one of the files.
    pub(super) fn is_written(&self, content: &Content) -> bool {
        is_among(&self.writing, content)
    }

    /// What a proof lacks where such a call goes on.
    pub(super) fn going_on(&self, content: &Content) -> Option<String> {
        self.may_change(content)
            .then(|| format!(", begun after the call has ended that may still change {}", glob::quoted(&content.text)))
    }
}

/// Whether one of these paths is a file of the content, or a folder around one.
fn is_among(paths: &[String], content: &Content) -> bool {
    if paths.is_empty() {
        return false;
    }
    let files = Glob::from(content.text.as_str());
    paths.iter().any(|path| path == "/" || files.fits(path) || files.lies_below(path))
}
