//! What a policy says of the registry (rules 4.6).

use super::Safety;

impl Safety {
    /// Whether nothing is said.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether agents are told to register what commands do.
    #[must_use]
    pub fn tells(&self) -> bool {
        !self.silent && !self.programs.is_empty()
    }

    /// Whether an agent may classify a program.
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
