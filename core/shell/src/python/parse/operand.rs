//! Operands: names, literals, brackets, and the calls, attributes and indexes behind them.

use super::{KEYWORDS, Parser, odd};
use crate::python::doubt::Doubt;
use crate::python::token::Token;
use crate::python::tree::{Argument, Clause, Expr, Kind, Role};

impl Parser {
    pub(super) fn operand(&mut self) -> Result<Expr, Doubt> {
        let mut base = self.atom()?;
        loop {
            if self.takes(".") {
                let name = self.name()?;
                base = Expr::new(Kind::Attribute(Box::new(base), name))?;
            } else if self.takes("(") {
                let arguments = self.deeper(Self::arguments)?;
                base = Expr::new(Kind::Call(Box::new(base), arguments))?;
            } else if self.takes("[") {
                let index = self.deeper(Self::index)?;
                base = Expr::new(Kind::Index(Box::new(base), Box::new(index)))?;
            } else {
                return Ok(base);
            }
        }
    }

    fn atom(&mut self) -> Result<Expr, Doubt> {
        match self.peek() {
            Token::Number | Token::Operator("...") => {
                self.skip();
                Expr::new(Kind::Constant)
            }
            Token::Quoted(_) => self.literal(),
            Token::Name(name) if matches!(name.as_str(), "None" | "True" | "False") => {
                self.skip();
                Expr::new(Kind::Constant)
            }
            Token::Name(name) if KEYWORDS.contains(&name.as_str()) => Err(odd()),
            Token::Name(_) => {
                let name = self.name()?;
                Expr::new(Kind::Name(name))
            }
            Token::Operator("(") => {
                self.skip();
                self.deeper(Self::group)
            }
            Token::Operator("[") => {
                self.skip();
                self.deeper(|parser| parser.elements("]", "list"))
            }
            Token::Operator("{") => {
                self.skip();
                self.deeper(Self::braces)
            }
            _ => Err(odd()),
        }
    }

    /// What follows `(`.
    fn group(&mut self) -> Result<Expr, Doubt> {
        if self.takes(")") {
            return Expr::new(Kind::Display("tuple", Vec::new()));
        }
        if self.sees_word("yield") {
            let value = self.values()?;
            self.wants(")")?;
            return Ok(value);
        }
        let first = self.value_or_star()?;
        if self.sees_word("for") {
            let clauses = self.clauses()?;
            self.wants(")")?;
            return Expr::new(Kind::Comprehension(vec![first], clauses));
        }
        if self.takes(")") {
            return if matches!(first.kind, Kind::Star(_)) { Err(odd()) } else { Ok(first) };
        }
        let all = self.more(first, ")")?;
        Expr::new(Kind::Display("tuple", all))
    }

    /// The rest of a list, a set or a tuple with at least one comma.
    fn more(&mut self, first: Expr, end: &str) -> Result<Vec<Expr>, Doubt> {
        let mut all = vec![first];
        while !self.takes(end) {
            self.wants(",")?;
            if self.takes(end) {
                break;
            }
            all.push(self.value_or_star()?);
        }
        Ok(all)
    }

    /// What follows the bracket of a list or a set.
    fn elements(&mut self, end: &str, what: &'static str) -> Result<Expr, Doubt> {
        if self.takes(end) {
            return Expr::new(Kind::Display(what, Vec::new()));
        }
        let first = self.value_or_star()?;
        if self.sees_word("for") {
            let clauses = self.clauses()?;
            self.wants(end)?;
            return Expr::new(Kind::Comprehension(vec![first], clauses));
        }
        let all = self.more(first, end)?;
        Expr::new(Kind::Display(what, all))
    }

    /// What follows `{`.
    fn braces(&mut self) -> Result<Expr, Doubt> {
        let mut all = Vec::new();
        while !self.takes("}") {
            if self.takes("**") {
                let spread = self.binary(0)?;
                all.push(Expr::new(Kind::Star(Box::new(spread)))?);
            } else {
                let key = self.value_or_star()?;
                if !self.takes(":") {
                    return if all.is_empty() { self.set(key) } else { Err(odd()) };
                }
                let value = self.value()?;
                if all.is_empty() && self.sees_word("for") {
                    let clauses = self.clauses()?;
                    self.wants("}")?;
                    return Expr::new(Kind::Comprehension(vec![key, value], clauses));
                }
                all.extend([key, value]);
            }
            if !self.takes(",") {
                self.wants("}")?;
                break;
            }
        }
        Expr::new(Kind::Display("dict", all))
    }

