//! A `sed` script: which commands it has.

use phasegate_core::analysis::{Access, Verdict};

use super::command::{Command, script};
use crate::field::Field;
use crate::finding::Finding;
use crate::walk::Walk;

/// `sed`
pub(super) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let given: Vec<_> = command.values(&["e", "expression"]).collect();
    let mut files = command.scan.operands.iter().copied();
    let scripts =
        if given.is_empty() && !command.has(&["f", "file"]) { files.next().into_iter().collect() } else { given };
    let in_place = command.has(&["i", "in-place", "I"]);
    for file in files {
        walk.touch(file, if in_place { Access::Write } else { Access::Read });
    }
    let mut text = String::new();
    for field in &scripts {
        let Some(part) = script(field) else { return command.doubt(field, "the script") };
        text.push_str(&part);
        text.push('\n');
    }
    let span = scripts.first().map_or(command.span, |field| field.span);
    let mut reader = Reader { rest: &text, written: Vec::new() };
    let mut problem = None;
    while let Some(step) = reader.step() {
        if let Err((verdict, because)) = step {
            problem = Some(Finding::new(verdict, because, span));
            break;
        }
    }
    let files: Vec<Field> = reader.written.iter().map(|file| Field::text(file, span)).collect();
    files.iter().for_each(|file| walk.touch(file, Access::Write));
    let writes = || Finding::new(Verdict::Write, "the `sed` command `w` writes a file", span);
    problem.or_else(|| (!files.is_empty()).then(writes))
}

type Step = Result<(), (Verdict, String)>;

struct Reader<'t> {
    rest: &'t str,
    /// The files that `w` names.
    written: Vec<String>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let character = characters.next()?;
        self.rest = characters.as_str();
        Some(character)
    }

    fn skip(&mut self, skipped: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(skipped);
    }

    /// One command; `None` at the end.
    fn step(&mut self) -> Option<Step> {
        self.skip(|character| character.is_ascii_whitespace() || character == ';' || character == '}');
        self.peek()?;
        Some(self.command())
    }

    fn command(&mut self) -> Step {
        self.addresses()?;
        self.skip(|character| matches!(character, ' ' | '\t' | '!'));
        let Some(command) = self.next() else { return unknown("an address without a command") };
        match command {
            '{' | '}' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => self.end(),
            'q' | 'Q' | 'l' | 'L' => {
                self.skip(|character| character.is_ascii_digit() || character == ' ');
                self.end()
            }
            '#' => {
                self.line();
                Ok(())
            }
            ':' | 'b' | 't' | 'T' | 'v' => self.label(),
            'r' | 'R' => {
                self.line();
                Ok(())
            }
            'a' | 'i' | 'c' => {
                self.text();
                Ok(())
            }
            'y' => {
                self.delimited(2)?;
                self.end()
            }
            's' => {
                self.delimited(2)?;
                self.flags()
            }
            'w' | 'W' => self.file(),
            'e' => Err((Verdict::Execute, "the `sed` command `e` runs a program".to_owned())),
            other => unknown(&format!("`{other}`")),
        }
    }

    /// Nothing but the end of a command may follow.
    fn end(&mut self) -> Step {
        self.skip(|character| matches!(character, ' ' | '\t'));
        match self.peek() {
            None | Some('\n' | ';' | '}' | '{' | '#') => Ok(()),
            // `{p}` and `/a/{...`: a command may follow an opening brace at once.
            Some(_) => self.after_brace(),
        }
    }

    fn after_brace(&mut self) -> Step {
        match self.peek() {
            Some(character)
                if character.is_ascii_alphabetic() || "/$=:\\".contains(character) || character.is_ascii_digit() =>
            {
                Ok(())
            }
            _ => unknown("an unexpected sign"),
        }
    }

    fn addresses(&mut self) -> Step {
        loop {
            self.skip(|character| matches!(character, ' ' | '\t'));
            match self.peek() {
                Some(character) if character.is_ascii_digit() => {
                    self.skip(|character| character.is_ascii_digit() || character == '~');
                }
                Some('$') => {
                    self.next();
                }
                Some('/') => {
                    self.delimited(1)?;
                    self.skip(|character| matches!(character, 'I' | 'M'));
                }
                Some('\\') => {
                    self.next();
                    self.delimited(1)?;
                    self.skip(|character| matches!(character, 'I' | 'M'));
                }
                Some(',' | '+' | '~') => {
                    self.next();
                }
                _ => return Ok(()),
            }
        }
    }

    /// A delimiter and `parts` texts that each end with it.
    fn delimited(&mut self, parts: usize) -> Step {
        let Some(delimiter) = self.next().filter(|delimiter| !matches!(delimiter, '\n' | '\\')) else {
            return unknown("an unexpected delimiter");
        };
        for _ in 0..parts {
            loop {
                match self.next() {
                    None => return unknown("a text that is not closed"),
                    Some('\\') => {
                        self.next();
                    }
                    Some(character) if character == delimiter => break,
                    Some(_) => {}
                }
            }
        }
        Ok(())
    }

    fn flags(&mut self) -> Step {
        loop {
            match self.peek() {
                Some('e') => return Err((Verdict::Execute, "the flag `e` of `s` runs a program".to_owned())),
                Some('w') => {
                    self.next();
                    return self.file();
                }
                Some(flag) if "gpiImM".contains(flag) || flag.is_ascii_digit() => {
                    self.next();
                }
                None | Some('\n' | ';' | '}' | '#') => return Ok(()),
                Some(' ' | '\t') => return self.end_of_flags(),
                Some(other) => return unknown(&format!("the flag `{other}`")),
            }
        }
    }

    fn end_of_flags(&mut self) -> Step {
        self.skip(|character| matches!(character, ' ' | '\t'));
        match self.peek() {
            None | Some('\n' | ';' | '}' | '#') => Ok(()),
            Some(_) => unknown("an unexpected sign after `s`"),
        }
    }

    fn file(&mut self) -> Step {
        let name = self.line();
        let name = name.trim();
        if !matches!(name, "/dev/stdout" | "/dev/stderr" | "/dev/null") {
            self.written.push(name.to_owned());
        }
        Ok(())
    }

    /// A label or a version: it ends at a blank, and a command may follow at once.
    fn label(&mut self) -> Step {
        self.skip(|character| matches!(character, ' ' | '\t'));
        let end = self
            .rest
            .find(|character: char| character.is_ascii_whitespace() || character == ';')
            .unwrap_or(self.rest.len());
        let (label, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        self.rest = rest;
        // Whether a brace ends a label differs between implementations.
        if label.trim_end_matches('}').contains('}') { unknown("a brace in a label") } else { Ok(()) }
    }

    fn line(&mut self) -> String {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        let line = self.rest.get(..end).unwrap_or("").to_owned();
        self.rest = self.rest.get(end..).unwrap_or("");
        line
    }

    /// The text of `a`, `i` and `c`: up to a line break that no backslash hides.
    fn text(&mut self) {
        self.skip(|character| matches!(character, ' ' | '\t'));
        if self.peek() == Some('\\') {
            self.next();
            self.skip(|character| matches!(character, ' ' | '\t'));
            if self.peek() == Some('\n') {
                self.next();
            }
        }
        loop {
            match self.next() {
                None | Some('\n') => return,
                Some('\\') => {
                    self.next();
                }
                Some(_) => {}
            }
        }
    }
}

fn unknown(what: &str) -> Step {
    Err((Verdict::Unknown, format!("the `sed` script has {what} that is not known to be harmless")))
}
