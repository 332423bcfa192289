//! An `awk` program: whether it writes, pipes or runs anything.

use phasegate_core::analysis::{Access, Verdict};

use super::command::Command;
use crate::arguments::Given;
use crate::field::{Bit, Field};
use crate::finding::{Finding, keep_worse};
use crate::guard::is_sign;
use crate::script::{Doubt, Script};
use crate::walk::Walk;

/// `awk`
pub(super) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let given: Vec<_> = command.values(&["e", "source"]).collect();
    let mut operands = command.scan.operands.iter().copied();
    let programs = if given.is_empty() && !command.has(&["f", "file", "E", "exec", "version", "V", "help", "h", "W"]) {
        operands.next().into_iter().collect()
    } else {
        given
    };
    let assigned = command.values(&["v", "assign"]);
    if let Some(place) = assigned.chain(operands.clone()).find(|field| may_connect(field)) {
        return Some(Finding::new(Verdict::Send, "a file under `/inet` is a connection", place.span));
    }
    if let Some(finding) = foreign(command) {
        return Some(finding);
    }
    let is_inplace = |field: &Field| field.known().is_none_or(|name| name.contains("inplace"));
    let in_place = command.values(&["i", "include"]).any(is_inplace);
    for operand in operands {
        walk.touch(operand, if in_place { Access::Write } else { Access::Read });
    }
    // A statement may go on in the next of several programs.
    let field = programs.first()?;
    let scripts: Vec<Script> = programs.iter().map(|field| Script::of([*field])).collect();
    let whole: String = scripts.iter().flat_map(|script| [script.text.as_str(), "\n"]).collect();
    let made = scripts.iter().any(|script| script.doubt > Doubt::Nothing).then(|| command.doubt(field, "the program"));
    let Err((verdict, because)) = read(&whole) else { return made.flatten() };
    walk.say_code(&whole, field.span);
    // Which file that is, the program computes.
    walk.touch(&Field { many: false, ..Field::any(field.span) }, Access::Write);
    let mut worst = Finding::new(verdict, because, field.span);
    made.flatten().into_iter().for_each(|made| keep_worse(&mut worst, made));
    Some(worst)
}

/// Whether an operand or the value of a variable can be a file that `gawk` takes for a connection.
fn may_connect(field: &Field) -> bool {
    let mut text = String::new();
    for bit in &field.bits {
        match bit {
            Bit::Text(known) => text.push_str(known),
            Bit::Any | Bit::Settings | Bit::Tree => text.push('\0'),
            _ => text.push('\u{1}'),
        }
    }
    names_connection(&text) || "/inet".starts_with(text.split('\0').next().unwrap_or("")) && text.contains('\0')
}

/// Whether a text has the place of connections in it, however many hexadecimal digits an escape has.
fn names_connection(text: &str) -> bool {
    [2, 8].into_iter().any(|most| unescaped(text, most).contains("/inet"))
}

/// A text with its escapes resolved: octal and hexadecimal numbers, and letters that stand for themselves.
fn unescaped(text: &str, most: usize) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let hexadecimal = after.strip_prefix(['x', 'u']);
        let (digits, radix, most) = hexadecimal.map_or((after, 8, 3), |digits| (digits, 16, most));
        let length = digits.chars().take(most).take_while(|digit| digit.is_digit(radix)).count();
        let value = u32::from_str_radix(digits.get(..length).unwrap_or(""), radix).ok();
        let value = value.and_then(|value| char::from_u32(value & 0xff));
        rest = match value {
            Some(letter) => {
                plain.push(letter);
                digits.get(length..).unwrap_or("")
            }
            None => {
                let first = after.chars().next();
                plain.push(first.filter(|letter| !"ntrabfv".contains(*letter)).unwrap_or(' '));
                after.get(first.map_or(0, char::len_utf8)..).unwrap_or("")
            }
        };
    }
    plain.push_str(rest);
    plain
}

/// An option that only `gawk` knows. Others take the word after it for the program.
fn foreign(command: &Command<'_>) -> Option<Finding> {
    if command.name == "gawk" || command.has(&["version", "V", "help", "h"]) {
        return None;
    }
    let known = |given: &&Given| !matches!(given.name.as_str(), "F" | "v");
    let odd = command.scan.options.iter().find(known)?;
    Some(Finding::new(Verdict::Unknown, "only `gawk` has this option", odd.span))
}

