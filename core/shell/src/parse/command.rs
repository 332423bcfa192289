//! Lists, pipelines and simple commands.

use super::{Parsed, Parser};
use crate::tree::{Assignment, Command, Compound, Item, List, Pipeline, Redirection, Simple, Value, Word};

/// A line with more simple commands than this is not read.
const MAX_COMMANDS: usize = 1024;
/// Words that end a list when they stand where a command could.
const CLOSERS: [&str; 8] = ["then", "do", "done", "fi", "elif", "else", "esac", "}"];
/// Words that can only start a construct where a command could stand.
const OPENERS: [&str; 10] = ["if", "while", "until", "for", "select", "case", "function", "{", "[[", "coproc"];
/// Builtins whose arguments may be array assignments.
const DECLARERS: [&str; 5] = ["declare", "typeset", "local", "export", "readonly"];

/// Whether a byte ends an unquoted word.
pub(super) fn is_meta(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

impl Parser<'_> {
    /// Commands up to something that cannot start one.
    pub(super) fn list(&mut self) -> Parsed<List> {
        let mut list = List::default();
        loop {
            self.skip_lines()?;
            if self.at_list_end() {
                return Ok(list);
            }
            let mut item = self.item()?;
            self.skip_blanks();
            let more = match self.peek() {
                Some(b';') if !matches!(self.peek_at(1), Some(b';' | b'&')) => {
                    self.advance(1);
                    self.not_continued()?;
                    true
                }
                Some(b'&') => {
                    self.advance(1);
                    self.not_continued()?;
                    item.background = true;
                    true
                }
                Some(b'\n') => true,
                _ => false,
            };
            list.items.push(item);
            if !more {
                return Ok(list);
            }
        }
    }

    /// Commands that must be at least one.
    pub(super) fn some_list(&mut self) -> Parsed<List> {
        let list = self.list()?;
        if list.items.is_empty() { Err(self.unexpected()) } else { Ok(list) }
    }

    fn at_list_end(&self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b';') => matches!(self.peek_at(1), Some(b';' | b'&')),
            _ => self.keyword().is_some_and(|word| CLOSERS.contains(&word)),
        }
    }

    /// The next token where it consists of plain characters only.
    pub(super) fn keyword(&self) -> Option<&str> {
        let rest = self.rest();
        let end = rest.bytes().position(is_meta).unwrap_or(rest.len());
        rest.get(..end).filter(|word| !word.is_empty() && word.len() <= 8)
    }

    /// Consumes a keyword.
    pub(super) fn eat_keyword(&mut self, word: &str) -> bool {
        let found = self.keyword() == Some(word);
        if found {
            self.advance(word.len());
        }
        found
    }

    /// Consumes a keyword that must be here, after blanks and line breaks.
    pub(super) fn expect_keyword(&mut self, word: &str) -> Parsed<()> {
        self.skip_lines()?;
        if self.eat_keyword(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn item(&mut self) -> Parsed<Item> {
        let mut pipelines = vec![self.pipeline()?];
        let mut ands = Vec::new();
        loop {
            self.skip_blanks();
            let and = self.eat("&&");
            if !and && !self.eat("||") {
                return Ok(Item { pipelines, ands, background: false });
            }
            ands.push(and);
            self.skip_lines()?;
            pipelines.push(self.pipeline()?);
        }
    }

    fn pipeline(&mut self) -> Parsed<Pipeline> {
        let mut negated = false;
        loop {
            self.skip_blanks();
            if self.keyword() == Some("time") {
                self.bash_only("time", self.at)?;
                self.eat_keyword("time");
                self.skip_blanks();
                self.eat_keyword("-p");
            } else if self.eat_keyword("!") {
                negated = true;
            } else {
                break;
            }
        }
        let mut commands = vec![self.command()?];
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'|') || self.peek_at(1) == Some(b'|') {
                return Ok(Pipeline { commands, negated });
            }
            self.advance(1);
            self.not_continued()?;
            if self.peek() == Some(b'&') {
                self.bash_only("|&", self.at)?;
                self.advance(1);
            }
            self.skip_lines()?;
            commands.push(self.command()?);
        }
    }

    pub(super) fn command(&mut self) -> Parsed<Command> {
        self.skip_blanks();
        let start = self.at;
        let opens = self.peek() == Some(b'(') || self.keyword().is_some_and(|word| OPENERS.contains(&word));
        if !opens {
            return self.simple();
        }
        let compound = self.nested(Self::compound)?;
        let function = matches!(compound, Compound::Function { .. } | Compound::Coprocess(_));
        let redirections = if function { Vec::new() } else { self.redirections()? };
        Ok(Command::Compound(Box::new(compound), redirections, self.span(start)))
    }

    pub(super) fn redirections(&mut self) -> Parsed<Vec<Redirection>> {
        let mut found = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirection()? {
                Some(redirection) => found.push(redirection),
                None => return Ok(found),
            }
        }
    }

    fn simple(&mut self) -> Parsed<Command> {
        let start = self.at;
        self.commands = self.commands.saturating_add(1);
        if self.commands > MAX_COMMANDS {
            return self.fail("the line takes too long to judge", start);
        }
        let mut simple = Simple::default();
        let mut end = start;
        loop {
            self.skip_blanks();
            if let Some(redirection) = self.redirection()? {
                simple.redirections.push(redirection);
                end = self.at;
                continue;
            }
            if simple.words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                simple.assignments.push(assignment);
                end = self.at;
                continue;
            }
            let process = matches!(self.peek(), Some(b'<' | b'>')) && self.peek_at(1) == Some(b'(');
            match self.peek() {
                None | Some(b'\n' | b';' | b'&' | b'|' | b')') => break,
                Some(b'(') => return self.after_paren(simple, start),
                Some(byte) if is_meta(byte) && !process => return Err(self.unexpected()),
                Some(_) => self.simple_word(&mut simple)?,
            }
            end = self.at;
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && simple.redirections.is_empty() {
            return Err(self.unexpected());
        }
        simple.span =
            self.base.unwrap_or_else(|| (crate::judge::guard::offset(start), crate::judge::guard::offset(end)));
        Ok(Command::Simple(simple))
    }

    fn simple_word(&mut self, simple: &mut Simple) -> Parsed<()> {
        let start = self.at;
        let word = self.word()?;
        // After an assignment, `time` is the program.
        let is_time = |keyword: &str| keyword == "time" && simple.assignments.is_empty();
        if simple.words.is_empty()
            && let Some(keyword) = word.keyword()
            && (OPENERS.contains(&keyword) || CLOSERS.contains(&keyword) || keyword == "!" || is_time(keyword))
        {
            return self.fail(format!("`{keyword}` is not expected here"), start);
        }
        simple.words.push(word);
        Ok(())
    }

    /// `name ()`: a function; `declare name=(...)`: an array.
    fn after_paren(&mut self, mut simple: Simple, start: usize) -> Parsed<Command> {
        let declares = simple.words.first().and_then(Word::keyword).is_some_and(|word| DECLARERS.contains(&word));
        let assigns = simple.words.last().and_then(Word::keyword).is_some_and(|word| word.ends_with('='));
        if declares && assigns && self.at.checked_sub(1).and_then(|at| self.text.as_bytes().get(at)) == Some(&b'=') {
            let values = self.nested(Self::array)?;
            simple.words.extend(values);
            let rest = self.simple_rest(simple, start)?;
            return Ok(rest);
        }
        let name = match simple.words.as_slice() {
            [word] if simple.assignments.is_empty() && simple.redirections.is_empty() => word.keyword(),
            _ => None,
        };
        let Some(name) = name.map(str::to_owned) else { return Err(self.unexpected()) };
        self.advance(1);
        self.skip_blanks();
        if !self.eat(")") {
            return Err(self.unexpected());
        }
        let compound = self.nested(|parser| parser.function_body(name))?;
        Ok(Command::Compound(Box::new(compound), Vec::new(), self.span(start)))
    }

    fn simple_rest(&mut self, mut simple: Simple, start: usize) -> Parsed<Command> {
        let Command::Simple(rest) = self.simple_tail()? else { return Err(self.unexpected()) };
        simple.words.extend(rest.words);
        simple.redirections.extend(rest.redirections);
        simple.span = self.span(start);
        Ok(Command::Simple(simple))
    }

    fn simple_tail(&mut self) -> Parsed<Command> {
        let mut simple = Simple::default();
        loop {
            self.skip_blanks();
            if let Some(redirection) = self.redirection()? {
                simple.redirections.push(redirection);
                continue;
            }
            match self.peek() {
                None | Some(b'\n' | b';' | b'&' | b'|' | b')') => return Ok(Command::Simple(simple)),
                Some(b'(') => return Err(self.unexpected()),
                Some(_) => simple.words.push(self.word()?),
            }
        }
    }

    fn assignment(&mut self) -> Parsed<Option<Assignment>> {
        let start = self.at;
        let name_length = self.name_length();
        if name_length == 0 {
            return Ok(None);
        }
        let after = self.peek_at(name_length);
        let appends = after == Some(b'+') && self.peek_at(name_length.saturating_add(1)) == Some(b'=');
        if after != Some(b'=') && after != Some(b'[') && !appends {
            return Ok(None);
        }
        let name = self.rest().get(..name_length).unwrap_or("").to_owned();
        self.advance(name_length);
        let index = if after == Some(b'[') { Some(self.subscript()?) } else { None };
        let append = self.eat("+");
        if !self.eat("=") {
            return self.fail("a word that starts like an array element is not read", start);
        }
        if append || index.is_some() || self.peek() == Some(b'(') {
            self.bash_only("+=", start)?;
        }
        let value = if self.peek() == Some(b'(') {
            Value::Array(self.nested(Self::array)?)
        } else {
            let at = self.at;
            let pieces = self.pieces()?;
            Value::Scalar(Word { pieces, span: self.span(at) })
        };
        Ok(Some(Assignment { name, index, value, append, span: self.span(start) }))
    }

    /// How many bytes from here are a variable's name.
    pub(super) fn name_length(&self) -> usize {
        let rest = self.rest();
        if rest.bytes().next().is_none_or(|byte| byte.is_ascii_digit()) {
            return 0;
        }
        rest.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_')).unwrap_or(rest.len())
    }

    /// `(a b c)`, the values of an array.
    fn array(&mut self) -> Parsed<Vec<Word>> {
        self.advance(1);
        let mut values = Vec::new();
        loop {
            self.skip_lines()?;
            match self.peek() {
                Some(b')') => {
                    self.advance(1);
                    return Ok(values);
                }
                Some(byte) if is_meta(byte) && !(matches!(byte, b'<' | b'>') && self.peek_at(1) == Some(b'(')) => {
                    return Err(self.unexpected());
                }
                Some(_) => values.push(self.word()?),
                None => return Err(self.unexpected()),
            }
        }
    }
}
