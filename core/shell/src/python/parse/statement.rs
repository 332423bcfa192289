//! Statements that have blocks.

use super::{Parser, odd};
use crate::python::doubt::Doubt;
use crate::python::token::Token;
use crate::python::tree::{Block, Branch, Entered, Handler, Statement};

impl Parser {
    /// A statement, or the statements of a line.
    pub(super) fn statement(&mut self, block: &mut Block) -> Result<(), Doubt> {
        let Token::Name(word) = self.peek() else { return self.line(block) };
        let statement = match word.as_str() {
            "if" => self.branches(true)?,
            "while" => self.branches(false)?,
            "for" => self.loops()?,
            "try" => self.tries()?,
            "with" => self.with()?,
            "def" => self.function()?,
            _ => return self.line(block),
        };
        block.push(statement);
        Ok(())
    }

    /// What follows a colon: a line, or lines with a deeper margin.
    fn block(&mut self) -> Result<Block, Doubt> {
        self.wants(":")?;
        self.deeper(|parser| {
            let mut block = Block::new();
            if *parser.peek() != Token::Newline {
                parser.line(&mut block)?;
                return Ok(block);
            }
            parser.skip();
            if *parser.peek() != Token::Indent {
                return Err(odd());
            }
            parser.skip();
            while *parser.peek() != Token::Dedent {
                if *parser.peek() == Token::End {
                    return Err(odd());
                }
                parser.statement(&mut block)?;
            }
            parser.skip();
            Ok(block)
        })
    }

    fn otherwise(&mut self) -> Result<Block, Doubt> {
        if self.takes_word("else") { self.block() } else { Ok(Block::new()) }
    }

    fn branches(&mut self, several: bool) -> Result<Statement, Doubt> {
        let mut branches = Vec::new();
        loop {
            self.skip();
            let test = self.named()?;
            branches.push(Branch { test, body: self.block()? });
            if !(several && self.sees_word("elif")) {
                break;
            }
        }
        Ok(Statement::Branches { branches, otherwise: self.otherwise()? })
    }

    fn loops(&mut self) -> Result<Statement, Doubt> {
        self.skip();
        let target = self.targets()?;
        self.wants_word("in")?;
        let iterated = self.values()?;
        let body = self.block()?;
        Ok(Statement::For { target, iterated, body, otherwise: self.otherwise()? })
    }

    fn tries(&mut self) -> Result<Statement, Doubt> {
        self.skip();
        let body = self.block()?;
        let (mut handlers, mut after) = (Vec::new(), Vec::new());
        while self.takes_word("except") {
            let caught = if self.sees(":") { None } else { Some(self.value()?) };
            let name = if self.takes_word("as") { Some(self.name()?) } else { None };
            handlers.push(Handler { caught, name, body: self.block()? });
        }
        for word in ["else", "finally"] {
            if self.takes_word(word) {
                after.push(self.block()?);
            }
        }
        Ok(Statement::Try { body, handlers, after })
    }

    fn with(&mut self) -> Result<Statement, Doubt> {
        self.skip();
        let mut items = Vec::new();
        loop {
            let value = self.value()?;
            let target = if self.takes_word("as") { Some(self.operand()?) } else { None };
            items.push(Entered { value, target });
            if !self.takes(",") {
                break;
            }
        }
        Ok(Statement::With { items, body: self.block()? })
    }

    fn function(&mut self) -> Result<Statement, Doubt> {
        self.skip();
        let name = self.name()?;
        self.wants("(")?;
        let mut parameters = self.parameters(")", true)?;
        self.wants(")")?;
        if self.takes("->") {
            parameters.values.push(self.value()?);
        }
        Ok(Statement::Function { name, parameters, body: self.block()? })
    }
}
