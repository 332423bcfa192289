//! The tokens of a Python text. What differs between versions of Python, or is rare, is not read.

use super::doubt::Doubt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name or a keyword.
    Name(String),
    Number,
    Quoted(Quoted),
    Operator(&'static str),
    Newline,
    Indent,
    Dedent,
    End,
}

/// A text in quotes, as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Quoted {
    pub(super) body: String,
    pub(super) quote: char,
    pub(super) raw: bool,
    pub(super) bytes: bool,
    pub(super) formatted: bool,
    pub(super) triple: bool,
}

/// Longer ones first.
const OPERATORS: [&str; 47] = [
    "**=", "//=", ">>=", "<<=", "...", "!=", "->", ":=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", "==",
    "<=", ">=", "<<", ">>", "**", "//", "+", "-", "*", "/", "%", "&", "|", "^", "@", "~", "<", ">", "=", "(", ")", "[",
    "]", "{", "}", ",", ":", ".", ";",
];

/// The tokens of a whole text, or of an expression `within` brackets, where lines do not end.
pub(super) fn tokens(text: &str, within: bool) -> Result<Vec<Token>, Doubt> {
    let mut lexer =
        Lexer { rest: text, within, brackets: Vec::new(), indents: vec![0], found: Vec::new(), fresh: !within };
    lexer.run()?;
    Ok(lexer.found)
}

struct Lexer<'t> {
    rest: &'t str,
    within: bool,
    /// What closes the brackets that are open.
    brackets: Vec<&'static str>,
    indents: Vec<usize>,
    found: Vec<Token>,
    /// Whether a line begins.
    fresh: bool,
}