type Found = Result<(), (Verdict, String)>;

/// Words after which a `/` starts a pattern.
const BEFORE_PATTERN: [&str; 10] =
    ["print", "printf", "return", "in", "else", "do", "case", "exit", "delete", "getline"];

struct Reader<'t> {
    rest: &'t str,
    /// Whether the last token ends a value, so that `/` divides.
    value: bool,
    /// Whether that is not sure.
    unsure: bool,
    depth: usize,
    /// The depth of the current `print`.
    print: Option<usize>,
    /// Whether the last token lets a statement go on after a line break.
    goes_on: bool,
    /// Whether `<` after the tokens so far is where `getline` reads from.
    reads: bool,
}

fn read(program: &str) -> Found {
    let texts: String = program.split('"').skip(1).step_by(2).collect();
    if names_connection(&texts) {
        return Err((Verdict::Send, "the `awk` program opens a connection".to_owned()));
    }
    if gives_files(program) {
        return Err((Verdict::Unknown, "the `awk` program gives `ARGV` files to read".to_owned()));
    }
    let mut reader =
        Reader { rest: program, value: false, unsure: false, depth: 0, print: None, goes_on: false, reads: false };
    while !reader.rest.is_empty() {
        reader.token()?;
    }
    if reader.unsure {
        let single = program.replace("||", "  ").contains('|');
        if single || program.contains("system") || program.contains(['>', '@']) {
            return Err((Verdict::Unknown, "the `awk` program cannot be told apart for sure".to_owned()));
        }
    }
    Ok(())
}

/// Whether a program names the list of files other than to compare with it.
fn gives_files(program: &str) -> bool {
    let texts: Vec<&str> = program.split("ARGV").collect();
    texts.windows(2).any(|pair| {
        let [before, after] = pair else { return false };
        let index = after.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let rest = index.map_or("", |(_, rest)| rest).trim_start();
        let compared = rest.starts_with("==") || before.trim_end().ends_with("==");
        let assigned = rest.starts_with('=') && !rest.starts_with("==");
        index.is_none() || !compared || assigned
    })
}

