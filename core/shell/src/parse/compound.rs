//! Groups, loops, conditions, functions, `[[ ]]` and `(( ))`.

use super::command::is_meta;
use super::{Parsed, Parser};
use crate::tree::{Command, Compound, List, Piece, Word};

impl Parser<'_> {
    pub(super) fn compound(&mut self) -> Parsed<Compound> {
        if self.starts("((") {
            self.bash_only("((", self.at)?;
            self.advance(2);
            return Ok(Compound::Arithmetic(self.arithmetic("))")?));
        }
        if self.eat("(") {
            self.not_continued()?;
            let list = self.some_list()?;
            return self.close(")").map(|()| Compound::Subshell(list));
        }
        let keyword = self.keyword().unwrap_or("").to_owned();
        if matches!(keyword.as_str(), "select" | "function" | "[[" | "coproc") {
            self.bash_only(&keyword, self.at)?;
        }
        self.advance(keyword.len());
        match keyword.as_str() {
            "{" => {
                let list = self.some_list()?;
                self.expect_keyword("}")?;
                Ok(Compound::Group(list))
            }
            "if" => self.conditional(),
            "while" | "until" => {
                let condition = self.some_list()?;
                let body = self.do_group()?;
                Ok(Compound::Branches(vec![condition, body]))
            }
            "for" => self.for_loop(),
            "select" => self.for_words(true),
            "case" => self.case(),
            "function" => self.function(),
            "[[" => self.test(),
            "coproc" => self.coprocess(),
            _ => Err(self.unexpected()),
        }
    }

    fn close(&mut self, text: &str) -> Parsed<()> {
        self.skip_blanks();
        if self.eat(text) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn do_group(&mut self) -> Parsed<List> {
        self.expect_keyword("do")?;
        let body = self.some_list()?;
        self.expect_keyword("done")?;
        Ok(body)
    }

    fn conditional(&mut self) -> Parsed<Compound> {
        let mut branches = vec![self.some_list()?];
        self.expect_keyword("then")?;
        branches.push(self.some_list()?);
        loop {
            self.skip_lines()?;
            if self.eat_keyword("elif") {
                branches.push(self.some_list()?);
                self.expect_keyword("then")?;
                branches.push(self.some_list()?);
            } else if self.eat_keyword("else") {
                branches.push(self.some_list()?);
            } else {
                self.expect_keyword("fi")?;
                return Ok(Compound::Branches(branches));
            }
        }
    }

    fn for_loop(&mut self) -> Parsed<Compound> {
        self.skip_blanks();
        let start = self.at;
        if !self.eat("((") {
            return self.for_words(false);
        }
        self.bash_only("for ((", start)?;
        let header = self.arithmetic("))")?;
        let separators = header.pieces.iter().map(|piece| match piece {
            Piece::Text { text, .. } => text.matches(';').count(),
            _ => 0,
        });
        if separators.sum::<usize>() != 2 {
            return self.fail("`for ((` wants three expressions, separated by `;`", start);
        }
        self.skip_blanks();
        self.eat(";");
        self.skip_lines()?;
        let body = self.loop_body()?;
        Ok(Compound::ArithmeticFor { header, body })
    }

    /// What a `for` repeats: `do ... done`, or a list in braces.
    fn loop_body(&mut self) -> Parsed<List> {
        if !self.eat_keyword("{") {
            return self.do_group();
        }
        let list = self.some_list()?;
        self.expect_keyword("}")?;
        Ok(list)
    }

    fn for_words(&mut self, select: bool) -> Parsed<Compound> {
        self.skip_blanks();
        let length = self.name_length();
        if length == 0 || self.peek_at(length).is_some_and(|byte| !is_meta(byte)) {
            return Err(self.unexpected());
        }
        let name = self.rest().get(..length).unwrap_or("").to_owned();
        self.advance(length);
        self.skip_blanks();
        let bare = self.eat(";");
        self.skip_lines()?;
        let mut words = None;
        if !bare && self.eat_keyword("in") {
            let mut found = Vec::new();
            loop {
                self.skip_blanks();
                match self.peek() {
                    Some(b';') => {
                        self.advance(1);
                        break;
                    }
                    Some(b'\n') => break,
                    Some(byte) if is_meta(byte) && !self.at_process() => return Err(self.unexpected()),
                    Some(_) => found.push(self.word()?),
                    None => return Err(self.unexpected()),
                }
            }
            words = Some(found);
        }
        self.skip_lines()?;
        let body = self.loop_body()?;
        Ok(Compound::For { name, words, body, select })
    }

    fn at_process(&self) -> bool {
        matches!(self.peek(), Some(b'<' | b'>')) && self.peek_at(1) == Some(b'(')
    }

    fn case(&mut self) -> Parsed<Compound> {
        self.skip_blanks();
        let subject = self.word()?;
        self.expect_keyword("in")?;
        let mut arms = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat_keyword("esac") {
                return Ok(Compound::Case { subject, arms });
            }
            self.eat("(");
            let mut patterns = Vec::new();
            loop {
                self.skip_blanks();
                patterns.push(self.word()?);
                self.skip_blanks();
                if !self.eat("|") {
                    break;
                }
            }
            self.close(")")?;
            arms.push((patterns, self.list()?));
            self.skip_lines()?;
            if self.starts(";;&") || self.starts(";&") {
                self.bash_only(";&", self.at)?;
            }
            if self.eat(";;&") || self.eat(";;") || self.eat(";&") {
                continue;
            }
            self.expect_keyword("esac")?;
            return Ok(Compound::Case { subject, arms });
        }
    }

    fn function(&mut self) -> Parsed<Compound> {
        self.skip_blanks();
        let word = self.word()?;
        let Some(name) = word.keyword().map(str::to_owned) else { return Err(self.unexpected()) };
        self.skip_blanks();
        if self.eat("(") {
            self.close(")")?;
        }
        self.function_body(name)
    }

    pub(super) fn function_body(&mut self, name: String) -> Parsed<Compound> {
        self.skip_lines()?;
        match self.command()? {
            Command::Simple(_) => Err(self.unexpected()),
            body @ Command::Compound(..) => Ok(Compound::Function { name, body }),
        }
    }

    fn coprocess(&mut self) -> Parsed<Compound> {
        self.skip_blanks();
        Ok(Compound::Coprocess(self.command()?))
    }

    /// `[[ ... ]]` as its words; operators are unquoted text.
    fn test(&mut self) -> Parsed<Compound> {
        let mut words: Vec<Word> = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat_keyword("]]") {
                return if words.is_empty() { Err(self.unexpected()) } else { Ok(Compound::Test(words)) };
            }
            let start = self.at;
            let operator = ["&&", "||", "(", ")", "<", ">"].into_iter().find(|operator| self.starts(operator));
            if let Some(operator) = operator.filter(|_| !self.at_process()) {
                self.advance(operator.len());
                let pieces = vec![Piece::Text { text: operator.to_owned(), quoted: false }];
                words.push(Word { pieces, span: self.span(start) });
                continue;
            }
            match self.peek() {
                None => return Err(self.unexpected()),
                Some(byte) if is_meta(byte) && !self.at_process() => return Err(self.unexpected()),
                Some(_) => {}
            }
            let regex = words.last().and_then(Word::keyword) == Some("=~");
            let word = if regex { self.regex()? } else { self.word()? };
            words.push(word);
        }
    }
}
