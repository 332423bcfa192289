//! Expressions: operators and what they bind.

use super::{Parser, odd};
use crate::python::doubt::Doubt;
use crate::python::token::Token;
use crate::python::tree::{Expr, Kind, Parameters};

/// Binary operators, from those that bind least.
const LEVELS: [&[&str]; 6] = [&["|"], &["^"], &["&"], &["<<", ">>"], &["+", "-"], &["*", "/", "//", "%", "@"]];
const COMPARISONS: [&str; 6] = ["==", "!=", "<", ">", "<=", ">="];

impl Parser {
    /// Expressions with commas between them, as a statement has them: a tuple unless it is one alone.
    pub(super) fn values(&mut self) -> Result<Expr, Doubt> {
        if self.sees_word("yield") {
            return self.yields();
        }
        let first = self.value_or_star()?;
        if !self.sees(",") {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.takes(",") {
            if self.ends_values() {
                break;
            }
            all.push(self.value_or_star()?);
        }
        Expr::new(Kind::Display("tuple", all))
    }

    fn ends_values(&self) -> bool {
        match self.peek() {
            Token::Newline | Token::End => true,
            Token::Operator(operator) => matches!(*operator, ")" | "]" | "}" | "=" | ":" | ";") || operator.len() > 1,
            _ => false,
        }
    }

    fn yields(&mut self) -> Result<Expr, Doubt> {
        self.wants_word("yield")?;
        if self.takes_word("from") {
            let value = self.value()?;
            return Expr::new(Kind::Yield(Some(Box::new(value))));
        }
        let value = if self.ends_values() { None } else { Some(Box::new(self.values()?)) };
        Expr::new(Kind::Yield(value))
    }

    /// `value`, `*value`, `name := value`
    pub(super) fn value_or_star(&mut self) -> Result<Expr, Doubt> {
        if self.takes("*") {
            let inner = self.binary(0)?;
            return Expr::new(Kind::Star(Box::new(inner)));
        }
        self.named()
    }

    /// `value`, `name := value`
    pub(super) fn named(&mut self) -> Result<Expr, Doubt> {
        if matches!(self.peek(), Token::Name(_)) && *self.peek_second() == Token::Operator(":=") {
            let name = self.name()?;
            self.wants(":=")?;
            let value = self.value()?;
            return Expr::new(Kind::Bind(name, Box::new(value)));
        }
        self.value()
    }

    /// An expression without commas.
    pub(super) fn value(&mut self) -> Result<Expr, Doubt> {
        self.deeper(|parser| {
            if parser.takes_word("lambda") {
                let parameters = parser.parameters(":", false)?;
                parser.wants(":")?;
                let body = parser.value()?;
                return Expr::new(Kind::Lambda(parameters, Box::new(body)));
            }
            let first = parser.either()?;
            if !parser.takes_word("if") {
                return Ok(first);
            }
            let test = parser.either()?;
            parser.wants_word("else")?;
            let other = parser.value()?;
            Expr::new(Kind::Operation(vec!["if"], vec![first, test, other]))
        })
    }

    /// `a or b`
    pub(super) fn either(&mut self) -> Result<Expr, Doubt> {
        self.joined("or", Self::both)
    }

    fn both(&mut self) -> Result<Expr, Doubt> {
        self.joined("and", Self::negation)
    }

    fn joined(&mut self, word: &'static str, inner: fn(&mut Self) -> Result<Expr, Doubt>) -> Result<Expr, Doubt> {
        let first = inner(self)?;
        if !self.sees_word(word) {
            return Ok(first);
        }
        let (mut operators, mut operands) = (Vec::new(), vec![first]);
        while self.takes_word(word) {
            operators.push(word);
            operands.push(inner(self)?);
        }
        Expr::new(Kind::Operation(operators, operands))
    }

    fn negation(&mut self) -> Result<Expr, Doubt> {
        if self.takes_word("not") {
            let inner = self.deeper(Self::negation)?;
            return Expr::new(Kind::Operation(vec!["not"], vec![inner]));
        }
        let first = self.binary(0)?;
        let (mut operators, mut operands) = (Vec::new(), vec![first]);
        while let Some(operator) = self.comparison()? {
            operators.push(operator);
            operands.push(self.binary(0)?);
        }
        match operands.pop() {
            Some(only) if operands.is_empty() => Ok(only),
            Some(last) => {
                operands.push(last);
                Expr::new(Kind::Operation(operators, operands))
            }
            None => Err(odd()),
        }
    }

    fn comparison(&mut self) -> Result<Option<&'static str>, Doubt> {
        if self.takes_word("in") {
            return Ok(Some("in"));
        }
        if self.takes_word("is") {
            return Ok(Some(if self.takes_word("not") { "is not" } else { "is" }));
        }
        if self.sees_word("not") {
            self.skip();
            self.wants_word("in")?;
            return Ok(Some("not in"));
        }
        let Token::Operator(operator) = self.peek() else { return Ok(None) };
        let found = COMPARISONS.into_iter().find(|known| known == operator);
        if found.is_some() {
            self.skip();
        }
        Ok(found)
    }

    /// Binary operators of a level and of those that bind more.
    pub(super) fn binary(&mut self, level: usize) -> Result<Expr, Doubt> {
        let Some(known) = LEVELS.get(level) else { return self.factor() };
        let first = self.binary(level.saturating_add(1))?;
        let (mut operators, mut operands) = (Vec::new(), vec![first]);
        while let Token::Operator(operator) = *self.peek()
            && known.contains(&operator)
        {
            self.skip();
            operators.push(operator);
            operands.push(self.binary(level.saturating_add(1))?);
        }
        match operands.pop() {
            Some(only) if operands.is_empty() => Ok(only),
            Some(last) => {
                operands.push(last);
                Expr::new(Kind::Operation(operators, operands))
            }
            None => Err(odd()),
        }
    }

    fn factor(&mut self) -> Result<Expr, Doubt> {
        for sign in ["-", "+", "~"] {
            if self.takes(sign) {
                let inner = self.deeper(Self::factor)?;
                return Expr::new(Kind::Operation(vec![sign], vec![inner]));
            }
        }
        let base = self.operand()?;
        if !self.takes("**") {
            return Ok(base);
        }
        let exponent = self.deeper(Self::factor)?;
        Expr::new(Kind::Operation(vec!["**"], vec![base, exponent]))
    }

    /// The parameters of a function up to what ends them; with annotations or without.
    pub(super) fn parameters(&mut self, end: &str, annotated: bool) -> Result<Parameters, Doubt> {
        let mut parameters = Parameters::default();
        while !self.sees(end) {
            if self.takes("/") || (self.sees("*") && *self.peek_second() == Token::Operator(",")) {
                self.takes("*");
            } else {
                let _ = self.takes("**") || self.takes("*");
                parameters.names.push(self.name()?);
                if annotated && self.takes(":") {
                    parameters.values.push(self.value()?);
                }
                if self.takes("=") {
                    parameters.values.push(self.value()?);
                }
            }
            if !self.takes(",") {
                break;
            }
        }
        Ok(parameters)
    }
}
