//! A `sed` script: which commands it has.

use std::collections::BTreeSet;

use phasegate_core::analysis::{Access, Verdict};

use super::command::Command;
use super::output::last_name;
use super::program_text;
use super::replace::copy;
use crate::field::Field;
use crate::finding::{Finding, keep_worse};
use crate::script::{self, Doubt, Script};
use crate::walk::Walk;

/// `sed`
pub(super) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let given: Vec<_> = command.values(&["e", "expression"]).collect();
    let mut files = command.scan.operands.iter().copied();
    let scripts =
        if given.is_empty() && !command.has(&["f", "file"]) { files.next().into_iter().collect() } else { given };
    let in_place = command.has(&["i", "in-place", "I"]);
    let endings: Vec<&Field> = command.values(&["i", "in-place", "I"]).collect();
    for file in files {
        walk.touch(file, if in_place { Access::Write } else { Access::Read });
        for copy in endings.iter().flat_map(|ending| copies(file, ending)) {
            walk.touch(&copy, Access::Write);
        }
    }
    let made = scripts.iter().find(|field| Script::of([**field]).doubt > Doubt::Nothing);
    let made = made.and_then(|field| command.doubt(field, "the script"));
    let scripts: Vec<Script> = scripts.iter().map(|field| Script::of([*field])).collect();
    let text: String = scripts.iter().flat_map(|script| [script.text.as_str(), "\n"]).collect();
    let span = scripts.first().map_or(command.span, |field| field.span);
    let Read { problem, mut written, read: files_read, mut run } = read(&text, true);
    files_read.iter().for_each(|file| walk.touch(&script::field(file, span), Access::Read));
    let other = read(&text, false);
    written.extend(other.written);
    run.extend(other.run);
    if !run.is_empty() {
        // It runs the text as that is then: what the script says of it, and more.
        walk.touch(&Field { many: false, ..Field::any(span) }, Access::Write);
    }
    for line in run {
        program_text::judge(walk, &Script { doubt: Doubt::Nothing, ..Script::of([&script::field(&line, span)]) });
    }
    let files: Vec<Field> = written.iter().map(|file| script::field(file, span)).collect();
    files.iter().for_each(|file| walk.touch(file, Access::Write));
    let writes = || (Verdict::Write, "the `sed` command `w` writes a file".to_owned());
    let found = problem.or(other.problem).or_else(|| (!files.is_empty()).then(writes));
    let found = found.map(|(verdict, because)| Finding::new(verdict, because, span));
    let Some(mut worst) = made else { return found };
    found.into_iter().for_each(|found| keep_worse(&mut worst, found));
    Some(worst)
}

/// The names that the copy of a file may have: an ending with a folder is seen from the folder that the program runs in.
fn copies(file: &Field, ending: &Field) -> Vec<Field> {
    let Some(text) = ending.known() else { return vec![Field { many: false, ..Field::any(ending.span) }] };
    let named = file.known().filter(|_| text.contains('/')).map(|path| Field::text(last_name(path), file.span));
    [Some(file), named.as_ref()].into_iter().flatten().filter_map(|file| copy(file, text)).collect()
}

/// What a script does.
struct Read {
    /// What is worse than reading.
    problem: Option<(Verdict, String)>,
    /// The files that `w` names.
    written: Vec<String>,
    /// The files that `r` names.
    read: Vec<String>,
    /// The lines that `e` runs.
    run: BTreeSet<String>,
}

/// Reads a script. In brackets of a pattern the delimiter is a letter
/// for some versions (`s/[/]/x/`), and ends the pattern for others.
fn read(text: &str, brackets: bool) -> Read {
    let mut reader =
        Reader { rest: text, written: Vec::new(), read: Vec::new(), run: BTreeSet::new(), brackets, broken: false };
    let mut problem = None;
    while let Some(step) = reader.step() {
        if let Err(found) = step {
            problem = Some(found);
            break;
        }
        if reader.broken {
            // A pattern that cannot be compiled ends the program before anything runs.
            break;
        }
    }
    Read { problem, written: reader.written, read: reader.read, run: reader.run }
}

type Step = Result<(), (Verdict, String)>;

