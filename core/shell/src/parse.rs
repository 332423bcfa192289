//! A line to a tree, as bash 5.2 reads it; what bash would refuse or this reader does not know is a problem.
//!
//! One pass, no backtracking, bounded depth: the work is linear in the line.

mod command;
mod compound;
mod here;
mod parameter;
mod quote;
mod word;

use std::cell::OnceCell;
use std::rc::Rc;

use crate::judge::guard::{self, MAX_NESTING, offset, problem};
use crate::judgement::Problem;
use crate::tree::{List, Span, Word};

/// How many beginnings of a line that cannot be read are tried.
const MAX_BEGINNINGS: usize = 64;

/// What a parse step gives.
pub(crate) type Parsed<T> = Result<T, Problem>;

/// A here-document whose body stands after the next line break.
struct Pending {
    delimiter: String,
    quoted: bool,
    strip_tabs: bool,
    body: Rc<OnceCell<Word>>,
    span: Span,
}

/// The shell that a text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Bash,
    /// A shell that may be bash or any other with the grammar of POSIX: what they read differently is not read.
    Posix,
    /// A shell whose own commands may do more than those of bash: `test x -eq 1` evaluates `x` again.
    Foreign,
}

pub(crate) struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    dialect: Dialect,
    /// In a text that is not the line itself (a backtick command, a script argument): the place of the whole.
    base: Option<Span>,
    pending: Vec<Pending>,
    /// How many simple commands were read.
    commands: usize,
    /// Whether the end of the text ends a here-document, as it does with a warning.
    ends_documents: bool,
}

/// Reads a whole line.
pub(crate) fn parse(line: &str) -> Parsed<List> {
    parse_inner(line, None, 0, Dialect::Bash)
}

/// Reads a text inside a line whose every part has the span `base`.
pub(crate) fn parse_inner(text: &str, base: Option<Span>, depth: usize, dialect: Dialect) -> Parsed<List> {
    Parser::new(text, base, depth, dialect).whole()
}

/// Reads what a shell runs of a line that it cannot read to its end: it takes complete commands, a line at a time.
pub(crate) fn parse_begun(line: &str) -> Option<List> {
    let ends = line.rmatch_indices('\n').map(|(at, _)| at);
    let beginnings = std::iter::once(line.len()).chain(ends).filter_map(|end| line.get(..end));
    let readable = beginnings.filter(|text| guard::check(text).is_ok()).take(MAX_BEGINNINGS);
    let read = |text: &str| Parser { ends_documents: true, ..Parser::new(text, None, 0, Dialect::Bash) }.whole();
    readable.filter_map(|text| read(text).ok()).find(|list| !list.items.is_empty())
}

impl<'a> Parser<'a> {
    fn whole(mut self) -> Parsed<List> {
        let list = self.list()?;
        self.skip_blanks();
        if self.peek().is_some() {
            return Err(self.unexpected());
        }
        self.no_pending()?;
        Ok(list)
    }

    fn new(text: &'a str, base: Option<Span>, depth: usize, dialect: Dialect) -> Self {
        Self { text, at: 0, depth, dialect, base, pending: Vec::new(), commands: 0, ends_documents: false }
    }

    fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at.saturating_add(ahead)).copied()
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn starts(&self, prefix: &str) -> bool {
        self.rest().starts_with(prefix)
    }

    fn eat(&mut self, prefix: &str) -> bool {
        let found = self.starts(prefix);
        if found {
            self.advance(prefix.len());
        }
        found
    }

    fn advance(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes).min(self.text.len());
    }

    /// The next character, consumed.
    fn next_char(&mut self) -> Option<char> {
        let character = self.rest().chars().next()?;
        self.advance(character.len_utf8());
        Some(character)
    }

    /// The text from `start` to here.
    fn slice(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or("")
    }

    fn span(&self, start: usize) -> Span {
        self.base.unwrap_or_else(|| (offset(start), offset(self.at)))
    }

    fn fail<T>(&self, what: impl Into<String>, start: usize) -> Parsed<T> {
        Err(Problem { what: what.into(), span: self.span(start) })
    }

    /// Refuses a form that not every shell with the grammar of POSIX reads as bash does.
    fn bash_only(&self, form: &str, start: usize) -> Parsed<()> {
        match self.dialect {
            Dialect::Bash => Ok(()),
            Dialect::Posix | Dialect::Foreign => {
                self.fail(format!("`{form}` means something else to a shell that is not bash"), start)
            }
        }
    }

    /// Refuses a line that is continued where the next character could belong to the sign before.
    fn not_continued(&self) -> Parsed<()> {
        let joined = self.rest().trim_start_matches("\\\n");
        let continued = joined.len() < self.rest().len();
        if continued && !joined.starts_with([' ', '\t', '\n']) && !joined.is_empty() {
            return self.fail("a sign that a line break splits is not read", self.at);
        }
        Ok(())
    }

    fn unexpected(&self) -> Problem {
        let end = self.rest().chars().next().map_or(self.at, |next| self.at.saturating_add(next.len_utf8()));
        let what = match self.rest().chars().next() {
            None => "the line ends too early".to_owned(),
            Some('\n') => "a line ends too early".to_owned(),
            Some(next) => format!("`{next}` is not expected here"),
        };
        let mut found = problem(what, self.at, end);
        if let Some(base) = self.base {
            found.span = base;
        }
        found
    }

    /// One level deeper, for the length of `inner`.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_NESTING {
            return self.fail(format!("more than {MAX_NESTING} constructs are nested"), self.at);
        }
        self.depth = self.depth.saturating_add(1);
        let result = inner(self);
        self.depth = self.depth.saturating_sub(1);
        result
    }

    /// Blanks, continued lines and a comment; stops before a line break.
    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.advance(1),
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.advance(2),
                Some(b'#') => {
                    let length = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.advance(length);
                    return;
                }
                _ => return,
            }
        }
    }

    /// Line breaks and blanks; reads the here-documents that were waiting for the first line break.
    fn skip_lines(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.advance(1);
            self.read_bodies()?;
        }
    }
}
