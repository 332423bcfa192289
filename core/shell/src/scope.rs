//! What is known, at a place in the line, of variables, functions and the working folder.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::expand::field::Bit;
use crate::judgement::Trust;
use crate::script;
use crate::syntax::is_one_word;
use crate::tree::List;
use crate::variables::{is_evaluated, is_read_only_number, is_special};

/// The line may be in this many folders at once; beyond, the walk knows no folder.
const MAX_FOLDERS: usize = 4;
/// How much work a line may need: a letter that is made or looked at is one step, a command is [`COMMAND_STEPS`].
const MAX_STEPS: usize = 32 * 1024;
/// The steps of one command, by what the walk needs for it.
pub(crate) const COMMAND_STEPS: usize = 96;
/// The steps of one word, beside those of its letters.
pub(crate) const WORD_STEPS: usize = 12;
/// The longest path of a working folder that is followed, in pieces.
const MAX_FOLDER_PIECES: usize = 64;

/// What is known of a line's names before its commands are walked.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Names that are given a value where it is not sure whether or when that happens.
    pub(crate) unsure: BTreeSet<String>,
    /// Functions that any part of the line defines.
    pub(crate) functions: BTreeSet<String>,
    /// Whether any name may be an array.
    pub(crate) arrays: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Scope {
    variables: BTreeMap<String, Vec<Bit>>,
    unsure: BTreeSet<String>,
    /// Names that any text may have been given to.
    all_unsure: bool,
    /// Whether file name patterns may match names that begin with a dot.
    pub(crate) dots: bool,
    /// How unquoted values are split is not known.
    pub(crate) splits_oddly: bool,
    /// Whether any name may be an array, to which a value in brackets is a list of words to expand.
    pub(crate) arrays: bool,
    /// Whether the path of the folder in which the line starts may hold what a shell reads as a command.
    pub(crate) odd_start: bool,
    /// What `git branch --show-current` prints, where that is known.
    branch: Option<String>,
    /// Whether files of the folder may have names that are made to be options.
    pub(crate) distrusts: bool,
    /// A pipeline fails where one of its commands does.
    pub(crate) pipefail: bool,
    /// Functions that are defined here.
    pub(crate) functions: BTreeSet<String>,
    /// Functions that any part of the line defines, so that no program of that name is known to run.
    shadows: BTreeSet<String>,
    /// Functions of which it is not sure that they are defined when they are called.
    pub(crate) doubtful_functions: BTreeSet<String>,
    /// Names of which a function may be taken back, anywhere in the line.
    undone: Rc<RefCell<BTreeSet<String>>>,
    /// Where the line may be: each as pieces that end in `/`, none for the folder it started in.
    pub(crate) folders: Vec<Vec<Bit>>,
    /// Names whose value, and programs (with `()`) whose output, something was concluded from.
    believed: Rc<RefCell<BTreeSet<String>>>,
    /// The steps that were needed so far, for the whole line.
    steps: Rc<Cell<usize>>,
}

impl Scope {
    pub(crate) fn new(names: Names, trust: &Trust) -> Self {
        let branch = trust.branch.clone();
        Self { distrusts: !trust.repository, odd_start: trust.odd_folder, branch, ..Self::of(names) }
    }

    fn of(names: Names) -> Self {
        Self {
            variables: BTreeMap::new(),
            splits_oddly: names.unsure.contains("IFS"),
            dots: names.unsure.contains("GLOBIGNORE"),
            unsure: names.unsure,
            all_unsure: false,
            arrays: names.arrays,
            odd_start: false,
            branch: None,
            distrusts: false,
            pipefail: false,
            functions: BTreeSet::new(),
            shadows: names.functions,
            doubtful_functions: BTreeSet::new(),
            undone: Rc::default(),
            folders: vec![Vec::new()],
            believed: Rc::default(),
            steps: Rc::default(),
        }
    }

