//! The programs that are known, as data.

mod rule;
mod shipped;
mod source;

use std::collections::BTreeMap;
use std::sync::Arc;

use phasegate_core::shell::classifier::Classifier;

pub use rule::{Check, Operands, Rule, Style, Wraps};
pub use source::{Family, shipped_source};

/// What is known of programs: the shipped table, with a project's own programs before it.
#[derive(Clone, Debug, Default)]
pub struct Table {
    own: Arc<BTreeMap<String, Rule>>,
    registered: Arc<Classifier>,
}

impl Table {
    /// The shipped table. It costs nothing: a program's entry is read when a line names the program.
    pub fn shipped() -> Self {
        Self::default()
    }

    /// The shipped table with further programs, which win over shipped ones of the same name.
    pub fn with(programs: BTreeMap<String, Rule>) -> Self {
        let mut own = BTreeMap::new();
        for (name, program) in programs {
            program.flatten(&name, &mut own);
        }
        Self { own: Arc::new(own), ..Self::default() }
    }

    /// The same table, beside what is registered of commands.
    #[must_use]
    pub fn registered(self, classifier: Classifier) -> Self {
        Self { registered: Arc::new(classifier), ..self }
    }

    /// What is registered of commands.
    pub(crate) fn classifier(&self) -> &Classifier {
        &self.registered
    }

    /// The names of shipped entries that cannot be read; empty unless the generated file was edited manually.
    pub fn broken_entries() -> Vec<&'static str> {
        let table = Self::shipped();
        shipped::names().filter(|name| table.rule(name).is_none()).collect()
    }

    /// The name of every shipped entry: a program, or a program and its command.
    pub fn shipped_names() -> impl Iterator<Item = &'static str> {
        shipped::names()
    }

    /// Whether anything is known of a program.
    pub fn knows(&self, name: &str) -> bool {
        self.own.contains_key(name) || shipped::find(name).is_some()
    }

    /// Whether commands of a program are judged by what is known or registered of it, or can be.
    pub fn judges(&self, name: &str) -> bool {
        self.knows(name) || self.registered.is_about(name)
    }

    /// What is known of a program, or of a program's command such as `git log`.
    pub fn rule(&self, name: &str) -> Option<Rule> {
        if let Some(rule) = self.own.get(name) {
            return Some(rule.clone());
        }
        let first = name.split(' ').next().unwrap_or(name);
        if !self.own.is_empty() && self.own.contains_key(first) {
            return None;
        }
        let text = shipped::find(name)?;
        // A generated text that no longer fits counts as an unknown program; a test reads them all.
        serde_json::from_str(text).ok()
    }
}
