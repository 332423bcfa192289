//! What a policy says of the registry (rules 4.6).

use serde::{Deserialize, Serialize};

use crate::prelude::*;

/// What agents may register about the commands of programs (rules 4.6).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Safety {
    /// The programs whose commands an agent may classify.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// Whether an agent may classify every program.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub any: bool,
    /// Programs of which what is registered counts over the table of programs and the never-read list.
    #[serde(rename = "override", skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
    /// Whether the first pattern that selects a command wins, as in the original; else WRITE wins.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub compat: bool,
    /// Whether the agent is not told of the tool at the beginning of a session.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub silent: bool,
}

impl Safety {
    /// Whether nothing is said.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The programs whose commands an agent is told to register, in words: those that are named here, and those that a
    /// person approved for the project. `None`: it is told of none.
    pub fn told(&self, approved: &[String]) -> Option<String> {
        if self.any && !self.silent {
            return Some("a program".into());
        }
        let mut names: Vec<String> = self.programs.iter().chain(approved).map(|name| format!("`{name}`")).collect();
        names.sort();
        names.dedup();
        (!self.silent && !names.is_empty()).then(|| names.join(", "))
    }

    /// Whether a program is named as one that an agent may classify.
    pub fn names(&self, program: &str) -> bool {
        self.programs.iter().any(|known| known == program) || self.overrides(program)
    }

    /// Whether what is registered of a program counts over what the table of programs says.
    pub fn overrides(&self, program: &str) -> bool {
        self.overrides.iter().any(|known| known == program)
    }
}