    /// What a substitution prints, where that is known: the branch, or words that the line itself says.
    pub(crate) fn printed(&self, list: &List) -> Option<String> {
        let simple = list.only().filter(|simple| simple.assignments.is_empty() && simple.redirections.is_empty())?;
        let words: Vec<String> =
            simple.words.iter().map(|word| word.literal().map(|(text, _)| text)).collect::<Option<_>>()?;
        let (program, words) = words.split_first().filter(|(program, _)| self.is_program(program))?;
        let plain = |text: &&String| !text.starts_with(['-', '~']) && !text.contains(['\\', '%', '*', '?', '[', '{']);
        match (program.as_str(), words) {
            ("git", [first, second]) if first == "branch" && second == "--show-current" => self.branch.clone(),
            ("echo", words) if words.iter().all(|word| plain(&word)) => Some(words.join(" ")),
            ("printf", [word]) => Some(word.clone()).filter(|word| plain(&word)),
            _ => None,
        }
    }

    /// The scope of a shell that this one starts: it knows the folder, and may get any value from here.
    pub(crate) fn inner(&self) -> Self {
        let mut unsure = self.unsure.clone();
        unsure.extend(self.variables.keys().cloned());
        let names = Names { unsure, functions: self.shadows.clone(), arrays: self.arrays };
        let mut inner = Self { distrusts: self.distrusts, odd_start: self.odd_start, ..Self::of(names) };
        inner.all_unsure = self.all_unsure;
        inner.splits_oddly |= self.splits_oddly;
        inner.folders.clone_from(&self.folders);
        inner.believed = Rc::clone(&self.believed);
        inner.undone = Rc::clone(&self.undone);
        inner.steps = Rc::clone(&self.steps);
        inner
    }

    /// Counts work; whether the line may still need more.
    pub(crate) fn spend(&self, steps: usize) -> bool {
        self.steps.set(self.steps.get().saturating_add(steps));
        self.steps.get() <= MAX_STEPS
    }

