//! Where a line gives names a value, so that the walk follows only values that are certain.

use std::collections::{BTreeMap, BTreeSet};

use super::shape::shape;
use crate::field::Bit;
use crate::tree::{Command, Compound, List, Operation, Piece, Simple, Value, Word};

/// Where a name is given a value: in a place that runs once and for sure, and whether every value is an integer.
#[derive(Clone, Copy)]
struct Site {
    plain: bool,
    number: bool,
}

/// The names whose value at a place in the list is unknown.
pub(crate) fn unsure_names(list: &List) -> BTreeSet<String> {
    let mut sites = Sites { names: BTreeMap::new() };
    sites.list(list, true);
    let unsure = |site: &Site| !site.plain && !site.number;
    sites.names.into_iter().filter(|(_, site)| unsure(site)).map(|(name, _)| name).collect()
}

/// Whether any command of a list may change the working folder.
pub(crate) fn changes_folder(list: &List) -> bool {
    let mut sites = Sites { names: BTreeMap::new() };
    sites.list(list, true);
    sites.names.contains_key("cd ")
}

struct Sites {
    names: BTreeMap<String, Site>,
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

impl Sites {
    fn add(&mut self, name: &str, plain: bool, number: bool) {
        let site = self.names.entry(name.to_owned()).or_insert(Site { plain: true, number: true });
        site.plain &= plain;
        site.number &= number;
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
                for redirection in redirections {
                    self.word(&redirection.target);
                }
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
                let number = !select && !words.is_empty() && words.iter().all(is_number);
                self.add(name, plain && !select, number);
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
            Compound::Function { body, .. } | Compound::Coprocess(body) => self.command(body, false),
        }
    }

    fn simple(&mut self, simple: &Simple, plain: bool) {
        let alone = simple.words.is_empty();
        for assignment in &simple.assignments {
            let number = match &assignment.value {
                Value::Scalar(word) => {
                    self.word(word);
                    is_number(word) && !assignment.append
                }
                Value::Array(_) => false,
            };
            if alone {
                self.add(&assignment.name, plain, number);
            }
        }
        simple.words.iter().for_each(|word| self.word(word));
        let literal = |word: &Word| word.literal().map(|(text, _)| text);
        let names = simple.words.iter().take(3).filter_map(literal).any(|text| NAMERS.contains(&text.as_str()));
        if names {
            for text in simple.words.iter().skip(1).filter_map(literal) {
                let name: String = text
                    .chars()
                    .take_while(|character| character.is_ascii_alphanumeric() || *character == '_')
                    .collect();
                self.add(&name, false, false);
            }
            self.add("REPLY", false, false);
            self.add("MAPFILE", false, false);
        }
        if simple
            .words
            .iter()
            .take(3)
            .filter_map(literal)
            .any(|text| matches!(text.as_str(), "cd" | "pushd" | "popd" | "eval"))
        {
            self.add("cd ", true, true);
        }
    }

    /// What a word assigns while it is expanded.
    fn word(&mut self, word: &Word) {
        for piece in &word.pieces {
            match piece {
                Piece::Parameter(parameter) => {
                    if matches!(parameter.operation, Operation::Assign(_)) {
                        self.add(&parameter.name, false, false);
                    }
                }
                Piece::Arithmetic(inner) => self.arithmetic(inner, false),
                Piece::Text { .. } | Piece::Command { .. } | Piece::Process(_) => {}
            }
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
                self.add(&name.chars().rev().collect::<String>(), plain, true);
                rest = rest.get(at.saturating_add(1)..).unwrap_or("");
            }
        }
    }
}

/// Whether a word can only be integers.
fn is_number(word: &Word) -> bool {
    match word.pieces.as_slice() {
        [Piece::Arithmetic(_)] => true,
        [Piece::Text { text, .. }] => {
            let range = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            match range {
                Some(range) => range.split("..").all(|part| part.parse::<i64>().is_ok()),
                None => text.parse::<i64>().is_ok(),
            }
        }
        [piece @ Piece::Command { .. }] => shape(piece) == Bit::Number,
        _ => false,
    }
}
