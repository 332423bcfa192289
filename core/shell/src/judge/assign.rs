//! Assignments: which names are harmless, and which values can be followed.

use std::collections::{BTreeMap, BTreeSet};

use phasegate_core::tool::Verdict;

use super::{Finding, Walk, any};
use crate::field::{Bit, Field};
use crate::tree::{Assignment, Command, Compound, List, Operation, Piece, Simple, Span, Value, Word};

/// Names that may be given to one command (`LC_ALL=C sort`).
const HARMLESS: [&str; 42] = [
    "AWS_DEFAULT_OUTPUT",
    "AWS_DEFAULT_REGION",
    "AWS_REGION",
    "BLOCKSIZE",
    "BLOCK_SIZE",
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "DEBIAN_FRONTEND",
    "DEBUG",
    "FORCE_COLOR",
    "GH_NO_UPDATE_NOTIFIER",
    "GIT_OPTIONAL_LOCKS",
    "GIT_TERMINAL_PROMPT",
    "GREP_COLOR",
    "GREP_COLORS",
    "HISTTIMEFORMAT",
    "IFS",
    "JQ_COLORS",
    "LANG",
    "LANGUAGE",
    "LINES",
    "LSCOLORS",
    "LS_COLORS",
    "MANWIDTH",
    "NODE_ENV",
    "NO_COLOR",
    "POSIXLY_CORRECT",
    "PS_FORMAT",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
    "QUOTING_STYLE",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
    "TIMEFORMAT",
    "TIME_STYLE",
    "VERBOSE",
];
/// Names that may be given to one command when the value turns paging off.
const PAGERS: [&str; 8] =
    ["PAGER", "GIT_PAGER", "GH_PAGER", "MANPAGER", "AWS_PAGER", "SYSTEMD_PAGER", "BAT_PAGER", "DELTA_PAGER"];
/// Names that programs or the shell obey: no command of the line may run with them changed.
const DANGEROUS: [&str; 34] = [
    "PATH",
    "HOME",
    "SHELL",
    "ENV",
    "BASH_ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "CDPATH",
    "PAGER",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "MANPAGER",
    "MANPATH",
    "TMPDIR",
    "PWD",
    "OLDPWD",
    "HISTFILE",
    "FPATH",
    "MAKEFLAGS",
    "KUBECONFIG",
    "KUBE_EDITOR",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "GREP_OPTIONS",
    "TAR_OPTIONS",
    "GZIP",
    "ZIPOPT",
    "UNZIP",
    "RSYNC_RSH",
    "TERMINFO",
    "EXECIGNORE",
];
/// Beginnings of further such names.
const DANGEROUS_FAMILIES: [&str; 32] = [
    "LD_",
    "DYLD_",
    "GIT_",
    "BASH_",
    "PYTHON",
    "PERL",
    "RUBY",
    "NODE_",
    "NPM_",
    "npm_",
    "LESS",
    "GCONV_",
    "LOCPATH",
    "NLSPATH",
    "XDG_",
    "DOCKER_",
    "AWS_",
    "GOOGLE_",
    "CLOUDSDK_",
    "AZURE_",
    "GH_",
    "GO",
    "CARGO",
    "RUST",
    "JAVA_",
    "_JAVA",
    "JDK_",
    "BAT_",
    "RIPGREP_",
    "FZF_",
    "MALLOC_",
    "SSL_",
];

/// Whether a name is one that programs or the shell obey.
pub(crate) fn is_dangerous(name: &str) -> bool {
    DANGEROUS.contains(&name)
        || DANGEROUS_FAMILIES.iter().any(|family| name.starts_with(family))
        || name.to_ascii_lowercase().ends_with("_proxy")
}

/// Whether a name may be given to a command.
pub(crate) fn is_harmless(name: &str, value: Option<&str>) -> bool {
    if PAGERS.contains(&name) {
        return matches!(value, Some("" | "cat"));
    }
    // No program reads a setting from a name of one letter.
    let one = name.len() == 1 && name.bytes().all(|byte| byte.is_ascii_alphabetic());
    one || HARMLESS.contains(&name) || name.starts_with("LC_")
}

impl Walk<'_> {
    /// An assignment: its value, and what is worse than reading.
    pub(crate) fn assignment(&mut self, assignment: &Assignment, alone: bool) -> Field {
        if let Some(index) = &assignment.index {
            self.arithmetic(index);
        }
        let field = match &assignment.value {
            Value::Scalar(word) => self.single(word),
            Value::Array(words) => {
                for word in words {
                    self.fields(word);
                    self.element_index(word);
                }
                Field { many: false, ..Field::any(assignment.span) }
            }
        };
        if alone {
            self.assignment_alone(&assignment.name, field.known(), assignment.span);
            let plain =
                assignment.index.is_none() && !assignment.append && matches!(assignment.value, Value::Scalar(_));
            let bits = if plain { shortened(field.bits.clone()) } else { any() };
            self.scope.assign(&assignment.name, bits);
        } else if !is_harmless(&assignment.name, field.known()) {
            let because = format!("`{}` can change what the command does", assignment.name);
            self.note(Finding::new(Verdict::Unknown, because, assignment.span));
        }
        field
    }

    /// An assignment that lasts.
    pub(crate) fn assignment_alone(&mut self, name: &str, value: Option<&str>, span: Span) {
        if is_dangerous(name) && !(PAGERS.contains(&name) && matches!(value, Some("" | "cat"))) {
            let because = format!("`{name}` can change what later commands do");
            self.note(Finding::new(Verdict::Unknown, because, span));
        }
    }

    /// `[expression]=value` in an array.
    fn element_index(&mut self, word: &Word) {
        if let Some(Piece::Text { text, quoted: false }) = word.pieces.first()
            && text.starts_with('[')
            && word.pieces.iter().any(|piece| matches!(piece, Piece::Text { text, .. } if text.contains("]=")))
        {
            let because = "an index of an array is read as arithmetic";
            self.note(Finding::new(Verdict::Unknown, because, word.span));
        }
    }
}

/// A value that is worth following.
fn shortened(bits: Vec<Bit>) -> Vec<Bit> {
    let length: usize = bits.iter().map(|bit| if let Bit::Text(text) = bit { text.len() } else { 1 }).sum();
    if length > 4096 || bits.len() > 64 { any() } else { bits }
}

/// Where a name is given a value: in a place that runs once and for sure, and whether every value is an integer.
#[derive(Clone, Copy)]
struct Site {
    plain: bool,
    number: bool,
}

/// The names whose value at a place in the list nobody can follow.
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
        [piece @ Piece::Command { .. }] => super::value::shape(piece) == Bit::Number,
        _ => false,
    }
}
