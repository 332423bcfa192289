//! A `sed` script: whether it is one of the plain ones, which only read. What another may do is left to the kernel.

use phasegate_core::calls::analysis::{Access, Verdict};

use crate::check::command::Command;
use crate::check::files::output::last_name;
use crate::check::files::replace::copy;
use crate::expand::field::Field;
use crate::finding::{Finding, keep_worse};
use crate::script::{Doubt, Script};
use crate::walk::Walk;

/// Commands of one letter that print, delete and keep lines.
const PLAIN: &str = "=dDgGhHnNpPxzF{";
/// Flags of `s` that run and write nothing.
const FLAGS: &str = "gpiImM0123456789";

/// `sed`
pub(in crate::check) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let given: Vec<_> = command.values(&["e", "expression"]).collect();
    let mut files = command.scan.operands.iter().copied();
    let fields =
        if given.is_empty() && !command.has(&["f", "file"]) { files.next().into_iter().collect() } else { given };
    let in_place = command.has(&["i", "in-place", "I"]);
    let endings: Vec<&Field> = command.values(&["i", "in-place", "I"]).collect();
    for file in files {
        walk.touch(file, if in_place { Access::Write } else { Access::Read });
        for copy in endings.iter().flat_map(|ending| copies(file, ending)) {
            walk.touch(&copy, Access::Write);
        }
    }
    let scripts: Vec<Script> = fields.iter().map(|field| Script::of([*field])).collect();
    let made = fields.iter().zip(&scripts).find(|(_, script)| script.doubt > Doubt::Nothing);
    let made = made.and_then(|(field, _)| command.doubt(field, "the script"));
    let text: String = scripts.iter().flat_map(|script| [script.text.as_str(), "\n"]).collect();
    let mut rest = Plain { rest: &text, writes: false };
    let read = rest.is_read();
    if read && !rest.writes {
        return made;
    }
    let span = scripts.first().map_or(command.span, |script| script.span);
    walk.touch_words_of(&text, span);
    if !read {
        walk.any_command(span);
    }
    let mut worst = Finding::new(Verdict::Unknown, "the `sed` script may write files and run programs", span);
    made.into_iter().for_each(|made| keep_worse(&mut worst, made));
    Some(worst)
}

/// The names that the copy of a file may have: an ending with a folder is seen from the folder that the program runs in.
fn copies(file: &Field, ending: &Field) -> Vec<Field> {
    let Some(text) = ending.known() else { return vec![Field { many: false, ..Field::any(ending.span) }] };
    let named = file.known().filter(|_| text.contains('/')).map(|path| Field::text(last_name(path), file.span));
    [Some(file), named.as_ref()].into_iter().flatten().filter_map(|file| copy(file, text)).collect()
}

/// What is left of a script.
struct Plain<'t> {
    rest: &'t str,
    /// Whether a command before it writes a file, or what it puts in is not known.
    writes: bool,
}

impl Plain<'_> {
    /// Whether each of its commands is plain or writes a file, whatever version of `sed` reads it.
    fn is_read(&mut self) -> bool {
        loop {
            self.skip(|sign| sign.is_ascii_whitespace() || matches!(sign, ';' | '}'));
            if self.rest.is_empty() {
                return true;
            }
            if self.command().is_none() {
                return false;
            }
        }
    }

    /// Consumes a command with its addresses; `None`: it is not plain.
    fn command(&mut self) -> Option<()> {
        self.addresses()?;
        match self.next()? {
            sign if PLAIN.contains(sign) => return Some(()).filter(|()| sign == '{' || self.ends()),
            'q' | 'Q' | 'l' => self.skip(|sign| sign.is_ascii_digit() || sign == ' '),
            ':' | 'b' | 't' | 'T' => {
                self.skip(|sign| sign == ' ');
                self.skip(|sign| sign.is_ascii_alphanumeric());
            }
            // What is put in goes to the end of the line, if no backslash takes it further.
            'a' | 'i' | 'c' => loop {
                let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
                if line.ends_with("\\\\") {
                    return None;
                }
                if !line.ends_with('\\') {
                    self.skip(|sign| sign != '\n');
                    return Some(());
                }
                // Versions differ in what they put in.
                (self.rest, self.writes) = (rest, true);
            },
            '#' => self.skip(|sign| sign != '\n'),
            // The rest of the line is the name of a file.
            'w' | 'W' => self.file(),
            's' => {
                let delimiter = self.delimiter()?;
                self.pattern(delimiter)?;
                self.text(delimiter)?;
                self.skip(|sign| FLAGS.contains(sign));
                if self.rest.starts_with('w') {
                    self.file();
                }
            }
            'y' => {
                let delimiter = self.delimiter()?;
                self.text(delimiter)?;
                self.text(delimiter)?;
            }
            _ => return None,
        }
        self.ends().then_some(())
    }

    fn file(&mut self) {
        self.writes = true;
        self.skip(|sign| sign != '\n');
    }

    fn addresses(&mut self) -> Option<()> {
        loop {
            self.skip(|sign| sign.is_ascii_digit() || matches!(sign, ' ' | '$' | ',' | '+' | '~' | '!'));
            let Some(rest) = self.rest.strip_prefix('/') else { return Some(()) };
            self.rest = rest;
            self.pattern('/')?;
            self.skip(|sign| matches!(sign, 'I' | 'M'));
        }
    }

    /// Whether nothing but the end of a command follows.
    fn ends(&mut self) -> bool {
        self.skip(|sign| matches!(sign, ' ' | '\t'));
        self.rest.is_empty() || self.rest.starts_with(['\n', ';', '}'])
    }

    fn delimiter(&mut self) -> Option<char> {
        self.next().filter(|sign| !sign.is_alphanumeric() && !matches!(sign, '\n' | '\\' | '[' | ' '))
    }

    /// A text and the delimiter that ends it.
    fn text(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => drop(self.next()?),
                sign if sign == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    /// A pattern and the delimiter that ends it. For some versions it ends one in brackets too: then the bracket is not
    /// closed, and nothing runs.
    fn pattern(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => drop(self.next()?),
                '[' => self.bracket(delimiter)?,
                sign if sign == delimiter => return Some(()),
                _ => {}
            }
        }
    }

    /// The rest of a set of letters. Versions differ in what a backslash means in it.
    fn bracket(&mut self, delimiter: char) -> Option<()> {
        self.rest = self.rest.strip_prefix('^').unwrap_or(self.rest);
        let first = usize::from(self.rest.starts_with(']'));
        let end = self.rest.get(first..)?.replace("[:", "..").replace(":]", "..").find(']')?.saturating_add(first);
        let (inside, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest.strip_prefix(']')?;
        let unclear = inside.contains('\n') || (inside.contains('\\') && inside.contains(delimiter));
        (!unclear).then_some(())
    }

    fn next(&mut self) -> Option<char> {
        let mut signs = self.rest.chars();
        let sign = signs.next();
        self.rest = signs.as_str();
        sign
    }

    fn skip(&mut self, skipped: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(skipped);
    }
}