struct Reader<'t> {
    rest: &'t str,
    /// The files that `w` names.
    written: Vec<String>,
    /// The files that `r` names.
    read: Vec<String>,
    /// The lines that `e` runs.
    run: BTreeSet<String>,
    /// Whether the delimiter is a letter inside brackets.
    brackets: bool,
    /// Whether a pattern has a bracket that is not closed.
    broken: bool,
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
                let file = self.line();
                self.read.push(file.trim().to_owned());
                Ok(())
            }
            'a' | 'i' | 'c' => {
                self.text();
                Ok(())
            }
            'y' => {
                let delimiter = self.delimiter()?;
                self.text_to(delimiter)?;
                self.text_to(delimiter)?;
                self.end()
            }
            's' => {
                let delimiter = self.delimiter()?;
                self.pattern(delimiter)?;
                let before = self.rest;
                let replaced = self.text_to(delimiter);
                let end = before.len().saturating_sub(self.rest.len()).saturating_sub(delimiter.len_utf8());
                let rest = replaced.and_then(|()| self.flags());
                if matches!(rest, Err((Verdict::Execute, _))) {
                    self.run.insert(before.get(..end).unwrap_or_default().replace("\\/", "/"));
                }
                if self.broken { Ok(()) } else { rest }
            }
            'w' | 'W' => self.file(),
            'e' => {
                let line = self.line();
                self.run.insert(line);
                Err((Verdict::Execute, "the `sed` command `e` runs a program".to_owned()))
            }
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
                Some(start @ ('/' | '\\')) => {
                    if start == '\\' {
                        self.next();
                    }
                    let delimiter = self.delimiter()?;
                    self.pattern(delimiter)?;
                    if self.broken {
                        self.rest = "#";
                        return Ok(());
                    }
                    self.skip(|character| matches!(character, 'I' | 'M'));
                }
                Some(',' | '+' | '~') => {
                    self.next();
                }
                _ => return Ok(()),
            }
        }
    }

    fn delimiter(&mut self) -> Result<char, (Verdict, String)> {
        match self.next() {
            Some(delimiter) if !matches!(delimiter, '\n' | '\\') => Ok(delimiter),
            _ => Err(unknown_sign("an unexpected delimiter")),
        }
    }

    /// A text and the delimiter that ends it.
    fn text_to(&mut self, delimiter: char) -> Step {
        loop {
            match self.next() {
                None => return unknown("a text that is not closed"),
                Some('\\') => {
                    self.next();
                }
                Some(character) if character == delimiter => return Ok(()),
                Some(_) => {}
            }
        }
    }

    /// A pattern and the delimiter that ends it.
    fn pattern(&mut self, delimiter: char) -> Step {
        loop {
            let before = self.rest;
            match self.next() {
                None => return unknown("a text that is not closed"),
                Some('\\') => {
                    self.next();
                }
                Some(character) if character == delimiter => return Ok(()),
                // One that is broken already stays so.
                Some('[') if self.broken => {}
                Some('[') => match bracket(before) {
                    Some(length) => {
                        let inside = before.get(1..length).unwrap_or("");
                        if inside.contains('\\') && inside.contains(delimiter) {
                            return unknown("a backslash and the delimiter in brackets");
                        }
                        if self.brackets || !inside.contains(delimiter) {
                            self.rest = before.get(length..).unwrap_or("");
                        } else {
                            self.broken = true;
                        }
                    }
                    None if self.brackets => return unknown("a bracket that is not closed"),
                    None => self.broken = true,
                },
                Some(_) => {}
            }
        }
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

/// How many bytes of a text that starts with `[` are one set of letters; none if it is not closed on its line.
fn bracket(text: &str) -> Option<usize> {
    let mut at = 1_usize;
    at = at.saturating_add(usize::from(text.get(at..)?.starts_with('^')));
    at = at.saturating_add(usize::from(text.get(at..)?.starts_with(']')));
    loop {
        let rest = text.get(at..)?;
        let next = rest.chars().next().filter(|next| *next != '\n')?;
        let class = ["[:", "[.", "[="].into_iter().find(|class| rest.starts_with(class));
        if let Some(class) = class {
            let end = format!("{}]", class.get(1..)?);
            at = at.saturating_add(rest.get(2..)?.find(&end)?).saturating_add(4);
        } else {
            at = at.saturating_add(next.len_utf8());
            if next == ']' {
                return Some(at);
            }
        }
    }
}

fn unknown(what: &str) -> Step {
    Err(unknown_sign(what))
}

fn unknown_sign(what: &str) -> (Verdict, String) {
    (Verdict::Unknown, format!("the `sed` script has {what} that is not known to be harmless"))
}
