//! The packs of rules that ship with phasegate. They hold where a settings file names them under `rules`.

/// A pack of rules that ships with phasegate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pack {
    /// Its name.
    pub name: &'static str,
    /// Its rules, in Cedar; the comment at the beginning says what it is for.
    pub text: &'static str,
}

macro_rules! packs {
    ($($name:literal),+ $(,)?) => {
        &[$(Pack { name: $name, text: include_str!(concat!("../packs/", $name, ".cedar")) }),+]
    };
}

const PACKS: &[Pack] = packs!["no-force-push", "protect-secrets", "read-only-production"];

/// Every pack, sorted by name.
#[must_use]
pub fn packs() -> &'static [Pack] {
    PACKS
}

impl Pack {
    /// What it is for, in a sentence.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        self.text.lines().next().and_then(|line| line.strip_prefix("// ")).unwrap_or_default()
    }
}
