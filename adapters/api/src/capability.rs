//! What a platform can express.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// What a platform can express, and what a decision becomes where it cannot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// Refuse a call before it runs.
    pub deny: Ability,
    /// Have its user asked about a call.
    pub ask: Ability,
    /// Change a call's arguments.
    pub rewrite: Ability,
    /// Put text into the agent's context.
    pub inject_context: Ability,
    /// Take tools out of the agent's list.
    pub hide_tools: Ability,
    /// Show the guard the host's own tools (`Edit`, `Bash`).
    pub see_builtin_tools: Ability,
    /// Show the guard the calls of subagents.
    pub see_subagents: Ability,
    /// Deny by itself when the guard crashes, hangs or is gone.
    pub fail_closed: Ability,
}

impl Capabilities {
    /// The capabilities by name, in the order of the fields.
    #[must_use]
    pub fn rows(&self) -> [(&'static str, &Ability); 8] {
        [
            ("deny", &self.deny),
            ("ask", &self.ask),
            ("rewrite", &self.rewrite),
            ("inject_context", &self.inject_context),
            ("hide_tools", &self.hide_tools),
            ("see_builtin_tools", &self.see_builtin_tools),
            ("see_subagents", &self.see_subagents),
            ("fail_closed", &self.fail_closed),
        ]
    }
}

/// Whether a platform can do a thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ability {
    /// It can.
    Yes,
    /// It can, with a limit that the text names.
    Partly(Cow<'static, str>),
    /// It cannot; the text says what happens instead.
    No(Cow<'static, str>),
}

impl Ability {
    /// The platform can, with this limit.
    #[must_use]
    pub const fn partly(limit: &'static str) -> Self {
        Self::Partly(Cow::Borrowed(limit))
    }

    /// The platform cannot; `instead` says what happens instead.
    #[must_use]
    pub const fn no(instead: &'static str) -> Self {
        Self::No(Cow::Borrowed(instead))
    }
}
