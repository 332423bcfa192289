//! What a policy says of the registry (rules 4.6).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Safety;

impl Safety {
    /// Whether nothing is said.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The programs whose commands an agent is told to register, in words: those that are named here, and those that a
    /// person approved for the project. `None`: it is told of none.
    #[must_use]
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
    #[must_use]
    pub fn names(&self, program: &str) -> bool {
        self.programs.iter().any(|known| known == program) || self.overrides(program)
    }

    /// Whether what is registered of a program counts over what the table of programs says.
    #[must_use]
    pub fn overrides(&self, program: &str) -> bool {
        self.overrides.iter().any(|known| known == program)
    }
}