    fn set(&mut self, first: Expr) -> Result<Expr, Doubt> {
        if self.sees_word("for") {
            let clauses = self.clauses()?;
            self.wants("}")?;
            return Expr::new(Kind::Comprehension(vec![first], clauses));
        }
        let all = self.more(first, "}")?;
        Expr::new(Kind::Display("set", all))
    }

    /// `for target in value if test`, one or several.
    fn clauses(&mut self) -> Result<Vec<Clause>, Doubt> {
        let mut clauses = Vec::new();
        while self.takes_word("for") {
            let target = self.targets()?;
            self.wants_word("in")?;
            let iterated = self.either()?;
            let mut tests = Vec::new();
            while self.takes_word("if") {
                tests.push(self.either()?);
            }
            clauses.push(Clause { target, iterated, tests });
        }
        Ok(clauses)
    }

    /// What stands between `for` and `in`.
    pub(super) fn targets(&mut self) -> Result<Expr, Doubt> {
        let first = self.target()?;
        if !self.sees(",") {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.takes(",") {
            if self.sees_word("in") {
                break;
            }
            all.push(self.target()?);
        }
        Expr::new(Kind::Display("tuple", all))
    }

    fn target(&mut self) -> Result<Expr, Doubt> {
        if self.takes("*") {
            let inner = self.binary(0)?;
            return Expr::new(Kind::Star(Box::new(inner)));
        }
        self.binary(0)
    }

    /// What follows the `(` of a call.
    fn arguments(&mut self) -> Result<Vec<Argument>, Doubt> {
        let mut arguments = Vec::new();
        while !self.takes(")") {
            let argument = if self.takes("**") {
                Argument { role: Role::NamedSpread, value: self.value()? }
            } else if self.takes("*") {
                Argument { role: Role::Spread, value: self.value()? }
            } else if matches!(self.peek(), Token::Name(_)) && *self.peek_second() == Token::Operator("=") {
                let name = self.name()?;
                self.wants("=")?;
                Argument { role: Role::Keyword(name), value: self.value()? }
            } else {
                let value = self.named()?;
                Argument { role: Role::Positional, value: self.generated(value, arguments.is_empty())? }
            };
            arguments.push(argument);
            if !self.takes(",") {
                self.wants(")")?;
                break;
            }
        }
        Ok(arguments)
    }

    /// An argument that may be a generator, if it is the only one.
    fn generated(&mut self, value: Expr, first: bool) -> Result<Expr, Doubt> {
        if !self.sees_word("for") {
            return Ok(value);
        }
        let clauses = self.clauses()?;
        if first && self.sees(")") { Expr::new(Kind::Comprehension(vec![value], clauses)) } else { Err(odd()) }
    }

    /// What follows the `[` of an index.
    fn index(&mut self) -> Result<Expr, Doubt> {
        let first = self.slice()?;
        if self.takes("]") {
            return if matches!(first.kind, Kind::Star(_)) { Err(odd()) } else { Ok(first) };
        }
        let mut all = vec![first];
        while !self.takes("]") {
            self.wants(",")?;
            if self.takes("]") {
                break;
            }
            all.push(self.slice()?);
        }
        Expr::new(Kind::Display("tuple", all))
    }

    fn slice(&mut self) -> Result<Expr, Doubt> {
        let ends = |parser: &Self| parser.sees(":") || parser.sees("]") || parser.sees(",");
        let mut bounds = Vec::new();
        if !self.sees(":") {
            let first = self.named()?;
            if !self.sees(":") {
                return Ok(first);
            }
            bounds.push(first);
        }
        for _ in 0..2 {
            if self.takes(":") && !ends(self) {
                bounds.push(self.value()?);
            }
        }
        Expr::new(Kind::Display("slice", bounds))
    }
}