impl Reader<'_> {
    fn advance(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or("");
    }

    fn token(&mut self) -> Found {
        let Some(first) = self.rest.chars().next() else { return Ok(()) };
        let went_on = std::mem::replace(&mut self.goes_on, false);
        if self.passes(first, went_on) {
            self.goes_on = went_on;
            return Ok(());
        }
        match first {
            '"' => self.string()?,
            '/' if !self.value => self.pattern()?,
            '\n' | ';' | '}' | '{' => {
                self.print = None;
                self.reads = false;
                self.sign(1);
            }
            '(' | '[' => {
                self.depth = self.depth.saturating_add(1);
                self.sign(1);
            }
            ')' | ']' => {
                self.depth = self.depth.saturating_sub(1);
                self.advance(1);
                self.value = true;
                // After `if (x)` a pattern may follow, after `(x)` a division.
                self.unsure |= first == ')' && self.rest.trim_start().starts_with('/');
            }
            '|' | '&' if self.rest.starts_with("||") || self.rest.starts_with("&&") => {
                self.goes_on = true;
                self.sign(2);
            }
            '|' => return Err((Verdict::Execute, "the `awk` program pipes to or from a command".to_owned())),
            '@' => {
                let because = "the `awk` program loads code or calls a function by a text";
                return Err((Verdict::Execute, because.to_owned()));
            }
            '>' => self.greater()?,
            '+' | '-' if self.rest.starts_with("++") || self.rest.starts_with("--") => {
                self.advance(2);
                self.unsure |= self.rest.trim_start().starts_with('/');
            }
            character if character.is_ascii_alphabetic() || character == '_' => self.word()?,
            character if character.is_ascii_digit() || character == '.' => self.number(),
            '<' if std::mem::take(&mut self.reads) => self.source()?,
            // A hole may be a value, and anything else.
            hole if is_sign(hole) => {
                self.advance(hole.len_utf8());
                self.value = true;
                self.unsure |= self.rest.trim_start().starts_with('/');
            }
            other => {
                // No version ends a statement after an operator.
                self.goes_on = true;
                self.sign(other.len_utf8());
            }
        }
        Ok(())
    }

    /// Consumes a sign after which a value may follow.
    fn sign(&mut self, bytes: usize) {
        self.advance(bytes);
        self.value = false;
    }

    /// Consumes what is no token: blanks, comments, and line breaks that end nothing.
    fn passes(&mut self, first: char, went_on: bool) -> bool {
        match first {
            ' ' | '\t' | '\r' => self.advance(1),
            '\n' if went_on || self.print.is_some_and(|depth| self.depth > depth) => self.advance(1),
            '\\' => self.advance(1_usize.saturating_add(self.rest.chars().nth(1).map_or(0, char::len_utf8))),
            '#' => self.advance(self.rest.find('\n').unwrap_or(self.rest.len())),
            _ => return false,
        }
        true
    }

    fn number(&mut self) {
        let end =
            self.rest.find(|next: char| !(next.is_ascii_alphanumeric() || next == '.')).unwrap_or(self.rest.len());
        self.advance(end);
        self.value = true;
    }

    fn word(&mut self) -> Found {
        let end =
            self.rest.find(|next: char| !(next.is_ascii_alphanumeric() || next == '_')).unwrap_or(self.rest.len());
        let word = self.rest.get(..end).unwrap_or("").to_owned();
        self.advance(end);
        if matches!(word.as_str(), "system" | "SYSTEM") {
            return Err((Verdict::Execute, "the `awk` function `system` runs a program".to_owned()));
        }
        if word == "getline" {
            self.reads = true;
            // A division or a pattern may follow.
            self.unsure |= self.rest.trim_start().starts_with('/');
        }
        if word == "print" || word == "printf" {
            self.print = Some(self.depth);
        }
        self.value = !BEFORE_PATTERN.contains(&word.as_str());
        Ok(())
    }

    /// Where `getline` reads from.
    fn source(&mut self) -> Found {
        self.advance(1);
        self.value = false;
        let known = self.rest.trim_start_matches([' ', '\t']).starts_with('"');
        if known {
            return Ok(());
        }
        Err((Verdict::Unknown, "`getline` in the `awk` program reads a file that only its run shows".to_owned()))
    }

    fn greater(&mut self) -> Found {
        let compares = self.rest.starts_with(">=");
        if !compares && self.print == Some(self.depth) {
            let target = self.rest.trim_start_matches('>').trim_start();
            let harmless = ["\"/dev/stderr\"", "\"/dev/stdout\"", "\"/dev/null\"", "\"/dev/tty\""].iter().any(|name| {
                target
                    .strip_prefix(name)
                    .is_some_and(|rest| rest.trim_start_matches([' ', '\t']).starts_with(['}', ';', '\n']))
            });
            if !harmless {
                return Err((Verdict::Write, "`>` in the `awk` program writes a file".to_owned()));
            }
        }
        self.advance(if compares { 2 } else { 1 });
        self.value = false;
        Ok(())
    }

    fn string(&mut self) -> Found {
        let mut escaped = false;
        for (at, character) in self.rest.char_indices().skip(1) {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    let network = self.rest.get(..at).is_some_and(|text| text.contains("/inet"));
                    if network {
                        return Err((Verdict::Send, "the `awk` program opens a connection".to_owned()));
                    }
                    self.advance(at.saturating_add(1));
                    self.value = true;
                    return Ok(());
                }
                '\n' => break,
                _ => {}
            }
        }
        Err((Verdict::Unknown, "a text in the `awk` program is not closed".to_owned()))
    }

    fn pattern(&mut self) -> Found {
        let mut escaped = false;
        let mut bracket = false;
        for (at, character) in self.rest.char_indices().skip(1) {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '[' => bracket = true,
                ']' => bracket = false,
                '/' => {
                    // Whether `/` ends a pattern inside brackets differs between implementations.
                    self.unsure |= bracket;
                    if bracket {
                        continue;
                    }
                    self.advance(at.saturating_add(1));
                    self.value = true;
                    return Ok(());
                }
                '\n' => break,
                _ => {}
            }
        }
        Err((Verdict::Unknown, "a pattern in the `awk` program is not closed".to_owned()))
    }
}
