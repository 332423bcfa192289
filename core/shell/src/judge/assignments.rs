//! Where a line gives names a value, so that the walk follows only values that are certain.

use std::collections::{BTreeMap, BTreeSet};

use crate::scope::Names;
use crate::tree::{Command, Compound, List, Operation, Piece, Redirection, Simple, Value, Word};

/// What is known of a list's names before it is walked.
pub(crate) fn names(list: &List) -> Names {
    let sites = Sites::of(list);
    let unsure = sites.names.into_iter().filter(|(_, plain)| !plain).map(|(name, _)| name).collect();
    Names { unsure, functions: sites.functions, arrays: sites.arrays }
}

/// Every name that a list gives a value, and every function that it defines, with `()`.
pub(crate) fn given(list: &List) -> impl Iterator<Item = String> {
    let sites = Sites::of(list);
    sites.names.into_keys().chain(sites.functions.into_iter().map(|name| format!("{name}()")))
}

/// Whether any command of a list may change the working folder.
pub(crate) fn changes_folder(list: &List) -> bool {
    Sites::of(list).moves
}

/// Whether a command may change the working folder when it runs.
pub(crate) fn moves(command: &Command) -> bool {
    let mut sites = Sites::default();
    sites.command(command, true);
    sites.moves
}

#[derive(Default)]
struct Sites {
    /// Every name that is given a value, and whether each place that does so runs once and for sure.
    names: BTreeMap<String, bool>,
    functions: BTreeSet<String>,
    arrays: bool,
    /// Whether the working folder may change.
    moves: bool,
}

/// Programs whose words are names that they give a value.
const NAMERS: [&str; 13] = [
    "read",
    "mapfile",
    "readarray",
    "printf",
    "getopts",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "unset",
    "let",
    "wait",
];

/// Words that may be commands which change the working folder.
const MOVERS: [&str; 6] = ["cd", "chdir", "pushd", "popd", "eval", "source"];

/// Whether words run a file as a part of the line: `. FILE`, `command . FILE`.
fn sources(texts: &[String]) -> bool {
    let before = |text: &&String| matches!(text.as_str(), "command" | "builtin" | "-p" | "--");
    texts.iter().find(|text| !before(text)).is_some_and(|first| first == ".")
}

impl Sites {
    fn of(list: &List) -> Self {
        let mut sites = Self::default();
        sites.list(list, true);
        sites
    }

    fn add(&mut self, name: &str, plain: bool) {
        *self.names.entry(name.to_owned()).or_insert(true) &= plain;
    }

    fn list(&mut self, list: &List, plain: bool) {
        for item in &list.items {
            for (number, pipeline) in item.pipelines.iter().enumerate() {
                // What follows `&&` or `||` may not run.
                let sure = number == 0;
                for command in &pipeline.commands {
                    self.command(command, plain && sure);
                }
            }
        }
    }

    fn command(&mut self, command: &Command, plain: bool) {
        match command {
            Command::Simple(simple) => self.simple(simple, plain),
            Command::Compound(compound, redirections, _) => {
                self.redirections(redirections);
                self.compound(compound, plain);
            }
        }
    }

    fn compound(&mut self, compound: &Compound, plain: bool) {
        match compound {
            Compound::Group(list) | Compound::Subshell(list) => self.list(list, plain),
            Compound::Branches(lists) => lists.iter().for_each(|list| self.list(list, false)),
            Compound::For { name, words, body, select } => {
                let words = words.as_deref().unwrap_or(&[]);
                words.iter().for_each(|word| self.word(word));
                self.add(name, plain && !select);
                self.list(body, false);
            }
            Compound::Case { subject, arms } => {
                self.word(subject);
                for (_, list) in arms {
                    self.list(list, false);
                }
            }
            Compound::Arithmetic(word) => self.arithmetic(word, plain),
            Compound::ArithmeticFor { header, body } => {
                self.arithmetic(header, false);
                self.list(body, false);
            }
            Compound::Test(words) => words.iter().for_each(|word| self.word(word)),
            Compound::Function { name, body } => {
                self.functions.insert(name.clone());
                self.command(body, false);
            }
            Compound::Coprocess(body) => self.command(body, false),
        }
    }

