//! A Python text to its tree: a strict subset of the grammar. Anything else is in doubt.

mod expression;
mod literal;
mod operand;
mod simple;
mod statement;

use super::doubt::Doubt;
use super::token::{Token, tokens};
use super::tree::{Block, Expr};

/// How deep expressions and blocks may be nested.
const MAX_DEPTH: usize = 40;

const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// How many tokens a text may have, so that the longest line takes at most 3 ms. What people write has about 5,000 in
/// 16 KiB.
const MAX_TOKENS: usize = 8_000;

/// Parses a whole text.
pub(super) fn parse(text: &str) -> Result<Block, Doubt> {
    let tokens = tokens(text, false)?;
    if tokens.len() > MAX_TOKENS {
        return Err(Doubt::new("the Python text has too many tokens"));
    }
    let mut parser = Parser { tokens, at: 0, depth: 0 };
    let mut block = Block::new();
    while *parser.peek() != Token::End {
        parser.statement(&mut block)?;
    }
    Ok(block)
}

/// Parses an expression within an f-string.
fn parse_value(text: &str, depth: usize) -> Result<Expr, Doubt> {
    let mut parser = Parser { tokens: tokens(text, true)?, at: 0, depth };
    let value = parser.deeper(Parser::values)?;
    if *parser.peek() == Token::End { Ok(value) } else { Err(odd()) }
}

fn odd() -> Doubt {
    Doubt::new("the Python text has a form that is not read")
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).unwrap_or(&Token::End)
    }

    fn peek_second(&self) -> &Token {
        self.tokens.get(self.at.saturating_add(1)).unwrap_or(&Token::End)
    }

    fn skip(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    fn sees(&self, operator: &str) -> bool {
        matches!(self.peek(), Token::Operator(found) if *found == operator)
    }

    fn sees_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(found) if found == word)
    }

    fn takes(&mut self, operator: &str) -> bool {
        let found = self.sees(operator);
        if found {
            self.skip();
        }
        found
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let found = self.sees_word(word);
        if found {
            self.skip();
        }
        found
    }

    fn wants(&mut self, operator: &str) -> Result<(), Doubt> {
        if self.takes(operator) { Ok(()) } else { Err(odd()) }
    }

    fn wants_word(&mut self, word: &str) -> Result<(), Doubt> {
        if self.takes_word(word) { Ok(()) } else { Err(odd()) }
    }

    /// A name that is no keyword.
    fn name(&mut self) -> Result<String, Doubt> {
        let Token::Name(name) = self.peek() else { return Err(odd()) };
        let name = name.clone();
        match name.as_str() {
            "class" => return Err(Doubt::new("the Python text defines a class")),
            keyword if KEYWORDS.contains(&keyword) => return Err(odd()),
            _ => {}
        }
        self.skip();
        Ok(name)
    }

    /// Parses something nested.
    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, Doubt>) -> Result<T, Doubt> {
        if self.depth >= MAX_DEPTH {
            return Err(Doubt::new("the Python text nests too deep"));
        }
        self.depth = self.depth.saturating_add(1);
        let result = inner(self);
        self.depth = self.depth.saturating_sub(1);
        result
    }
}
