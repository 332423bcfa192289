//! The state of the walk over a line's tree: what it has found so far.

mod path;

use std::collections::BTreeSet;

use phasegate_core::analysis::{Access, SimpleCommand, Verdict};

use crate::arguments::Given;
use crate::field::Field;
use crate::finding::Finding;
use crate::judgement::{Judgement, Part, Pattern, Problem, Touch, Trust};
use crate::parse::Dialect;
use crate::scope::{Names, Scope};
use crate::table::Table;
use crate::tree::Span;
use path::paths;

/// A line with more parts than this is `unknown`.
const MAX_PARTS: usize = 2048;

/// The state of a walk.
pub(crate) struct Walk<'t> {
    pub(crate) table: &'t Table,
    pub(crate) trust: Trust,
    pub(crate) scope: Scope,
    parts: Vec<Part>,
    touches: Vec<Touch>,
    worst: Finding,
    pub(crate) problem: Option<Problem>,
    /// How many conditions and loops the walk is inside of.
    pub(crate) conditional: usize,
    /// Whether a function of the line changes the working folder.
    pub(crate) moving: bool,
    /// The functions whose bodies the walk is inside of.
    pub(crate) defining: Vec<String>,
    /// Whether a program changes files of which it names none.
    pub(crate) unnamed: bool,
    /// Whether a program asks a service on the network.
    pub(crate) network: bool,
    /// The options before the command of a program that dispatches.
    pub(crate) globals: Vec<Given>,
    /// The text that the current simple command gets on its standard input, if the line contains it.
    pub(crate) stdin: Option<String>,
    /// Whether the current command may get local data on its standard input.
    pub(crate) fed: bool,
    /// Names that were given a value, and functions (with `()`) that were defined, where the walk did not expect it.
    hidden: BTreeSet<String>,
    /// How many texts the walk is inside of.
    pub(crate) texts: usize,
    /// The shell that the text is for.
    pub(crate) dialect: Dialect,
    /// The span of everything in the text the walk is in, where that is not the line.
    pub(crate) base: Option<Span>,
}

impl<'t> Walk<'t> {
    pub(crate) fn new(table: &'t Table, trust: Trust, names: Names) -> Self {
        Self {
            table,
            trust,
            scope: Scope::new(names, !trust.repository),
            parts: Vec::new(),
            touches: Vec::new(),
            worst: Finding::new(Verdict::Read, "every part only reads", (0, 0)),
            problem: None,
            conditional: 0,
            moving: false,
            defining: Vec::new(),
            unnamed: false,
            network: false,
            globals: Vec::new(),
            stdin: None,
            fed: false,
            hidden: BTreeSet::new(),
            texts: 0,
            dialect: Dialect::Bash,
            base: None,
        }
    }

    /// What the walk found.
    pub(crate) fn finish(mut self) -> Judgement {
        if let Some(name) = self.hidden.iter().find(|name| self.scope.was_believed(name)) {
            let because = format!("`{name}` may be another one than it looks when the line runs again");
            self.note(Finding::new(Verdict::Unknown, because, (0, 0)));
        }
        self.parts.sort_by_key(|part| part.command.span);
        Judgement {
            verdict: self.worst.verdict,
            because: self.worst.because,
            span: self.worst.span,
            parts: self.parts,
            touches: self.touches,
            unnamed: self.unnamed,
            network: self.network,
            problem: self.problem,
        }
    }

    /// Takes note of something worse than reading; the first of the worst is kept.
    pub(crate) fn note(&mut self, finding: Finding) {
        if finding.verdict > self.worst.verdict {
            self.worst = finding;
        }
    }

    /// Takes note that a name is given a value at a time that the walk does not follow.
    pub(crate) fn hide(&mut self, name: &str) {
        if !self.scope.is_unsure(name) {
            self.hidden.insert(name.to_owned());
            self.scope.forget(name);
        }
    }

    /// The worst so far, for a caller that wants to know what something inside it did.
    pub(crate) fn isolate<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> (T, Finding) {
        let before = std::mem::replace(&mut self.worst, Finding::new(Verdict::Read, "it only reads", (0, 0)));
        let result = inner(self);
        let found = std::mem::replace(&mut self.worst, before);
        self.note(found.clone());
        (result, found)
    }

    /// Takes note of a simple command and of the worst thing it does.
    pub(crate) fn part(&mut self, mut command: SimpleCommand, fields: &[Field], finding: Finding) {
        if self.parts.len() >= MAX_PARTS {
            let because = format!("the line has more than {MAX_PARTS} commands");
            return self.note(Finding::new(Verdict::Unknown, because, command.span));
        }
        command.verdict = finding.verdict;
        let words: Vec<Pattern> = fields.iter().map(Field::to_pattern).collect();
        self.parts.push(Part { command, words, because: finding.because.clone(), decides: finding.span });
        self.note(finding);
    }

    /// Takes note of a path.
    pub(crate) fn touch(&mut self, field: &Field, access: Access) {
        for path in paths(&self.scope, field) {
            let touch = Touch { path, access };
            if self.touches.last() != Some(&touch) {
                self.touches.push(touch);
            }
        }
    }

    /// The paths noted so far.
    pub(crate) fn touches(&self) -> &[Touch] {
        &self.touches
    }
}