    fn simple(&mut self, simple: &Simple, plain: bool) {
        let alone = simple.words.is_empty();
        for assignment in &simple.assignments {
            match &assignment.value {
                Value::Scalar(word) => self.word(word),
                Value::Array(words) => words.iter().for_each(|word| self.word(word)),
            }
            self.arrays |= assignment.index.is_some() || matches!(assignment.value, Value::Array(_));
            if alone {
                self.add(&assignment.name, plain);
            }
        }
        simple.words.iter().for_each(|word| self.word(word));
        self.redirections(&simple.redirections);
        let literal = |word: &Word| word.literal().map(|(text, _)| text);
        let texts: Vec<String> = simple.words.iter().filter_map(literal).collect();
        if texts.iter().any(|text| NAMERS.contains(&text.as_str())) {
            for text in texts.iter().skip(1) {
                let name: String = text
                    .chars()
                    .take_while(|character| character.is_ascii_alphanumeric() || *character == '_')
                    .collect();
                self.add(&name, false);
                self.arrays |= text.starts_with('-') && text.contains(['a', 'A']);
            }
            self.arrays |= texts.iter().any(|text| matches!(text.as_str(), "mapfile" | "readarray"));
            self.add("REPLY", false);
            self.add("MAPFILE", false);
        }
        self.moves |= texts.iter().any(|text| MOVERS.contains(&text.as_str())) || sources(&texts);
    }

    fn redirections(&mut self, redirections: &[Redirection]) {
        for redirection in redirections {
            self.word(&redirection.target);
            if let Some(body) = redirection.body.as_ref().and_then(|body| body.get()) {
                self.word(body);
            }
            let descriptor = redirection.descriptor.as_deref().unwrap_or("");
            if let Some(name) = descriptor.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
                self.add(name, false);
            }
        }
    }

    /// What a word assigns while it is expanded.
    fn word(&mut self, word: &Word) {
        for piece in &word.pieces {
            match piece {
                Piece::Parameter(parameter) => {
                    match &parameter.operation {
                        Operation::Assign(operand) => {
                            self.add(&parameter.name, false);
                            self.word(operand);
                        }
                        Operation::Default(operand)
                        | Operation::Edit(operand)
                        | Operation::Trim { word: operand, .. } => self.word(operand),
                        Operation::Slice(operand) => self.arithmetic(operand, false),
                        _ => {}
                    }
                    if let Some(index) = &parameter.index {
                        self.arithmetic(index, false);
                    }
                }
                Piece::Arithmetic(inner) => self.arithmetic(inner, false),
                Piece::Command { list, .. } | Piece::Process { list, .. } => self.inside(list),
                Piece::Text { .. } => {}
            }
        }
    }

    /// What runs in a shell of its own may run again and again.
    fn inside(&mut self, list: &List) {
        let inner = Self::of(list);
        self.functions.extend(inner.functions);
        self.arrays |= inner.arrays;
        for (name, plain) in inner.names {
            self.add(&name, plain);
        }
    }

    fn arithmetic(&mut self, word: &Word, plain: bool) {
        for piece in &word.pieces {
            let Piece::Text { text, .. } = piece else { continue };
            let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
            let mut rest = text.as_str();
            while let Some(at) = rest.find('=') {
                let before = rest.get(..at).unwrap_or("").trim_end_matches(|character: char| !is_name(character));
                let name: String = before.chars().rev().take_while(|character| is_name(*character)).collect();
                self.add(&name.chars().rev().collect::<String>(), plain);
                rest = rest.get(at.saturating_add(1)..).unwrap_or("");
            }
        }
    }
}