    /// Whether the line needs more work than it may.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.steps.get() > MAX_STEPS
    }

    /// The scope of a place that changes nothing outside itself.
    pub(crate) fn fork(&self) -> Self {
        let names = [self.unsure.len(), self.shadows.len(), self.functions.len(), self.doubtful_functions.len()];
        self.spend(self.variables.len().saturating_add(names.iter().sum()));
        self.clone()
    }

    /// Adds what is known of the names of a further text that runs here.
    pub(crate) fn learn(&mut self, names: Names) {
        for name in &names.unsure {
            self.forget(name);
        }
        self.shadows.extend(names.functions);
        self.arrays |= names.arrays;
    }

    /// The value of a variable; `Any` if it is unknown.
    pub(crate) fn value(&self, name: &str) -> Vec<Bit> {
        if is_read_only_number(name) {
            return vec![Bit::Number];
        }
        if let Some(hole) = script::named(name) {
            return vec![hole];
        }
        if self.all_unsure || self.unsure.contains(name) {
            return vec![Bit::Any];
        }
        let value = match self.variables.get(name) {
            Some(_) if is_evaluated(name) => vec![Bit::Number],
            // The shell gives it another value by itself.
            Some(_) if is_special(name) => return vec![Bit::Any],
            Some(value) => value.clone(),
            None => match name {
                "!" => vec![Bit::Numbers],
                "HOME" => vec![Bit::Home],
                // A shell takes it from nowhere else when it starts.
                "IFS" if !self.splits_oddly => vec![Bit::Text(" \t\n".to_owned())],
                "PWD" => self.own_path(),
                "SHLVL" => vec![Bit::Number],
                _ if is_evaluated(name) => vec![Bit::Number],
                _ if self.is_outside(name) => return vec![Bit::Given],
                _ => return vec![Bit::Any],
            },
        };
        self.believed.borrow_mut().insert(name.to_owned());
        value
    }

    /// Whether a word that names a program names no function of the line; the answer is relied on.
    pub(crate) fn is_program(&self, name: &str) -> bool {
        let program = !self.all_unsure && !self.shadows.contains(name);
        if program {
            self.believed.borrow_mut().insert(format!("{name}()"));
        }
        program
    }

    /// Takes note that a function of this name may be taken back; whether the line has one.
    pub(crate) fn undo(&self, name: &str) -> bool {
        self.undone.borrow_mut().insert(name.to_owned());
        self.shadows.contains(name) || self.functions.contains(name)
    }

    /// Whether a function of this name may be taken back.
    pub(crate) fn is_undone(&self, name: &str) -> bool {
        self.undone.borrow().contains(name)
    }

    /// Whether something was concluded from a name's value, or from a program's output (with `()`).
    pub(crate) fn was_believed(&self, name: &str) -> bool {
        self.believed.borrow().contains(name)
    }

    /// What the path of the working folder is, as far as it is known.
    pub(crate) fn own_path(&self) -> Vec<Bit> {
        let [folder] = self.folders.as_slice() else { return vec![self.working_folder()] };
        let text = |bit: &Bit| if let Bit::Text(text) = bit { Some(text.clone()) } else { None };
        let below = folder.iter().map(text).collect::<Option<String>>();
        match below.filter(|below| !below.starts_with('/') && !below.contains("..") && is_one_word(below)) {
            _ if self.odd_start => vec![Bit::Any],
            Some(below) if below.is_empty() => vec![Bit::Here],
            Some(below) => vec![Bit::Here, Bit::Text(format!("/{}", below.trim_end_matches('/')))],
            None => vec![self.working_folder()],
        }
    }

    /// What the path of the working folder can be: a folder of the line may have any name.
    pub(crate) fn working_folder(&self) -> Bit {
        let plain = |bit: &Bit| matches!(bit, Bit::Text(text) if is_one_word(text));
        if self.folders.iter().flatten().all(plain) { Bit::Plain } else { Bit::Any }
    }

    pub(crate) fn assign(&mut self, name: &str, value: Vec<Bit>) {
        self.splits_oddly |= name == "IFS";
        self.dots |= name == "GLOBIGNORE";
        self.variables.insert(name.to_owned(), value);
    }

    /// Whether no part of the line gives the variable a value, so that it comes from outside.
    pub(crate) fn is_outside(&self, name: &str) -> bool {
        let named = name.starts_with(|first: char| first.is_ascii_alphabetic());
        named
            && !is_special(name)
            && !self.all_unsure
            && !self.unsure.contains(name)
            && !self.variables.contains_key(name)
    }

    /// Whether the walk knew before that the name may be given any value.
    pub(crate) fn is_unsure(&self, name: &str) -> bool {
        self.all_unsure || self.unsure.contains(name)
    }

    pub(crate) fn forget(&mut self, name: &str) {
        self.splits_oddly |= name == "IFS";
        self.dots |= name == "GLOBIGNORE";
        self.unsure.insert(name.to_owned());
    }

    pub(crate) fn forget_all(&mut self) {
        self.all_unsure = true;
        self.splits_oddly = true;
    }

    /// Moves to a folder, given as pieces.
    pub(crate) fn enter(&mut self, folder: &[Bit]) {
        if let Some((Bit::Here, rest)) = folder.split_first() {
            self.folders = vec![Vec::new()];
            return match rest {
                [] => {}
                [Bit::Text(first), more @ ..] if first.starts_with('/') => {
                    let first = Bit::Text(format!(".{first}"));
                    self.enter(&std::iter::once(first).chain(more.iter().cloned()).collect::<Vec<_>>());
                }
                _ => self.lose_folder(),
            };
        }
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
        let long = self.folders.iter().any(|bits| bits.len() > MAX_FOLDER_PIECES);
        if long || matches!(folder.first(), Some(Bit::Any | Bit::Given | Bit::Plain | Bit::Tame)) {
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
