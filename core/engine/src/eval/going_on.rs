//! Calls that go on and may change files (rules 3.3).

use alloc::format;
use alloc::string::String;

use super::World;
use crate::content::Content;
use crate::glob::{choices, lies_below, path_fits};
use crate::state::State;

impl World<'_> {
    /// Takes note of what open calls may still change, at this time.
    pub(crate) fn see_open(&mut self, state: &State, now: Option<i64>) {
        let open = state.session.calls.iter().filter(|call| call.may_still_write(now));
        self.open = open.flat_map(|call| call.writes.iter().cloned()).collect();
    }

    /// What `ask` answers if no call goes on.
    pub(crate) fn without_open<T>(&mut self, ask: impl FnOnce(&mut Self) -> T) -> T {
        let open = core::mem::take(&mut self.open);
        let answer = ask(self);
        self.open = open;
        answer
    }

    /// Whether a call that goes on may change the files.
    pub(crate) fn may_change(&self, content: &Content) -> bool {
        let writes = |pattern: &String| {
            self.open.iter().any(|path| path == "/" || path_fits(pattern, path) || lies_below(pattern, path))
        };
        !self.open.is_empty() && choices(&content.text).iter().any(writes)
    }

    /// What a proof lacks where such a call goes on.
    pub(super) fn going_on(&self, content: &Content) -> Option<String> {
        self.may_change(content).then(|| format!(", as a call goes on that may change `{}`", content.text))
    }
}
