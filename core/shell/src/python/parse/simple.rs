//! Statements of one line.

use super::{Parser, odd};
use crate::python::doubt::Doubt;
use crate::python::token::Token;
use crate::python::tree::{Block, Expr, Imported, Statement};

/// Operators of assignments that change a value.
const AUGMENTED: [&str; 13] = ["+=", "-=", "*=", "/=", "//=", "%=", "@=", "&=", "|=", "^=", ">>=", "<<=", "**="];

impl Parser {
    /// The statements of a line.
    pub(super) fn line(&mut self, block: &mut Block) -> Result<(), Doubt> {
        loop {
            block.push(self.simple()?);
            let more = self.takes(";");
            if *self.peek() == Token::Newline {
                self.skip();
                return Ok(());
            }
            if !more {
                return Err(odd());
            }
        }
    }

    fn simple(&mut self) -> Result<Statement, Doubt> {
        let Token::Name(word) = self.peek() else { return self.assignment() };
        match word.as_str() {
            "pass" | "break" | "continue" => {
                self.skip();
                Ok(Statement::Nothing)
            }
            "global" | "nonlocal" => {
                self.skip();
                self.name()?;
                while self.takes(",") {
                    self.name()?;
                }
                Ok(Statement::Nothing)
            }
            "return" => {
                self.skip();
                let value = if self.ends_line() { Vec::new() } else { vec![self.values()?] };
                Ok(Statement::Evaluate(value))
            }
            "raise" => self.raise(),
            "assert" => {
                self.skip();
                let mut values = vec![self.value()?];
                if self.takes(",") {
                    values.push(self.value()?);
                }
                Ok(Statement::Evaluate(values))
            }
            "del" => {
                self.skip();
                let mut targets = vec![self.operand()?];
                while self.takes(",") {
                    if self.ends_line() {
                        break;
                    }
                    targets.push(self.operand()?);
                }
                Ok(Statement::Delete(targets))
            }
            "import" => self.import(),
            "from" => self.import_from(),
            _ => self.assignment(),
        }
    }

    fn ends_line(&self) -> bool {
        *self.peek() == Token::Newline || self.sees(";")
    }

    fn raise(&mut self) -> Result<Statement, Doubt> {
        self.skip();
        let mut values = Vec::new();
        if !self.ends_line() {
            values.push(self.value()?);
            if self.takes_word("from") {
                values.push(self.value()?);
            }
        }
        Ok(Statement::Evaluate(values))
    }

    fn assignment(&mut self) -> Result<Statement, Doubt> {
        let first = self.values()?;
        if self.takes(":") {
            let annotation = self.value()?;
            let value = if self.takes("=") { Some(self.values()?) } else { None };
            return Ok(Statement::Annotated { target: first, annotation, value });
        }
        if let Token::Operator(operator) = *self.peek()
            && AUGMENTED.contains(&operator)
        {
            self.skip();
            let value = self.values()?;
            return Ok(Statement::Augmented { target: first, value });
        }
        let mut all: Vec<Expr> = vec![first];
        while self.takes("=") {
            all.push(self.values()?);
        }
        match all.pop() {
            Some(only) if all.is_empty() => Ok(Statement::Evaluate(vec![only])),
            Some(value) => Ok(Statement::Assign { targets: all, value }),
            None => Err(odd()),
        }
    }

    /// `a.b.c`
    fn dotted(&mut self) -> Result<String, Doubt> {
        let mut name = self.name()?;
        while self.takes(".") {
            name.push('.');
            name.push_str(&self.name()?);
        }
        Ok(name)
    }

    fn alias(&mut self) -> Result<Option<String>, Doubt> {
        if self.takes_word("as") { self.name().map(Some) } else { Ok(None) }
    }

    fn import(&mut self) -> Result<Statement, Doubt> {
        self.skip();
        let mut modules = Vec::new();
        loop {
            let name = self.dotted()?;
            modules.push(Imported { name, alias: self.alias()? });
            if !self.takes(",") {
                return Ok(Statement::Import(modules));
            }
        }
    }

    fn import_from(&mut self) -> Result<Statement, Doubt> {
        self.skip();
        let module = self.dotted()?;
        self.wants_word("import")?;
        let within = self.takes("(");
        let mut names = Vec::new();
        loop {
            let name = self.name()?;
            names.push(Imported { name, alias: self.alias()? });
            let more = self.takes(",");
            if within && self.takes(")") {
                break;
            }
            if !more {
                if within {
                    return Err(odd());
                }
                break;
            }
        }
        Ok(Statement::From { module, names })
    }
}