impl Lexer<'_> {
    fn run(&mut self) -> Result<(), Doubt> {
        while !self.rest.is_empty() {
            if self.fresh && !self.margin()? {
                continue;
            }
            self.token()?;
        }
        if !self.brackets.is_empty() {
            return Err(Doubt::new("a bracket of the Python text is not closed"));
        }
        if !self.within {
            self.end_line();
            for _ in 1..self.indents.len() {
                self.found.push(Token::Dedent);
            }
        }
        self.found.push(Token::End);
        Ok(())
    }

    /// The blanks before a line; `false` for a line with nothing else.
    fn margin(&mut self) -> Result<bool, Doubt> {
        let line = self.rest.trim_start_matches(' ');
        let width = self.rest.len().saturating_sub(line.len());
        self.rest = line;
        match line.chars().next() {
            None => return Ok(false),
            Some('\n' | '#') => {
                let end = line.find('\n').map_or(line.len(), |end| end.saturating_add(1));
                self.rest = line.get(end..).unwrap_or("");
                return Ok(false);
            }
            Some('\t' | '\\') => return Err(Doubt::new("a line of the Python text has an odd margin")),
            Some(_) => {}
        }
        self.fresh = false;
        if width > self.indents.last().copied().unwrap_or(0) {
            self.indents.push(width);
            self.found.push(Token::Indent);
        }
        while width < self.indents.last().copied().unwrap_or(0) {
            self.indents.pop();
            self.found.push(Token::Dedent);
        }
        if self.indents.last() == Some(&width) {
            Ok(true)
        } else {
            Err(Doubt::new("the margins of the Python text do not fit"))
        }
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or("");
    }

    fn end_line(&mut self) {
        if !matches!(self.found.last(), None | Some(Token::Newline | Token::Dedent)) {
            self.found.push(Token::Newline);
        }
    }

    fn token(&mut self) -> Result<(), Doubt> {
        let Some(first) = self.rest.chars().next() else { return Ok(()) };
        match first {
            ' ' | '\t' => self.skip(1),
            '#' => self.skip(self.rest.find('\n').unwrap_or(self.rest.len())),
            '\n' => {
                self.skip(1);
                if self.brackets.is_empty() && !self.within {
                    self.end_line();
                    self.fresh = true;
                }
            }
            '\\' if self.rest.starts_with("\\\n") => self.skip(2),
            '"' | '\'' => self.quoted("")?,
            'a'..='z' | 'A'..='Z' | '_' => self.name()?,
            '0'..='9' => self.number()?,
            '.' if self.rest.chars().nth(1).is_some_and(|next| next.is_ascii_digit()) => self.number()?,
            _ => self.operator()?,
        }
        Ok(())
    }

    fn operator(&mut self) -> Result<(), Doubt> {
        let Some(operator) = OPERATORS.into_iter().find(|operator| self.rest.starts_with(operator)) else {
            return Err(Doubt::new("the Python text has a sign that is not read"));
        };
        self.skip(operator.len());
        match operator {
            "(" => self.brackets.push(")"),
            "[" => self.brackets.push("]"),
            "{" => self.brackets.push("}"),
            ")" | "]" | "}" if self.brackets.pop() != Some(operator) => {
                return Err(Doubt::new("a bracket of the Python text does not fit"));
            }
            _ => {}
        }
        self.found.push(Token::Operator(operator));
        Ok(())
    }

    fn name(&mut self) -> Result<(), Doubt> {
        let of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let end = self.rest.find(|letter| !of_name(letter)).unwrap_or(self.rest.len());
        let name = self.rest.get(..end).unwrap_or("").to_owned();
        self.skip(end);
        if self.rest.starts_with(['"', '\'']) {
            return self.quoted(&name);
        }
        self.found.push(Token::Name(name));
        Ok(())
    }

    fn number(&mut self) -> Result<(), Doubt> {
        let of_number = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
        let mut end = self.rest.find(|letter| !of_number(letter)).unwrap_or(self.rest.len());
        let exponent = |text: &str| text.ends_with(['e', 'E']) && !text.starts_with("0x") && !text.starts_with("0X");
        if exponent(self.rest.get(..end).unwrap_or("")) && self.rest.get(end..).unwrap_or("").starts_with(['+', '-']) {
            let digits = self.rest.get(end.saturating_add(1)..).unwrap_or("");
            let more = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
            end = end.saturating_add(1).saturating_add(more);
        }
        let text = self.rest.get(..end).unwrap_or("").to_ascii_lowercase();
        if !is_number(&text) {
            return Err(Doubt::new("the Python text has a number that is not read"));
        }
        self.skip(end);
        self.found.push(Token::Number);
        Ok(())
    }

    fn quoted(&mut self, prefix: &str) -> Result<(), Doubt> {
        let prefix = prefix.to_ascii_lowercase();
        if !["", "r", "u", "b", "br", "rb", "f", "fr", "rf"].contains(&prefix.as_str()) {
            return Err(Doubt::new("a text of the Python text has an odd prefix"));
        }
        let quote = self.rest.chars().next().unwrap_or('"');
        let three: String = [quote; 3].iter().collect();
        let triple = self.rest.starts_with(&three);
        let end = if triple { three } else { quote.to_string() };
        self.skip(end.len());
        let mut at = 0;
        loop {
            let rest = self.rest.get(at..).unwrap_or("");
            if rest.starts_with(&end) {
                break;
            }
            let step = match rest.chars().next() {
                None => return Err(Doubt::new("a text of the Python text has no end")),
                Some('\n') if !triple => return Err(Doubt::new("a text of the Python text has no end")),
                Some('\\') => rest.chars().nth(1).map_or(1, char::len_utf8).saturating_add(1),
                Some(letter) => letter.len_utf8(),
            };
            at = at.saturating_add(step);
        }
        let body = self.rest.get(..at).unwrap_or("").to_owned();
        self.skip(at.saturating_add(end.len()));
        let has = |letter: char| prefix.contains(letter);
        let (raw, bytes, formatted) = (has('r'), has('b'), has('f'));
        self.found.push(Token::Quoted(Quoted { body, quote, raw, bytes, formatted, triple }));
        Ok(())
    }
}

/// Whether a text in lower case is a number in a plain form.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| {
        !text.is_empty()
            && text.split('_').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    if let Some(hexadecimal) = text.strip_prefix("0x") {
        return !hexadecimal.is_empty() && hexadecimal.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    if let Some(binary) = text.strip_prefix("0b") {
        return !binary.is_empty() && binary.bytes().all(|byte| matches!(byte, b'0' | b'1'));
    }
    if let Some(octal) = text.strip_prefix("0o") {
        return !octal.is_empty() && octal.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    }
    let real = text.strip_suffix('j').unwrap_or(text);
    let (mantissa, exponent) = real.split_once('e').map_or((real, None), |(before, after)| (before, Some(after)));
    let exponent_fits = exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    let mantissa_fits = match mantissa.split_once('.') {
        None => {
            let plain = real == text && exponent.is_none();
            digits(mantissa) && !(plain && mantissa.len() > 1 && mantissa.starts_with('0'))
        }
        Some((whole, part)) => {
            (whole.is_empty() || digits(whole)) && (part.is_empty() || digits(part)) && mantissa.len() > 1
        }
    };
    exponent_fits && mantissa_fits
}
