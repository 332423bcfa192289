//! The packs of rules that ship with phasegate. They hold where a settings file names them under `rules`.

/// A pack of rules that ships with phasegate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pack {
    /// Its name.
    pub name: &'static str,
    /// Its rules, in Cedar; the comment at the beginning says what it is for.
    pub text: &'static str,
    /// The facts that they read, as in the file beside a file of rules.
    pub facts: Option<&'static str>,
}

/// A pack whose rules are about the call alone.
macro_rules! plain {
    ($name:literal) => {
        Pack { name: $name, text: include_str!(concat!("../../packs/", $name, ".cedar")), facts: None }
    };
}

/// A pack whose rules read facts.
macro_rules! with_facts {
    ($name:literal) => {
        Pack {
            name: $name,
            text: include_str!(concat!("../../packs/", $name, ".cedar")),
            facts: Some(include_str!(concat!("../../packs/", $name, ".yaml"))),
        }
    };
}

const PACKS: &[Pack] = &[
    with_facts!("edit-budget"),
    plain!("no-force-push"),
    with_facts!("no-network-after-secrets"),
    with_facts!("one-migration-at-a-time"),
    plain!("protect-secrets"),
    plain!("read-only-production"),
    with_facts!("tests-before-push"),
];

/// Every pack, sorted by name.
pub fn packs() -> &'static [Pack] {
    PACKS
}

impl Pack {
    /// What it is for, in a sentence.
    pub fn summary(&self) -> &'static str {
        self.text.lines().next().and_then(|line| line.strip_prefix("// ")).unwrap_or_default()
    }
}
