//! The walk over a line's tree: what each command does, and what that makes of the line.

mod arithmetic;
mod assign;
mod compound;
mod options;
mod path;
mod program;
mod redirect;
mod simple;
mod value;
mod wrap;

use std::collections::BTreeSet;

use phasegate_core::tool::{Access, SimpleCommand, Verdict};

pub(crate) use assign::{is_dangerous as assigns_dangerously, is_harmless as assigns_harmlessly};
pub(crate) use options::{Finding, Given, Scan, does, is_assignment, scan};
pub(crate) use program::{keep_worse, same};
pub(crate) use redirect::is_harmless_output;

use crate::field::{Bit, Field};
use crate::guard;
use crate::judgement::{Judgement, Part, Pattern, Problem, Touch, Trust};
use crate::parse;
use crate::scope::Scope;
use crate::table::Table;
use crate::tree::Span;

/// How deep texts inside texts are read (`sh -c "sh -c '...'"`).
const MOST_TEXTS: usize = 8;
/// How many parts a line may have before it counts as unknown.
const MOST_PARTS: usize = 2048;

/// Reads a shell line and says what it can do at most.
///
/// It never panics; what it cannot read or does not know makes the verdict `unknown`.
#[must_use]
pub fn judge(line: &str, table: &Table, trust: Trust) -> Judgement {
    let read = guard::check(line).and_then(|()| parse::parse(line));
    let list = match read {
        Ok(list) => list,
        Err(problem) => return unreadable(problem),
    };
    let mut walk = Walk::new(table, trust, assign::unsure_names(&list));
    walk.list(&list);
    walk.finish()
}

fn unreadable(problem: Problem) -> Judgement {
    Judgement {
        verdict: Verdict::Unknown,
        because: problem.what.clone(),
        span: problem.span,
        parts: Vec::new(),
        touches: Vec::new(),
        problem: Some(problem),
    }
}

/// The state of a walk.
pub(crate) struct Walk<'t> {
    pub(crate) table: &'t Table,
    pub(crate) trust: Trust,
    pub(crate) scope: Scope,
    parts: Vec<Part>,
    touches: Vec<Touch>,
    worst: Finding,
    problem: Option<Problem>,
    /// How many conditions and loops the walk is inside of.
    pub(crate) conditional: usize,
    /// The functions whose bodies the walk is inside of.
    pub(crate) defining: Vec<String>,
    /// The options before the command of a program that dispatches.
    pub(crate) globals: Vec<Given>,
    /// The text that the simple command at hand gets on its standard input, where the line holds it.
    pub(crate) stdin: Option<String>,
    /// Whether the command at hand may get local data on its standard input.
    pub(crate) fed: bool,
    /// How many texts the walk is inside of.
    texts: usize,
    /// The span of everything in the text the walk is in, where that is not the line.
    base: Option<Span>,
}

impl<'t> Walk<'t> {
    fn new(table: &'t Table, trust: Trust, unsure: BTreeSet<String>) -> Self {
        Self {
            table,
            trust,
            scope: Scope::new(unsure),
            parts: Vec::new(),
            touches: Vec::new(),
            worst: Finding::new(Verdict::Read, "every part only reads", (0, 0)),
            problem: None,
            conditional: 0,
            defining: Vec::new(),
            globals: Vec::new(),
            stdin: None,
            fed: false,
            texts: 0,
            base: None,
        }
    }

    fn finish(mut self) -> Judgement {
        self.parts.sort_by_key(|part| part.command.span);
        Judgement {
            verdict: self.worst.verdict,
            because: self.worst.because,
            span: self.worst.span,
            parts: self.parts,
            touches: self.touches,
            problem: self.problem,
        }
    }

    /// Takes note of something worse than reading; the first of the worst is kept.
    pub(crate) fn note(&mut self, finding: Finding) {
        if finding.verdict > self.worst.verdict {
            self.worst = finding;
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
        if self.parts.len() >= MOST_PARTS {
            let because = format!("the line has more than {MOST_PARTS} commands");
            return self.note(Finding::new(Verdict::Unknown, because, command.span));
        }
        command.verdict = finding.verdict;
        let words: Vec<Pattern> = fields.iter().map(Field::to_pattern).collect();
        self.parts.push(Part { command, words, because: finding.because.clone(), decides: finding.span });
        self.note(finding);
    }

    /// Takes note of a path.
    pub(crate) fn touch(&mut self, field: &Field, access: Access) {
        for path in path::places(&self.scope, field) {
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

    /// Reads a text as a line of its own, where the line has the shell run it.
    pub(crate) fn text(&mut self, text: &str, span: Span) {
        if self.texts >= MOST_TEXTS {
            return self.note(Finding::new(Verdict::Unknown, "texts inside texts go too deep", span));
        }
        let read = guard::check(text).and_then(|()| parse::parse_inner(text, Some(span), 0));
        match read {
            Ok(list) => {
                for name in assign::unsure_names(&list) {
                    self.scope.forget(&name);
                }
                self.texts = self.texts.saturating_add(1);
                let base = self.base.replace(span);
                self.list(&list);
                self.base = base;
                self.texts = self.texts.saturating_sub(1);
            }
            Err(problem) => {
                self.note(Finding::new(Verdict::Unknown, problem.what.clone(), span));
                self.problem.get_or_insert(Problem { what: problem.what, span });
            }
        }
    }

    /// Reads a text that runs in a shell of its own.
    pub(crate) fn subshell_text(&mut self, text: &str, span: Span) {
        let mut scope = Scope::new(BTreeSet::new());
        scope.folders.clone_from(&self.scope.folders);
        let outer = std::mem::replace(&mut self.scope, scope);
        self.text(text, span);
        self.scope = outer;
    }
}

/// A value of one unknown text.
pub(crate) fn any() -> Vec<Bit> {
    vec![Bit::Any]
}
