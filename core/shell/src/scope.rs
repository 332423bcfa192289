//! What is known, at a place in the line, of variables, functions and the working folder.

use std::collections::{BTreeMap, BTreeSet};

use crate::field::Bit;

/// The line may be in this many folders at once; beyond, the walk knows no folder.
const MAX_FOLDERS: usize = 4;

#[derive(Clone, Debug)]
pub(crate) struct Scope {
    variables: BTreeMap<String, Vec<Bit>>,
    /// Names that are given a value where it is not sure whether or when that happens.
    unsure: BTreeSet<String>,
    /// Names that any text may have been given to.
    all_unsure: bool,
    /// How unquoted values are split is not known.
    pub(crate) splits_oddly: bool,
    pub(crate) functions: BTreeSet<String>,
    /// Functions of which it is not sure that they are defined when they are called.
    pub(crate) doubtful_functions: BTreeSet<String>,
    /// Where the line may be: each as pieces that end in `/`, none for the folder it started in.
    pub(crate) folders: Vec<Vec<Bit>>,
}

/// Shell variables that are integers and that no assignment makes anything else.
const NUMBERS: [&str; 14] = [
    "#",
    "?",
    "$",
    "!",
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "EPOCHSECONDS",
    "UID",
    "EUID",
    "PPID",
    "BASHPID",
    "SHLVL",
];

impl Scope {
    pub(crate) fn new(unsure: BTreeSet<String>) -> Self {
        Self {
            variables: BTreeMap::new(),
            unsure,
            all_unsure: false,
            splits_oddly: false,
            functions: BTreeSet::new(),
            doubtful_functions: BTreeSet::new(),
            folders: vec![Vec::new()],
        }
    }

    /// The value of a variable; `Any` if it is unknown.
    pub(crate) fn value(&self, name: &str) -> Vec<Bit> {
        if NUMBERS.contains(&name) {
            return vec![Bit::Number];
        }
        let special = match name {
            "HOME" => Some(Bit::Home),
            "PWD" => Some(Bit::Plain),
            _ => None,
        };
        if self.all_unsure || self.unsure.contains(name) {
            return vec![Bit::Any];
        }
        match (self.variables.get(name), special) {
            (Some(value), _) => value.clone(),
            (None, Some(bit)) => vec![bit],
            (None, None) => vec![Bit::Any],
        }
    }

    pub(crate) fn assign(&mut self, name: &str, value: Vec<Bit>) {
        if name == "IFS" {
            self.splits_oddly = true;
        }
        self.variables.insert(name.to_owned(), value);
    }

    /// Whether no part of the line so far gives the variable a value.
    pub(crate) fn is_outside(&self, name: &str) -> bool {
        !self.all_unsure && !self.unsure.contains(name) && !self.variables.contains_key(name)
    }

    pub(crate) fn forget(&mut self, name: &str) {
        self.unsure.insert(name.to_owned());
    }

    pub(crate) fn forget_all(&mut self) {
        self.all_unsure = true;
        self.splits_oddly = true;
    }

    /// Moves to a folder, given as pieces.
    pub(crate) fn enter(&mut self, folder: &[Bit]) {
        let absolute = match folder.first() {
            Some(Bit::Home) => true,
            Some(Bit::Text(text)) => text.starts_with('/'),
            _ => false,
        };
        let before = if absolute { vec![Vec::new()] } else { std::mem::take(&mut self.folders) };
        self.folders = before
            .into_iter()
            .map(|mut start| {
                start.extend(folder.iter().cloned());
                start.push(Bit::Text("/".to_owned()));
                start
            })
            .collect();
        if matches!(folder.first(), Some(Bit::Any | Bit::Plain)) {
            self.lose_folder();
        }
    }

    /// Nothing is known of the folder any more.
    pub(crate) fn lose_folder(&mut self) {
        self.folders = vec![vec![Bit::Any]];
    }

    /// The line may also be in the folders of `other`.
    pub(crate) fn or_folders(&mut self, other: &[Vec<Bit>]) {
        for folder in other {
            if !self.folders.contains(folder) {
                self.folders.push(folder.clone());
            }
        }
        if self.folders.len() > MAX_FOLDERS {
            self.lose_folder();
        }
    }
}
