//! The suite under construction.

use std::collections::BTreeSet;

use crate::play::folders::cases;
use crate::trial::{Check, Mismatch, Trial};

/// The suite under construction: files that have been used, trials that they gave.
#[derive(Default)]
pub(crate) struct Loading {
    pub(crate) trials: Vec<Trial>,
    pub(crate) unused: BTreeSet<String>,
}

impl Loading {
    /// Takes a file: it is used from now on. Its text, or a trial that fails.
    pub(crate) fn take(&mut self, path: &str) -> Option<String> {
        self.unused.remove(path);
        match std::fs::read_to_string(cases().join(path)) {
            Ok(text) => Some(text),
            Err(error) => {
                self.fails(path, &error);
                None
            }
        }
    }

    /// A trial that fails: the file cannot be used.
    pub(crate) fn fails(&mut self, path: &str, problem: &dyn std::fmt::Display) {
        let mismatch = Mismatch::broken(path, problem);
        let run = Box::new(move || vec![mismatch.clone()]);
        self.trials.push(Trial {
            id: format!("suite/{path}"),
            check: Check::Suite,
            adapter: None,
            area: "files".into(),
            run,
        });
    }

    /// The unused files below a folder, with the folder's path.
    pub(crate) fn below(&self, folder: &str) -> Vec<String> {
        self.unused.iter().filter(|path| path.starts_with(folder)).cloned().collect()
    }
}
