//! The words of a text of rules.

use super::syntax::{Mistake, Spot};

/// A word, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) word: Word,
    pub(super) at: Spot,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Name(String),
    /// Without its `$`.
    Variable(String),
    /// What is larger than fits is `u64::MAX`, which no rule may say.
    Number(u64),
    Text(String),
    Sign(&'static str),
    End,
}

const SIGNS: [&str; 19] =
    ["->", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "{", "}", "(", ")", ",", ".", ":"];

/// A text that is read from its beginning.
struct Reader<'t> {
    rest: &'t str,
    at: Spot,
}

impl<'t> Reader<'t> {
    /// Reads on while the letters are such ones.
    fn read(&mut self, is_one: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|letter| !is_one(letter)).unwrap_or(self.rest.len());
        let (read, rest) = self.rest.split_at(end);
        for letter in read.chars() {
            match letter {
                '\n' => self.at = Spot { line: self.at.line + 1, column: 1 },
                _ => self.at.column += 1,
            }
        }
        self.rest = rest;
        read
    }

    fn eat(&mut self, sign: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(sign) else { return false };
        self.rest = rest;
        self.at.column += sign.chars().count();
        true
    }

    fn word(&mut self) -> Result<Word, Mistake> {
        let at = self.at;
        let of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        match self.rest.chars().next() {
            None => Ok(Word::End),
            Some(letter) if letter.is_ascii_alphabetic() => Ok(Word::Name(self.read(of_name).to_owned())),
            Some(letter) if letter.is_ascii_digit() => {
                Ok(Word::Number(self.read(|letter| letter.is_ascii_digit()).parse().unwrap_or(u64::MAX)))
            }
            Some('"') => {
                self.eat("\"");
                let text = self.read(|letter| letter != '"' && letter != '\n').to_owned();
                if self.eat("\"") { Ok(Word::Text(text)) } else { Err(Mistake::syntax("the text has no end", at)) }
            }
            Some('$') => {
                self.eat("$");
                match self.rest.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
                    true => Ok(Word::Variable(self.read(of_name).to_owned())),
                    false => Err(Mistake::syntax("the name of a variable is expected after `$`", at)),
                }
            }
            Some(letter) => match SIGNS.into_iter().find(|sign| self.eat(sign)) {
                Some(sign) => Ok(Word::Sign(sign)),
                None => Err(Mistake::syntax(format!("`{letter}` means nothing in these rules"), at)),
            },
        }
    }
}

/// All words, the end as the last one.
pub(super) fn words(text: &str) -> Result<Vec<Token>, Mistake> {
    let mut reader = Reader { rest: text, at: Spot { line: 1, column: 1 } };
    let mut found = Vec::new();
    loop {
        reader.read(char::is_whitespace);
        let at = reader.at;
        let word = reader.word()?;
        let is_end = word == Word::End;
        found.push(Token { word, at });
        if is_end {
            return Ok(found);
        }
    }
}
