//! Where a line gives names a value, so that the walk follows only values that are certain.

use std::collections::{BTreeMap, BTreeSet};

use crate::field::Bit;
use crate::judgement::Trust;
use crate::scope::{Names, Scope};
use crate::shape::shape;
use crate::tree::{Command, Compound, List, Operation, Piece, Redirection, Simple, Value, Word};

/// Where a name is given a value: in a place that runs once and for sure, and whether every value is an integer.
#[derive(Clone, Copy)]
struct Site {
    plain: bool,
    number: bool,
    /// Whether only the program that prints it makes the value an integer.
    printed: bool,
}

/// What is known of a list's names before it is walked.
pub(crate) fn names(list: &List) -> Names {
    let sites = Sites::of(list);
    let shadowed = !sites.functions.is_empty();
    let number = |site: &Site| site.number && !(site.printed && shadowed);
    let unsure = |site: &Site| !site.plain && !number(site);
    let unsure = sites.names.into_iter().filter(|(_, site)| unsure(site)).map(|(name, _)| name).collect();
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
    names: BTreeMap<String, Site>,
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

    fn add(&mut self, name: &str, plain: bool, number: bool) {
        self.site(name, Site { plain, number, printed: false });
    }

    fn site(&mut self, name: &str, found: Site) {
        let site = self.names.entry(name.to_owned()).or_insert(Site { plain: true, number: true, printed: false });
        site.plain &= found.plain;
        site.number &= found.number;
        site.printed |= found.printed;
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
                let number = !select && !words.is_empty() && words.iter().all(is_number);
                let printed = words.iter().any(is_printed);
                self.site(name, Site { plain: plain && !select, number, printed });
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
            let found = match &assignment.value {
                Value::Scalar(word) => {
                    self.word(word);
                    Site { plain, number: is_number(word) && !assignment.append, printed: is_printed(word) }
                }
                Value::Array(words) => {
                    words.iter().for_each(|word| self.word(word));
                    Site { plain, number: false, printed: false }
                }
            };
            self.arrays |= assignment.index.is_some() || matches!(assignment.value, Value::Array(_));
            if alone {
                self.site(&assignment.name, found);
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
                self.add(&name, false, false);
                self.arrays |= text.starts_with('-') && text.contains(['a', 'A']);
            }
            self.arrays |= texts.iter().any(|text| matches!(text.as_str(), "mapfile" | "readarray"));
            self.add("REPLY", false, false);
            self.add("MAPFILE", false, false);
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
                self.add(name, false, false);
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
                            self.add(&parameter.name, false, false);
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
        for (name, site) in inner.names {
            self.site(&name, site);
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

/// Whether a word holds what a program prints.
fn is_printed(word: &Word) -> bool {
    word.pieces.iter().any(|piece| matches!(piece, Piece::Command { .. }))
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
        [piece @ Piece::Command { .. }] => {
            let distrusts = Trust { repository: false, ..Trust::default() };
            matches!(shape(piece, &Scope::new(Names::default(), &distrusts)), Bit::Number | Bit::Numbers)
        }
        _ => false,
    }
}
