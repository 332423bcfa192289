//! Reads rules: the grammar.

use super::lexer::{Token, Word, words};
use super::syntax::{Effect, Expr, Guard, Mistake, Rule, Spot, What};

/// Words that are no names.
const KEYWORDS: [&str; 18] = [
    "rule",
    "guards",
    "effects",
    "when",
    "then",
    "if",
    "else",
    "and",
    "or",
    "not",
    "true",
    "false",
    "admit",
    "reject",
    "admission",
    "transition",
    "consequence",
    "promotion",
];
/// How many nodes a rule may have.
const NODES: usize = 10_000;
/// How deep parentheses and calls may nest.
const DEPTH: usize = 256;

struct Parser {
    words: std::vec::IntoIter<Token>,
    next: Token,
    nodes: usize,
    depth: usize,
}

type Read<T> = Result<T, Mistake>;

/// The rules of a text.
pub(super) fn rules(text: &str) -> Read<Vec<Rule>> {
    let mut words = words(text)?.into_iter();
    let next = words.next().ok_or_else(|| Mistake::syntax("nothing is there", Spot { line: 1, column: 1 }))?;
    let mut parser = Parser { words, next, nodes: 0, depth: 0 };
    let mut rules = Vec::new();
    while parser.next.word != Word::End {
        rules.push(parser.rule()?);
    }
    Ok(rules)
}

impl Parser {
    fn take(&mut self) -> Token {
        let at = self.next.at;
        let after = self.words.next().unwrap_or(Token { word: Word::End, at });
        std::mem::replace(&mut self.next, after)
    }

    fn sees(&self, wanted: &str) -> bool {
        match &self.next.word {
            Word::Name(word) => word == wanted,
            Word::Sign(sign) => *sign == wanted,
            _ => false,
        }
    }

    fn eat(&mut self, wanted: &str) -> bool {
        let seen = self.sees(wanted);
        if seen {
            self.take();
        }
        seen
    }

    fn want(&mut self, wanted: &str) -> Read<()> {
        if self.eat(wanted) { Ok(()) } else { Err(self.other_than(&format!("`{wanted}`"))) }
    }

    fn other_than(&self, wanted: &str) -> Mistake {
        let found = match &self.next.word {
            Word::Name(word) => format!("`{word}`"),
            Word::Variable(name) => format!("`${name}`"),
            Word::Number(number) => format!("`{number}`"),
            Word::Text(text) => format!("the text \"{text}\""),
            Word::Sign(sign) => format!("`{sign}`"),
            Word::End => "the end".to_owned(),
        };
        Mistake::syntax(format!("{wanted} is expected here, not {found}"), self.next.at)
    }

    fn name(&mut self) -> Read<String> {
        match &self.next.word {
            Word::Name(word) if !KEYWORDS.contains(&word.as_str()) => {
                let name = word.clone();
                self.take();
                Ok(name)
            }
            _ => Err(self.other_than("a name")),
        }
    }

    fn text(&mut self) -> Read<String> {
        let Word::Text(text) = &self.next.word else { return Err(self.other_than("a text in quotes")) };
        let text = text.clone();
        self.take();
        Ok(text)
    }

    fn rule(&mut self) -> Read<Rule> {
        (self.nodes, self.depth) = (0, 0);
        let at = self.next.at;
        self.want("rule")?;
        let name = self.name()?;
        self.want("{")?;
        self.want("guards")?;
        self.want("{")?;
        let mut guards = Vec::new();
        while !self.eat("}") {
            let when = if self.eat("else") { None } else { Some(self.expr()?) };
            self.want("->")?;
            let rejects = if self.eat("admit") { None } else { Some(self.want("reject").and_then(|()| self.text())?) };
            guards.push(Guard { when, rejects });
        }
        self.want("effects")?;
        self.want("{")?;
        let mut effects = Vec::new();
        while !self.eat("}") {
            let at = self.next.at;
            effects.push(Effect { name: self.name()?, arguments: self.arguments()?, at });
        }
        self.want("}")?;
        Ok(Rule { name, guards, effects, at })
    }

    fn arguments(&mut self) -> Read<Vec<Expr>> {
        self.want("(")?;
        let mut arguments = Vec::new();
        while !self.sees(")") {
            if !arguments.is_empty() {
                self.want(",")?;
            }
            let at = self.next.at;
            arguments.push(match &self.next.word {
                Word::Text(_) => Expr { what: What::Text(self.text()?), at },
                _ => self.expr()?,
            });
        }
        self.want(")")?;
        Ok(arguments)
    }

    fn node(&mut self, what: What, at: Spot) -> Read<Expr> {
        self.nodes += 1;
        if self.nodes > NODES {
            return Err(Mistake::syntax(format!("the rule has more than {NODES} parts"), at));
        }
        Ok(Expr { what, at })
    }

    fn expr(&mut self) -> Read<Expr> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(Mistake::syntax(format!("this nests more than {DEPTH} deep"), self.next.at));
        }
        let read = self.left(&["or"], |parser| parser.left(&["and"], Self::not));
        self.depth -= 1;
        read
    }

    /// Operands with any of these operators between them: what stands left comes first.
    fn left(&mut self, operators: &[&'static str], operand: fn(&mut Self) -> Read<Expr>) -> Read<Expr> {
        let mut read = operand(self)?;
        while let Some(operator) = operators.iter().find(|operator| self.sees(operator)) {
            let at = self.take().at;
            let right = operand(self)?;
            read = self.node(What::Both(operator, Box::new(read), Box::new(right)), at)?;
        }
        Ok(read)
    }

    /// An operand, with the operator before it or not.
    fn after(&mut self, operator: &str, of: fn(Box<Expr>) -> What, operand: fn(&mut Self) -> Read<Expr>) -> Read<Expr> {
        let at = self.next.at;
        if !self.eat(operator) {
            return operand(self);
        }
        let inner = operand(self)?;
        self.node(of(Box::new(inner)), at)
    }

    fn not(&mut self) -> Read<Expr> {
        self.after("not", What::Not, Self::comparison)
    }

    fn comparison(&mut self) -> Read<Expr> {
        self.left(&["==", "!=", "<", ">", "<=", ">="], |parser| {
            parser.left(&["+", "-"], |parser| parser.left(&["*", "/", "%"], Self::unary))
        })
    }

    fn unary(&mut self) -> Read<Expr> {
        self.after("-", What::Minus, Self::primary)
    }

    fn primary(&mut self) -> Read<Expr> {
        let at = self.next.at;
        if self.eat("(") {
            let inner = self.expr()?;
            self.want(")")?;
            return Ok(inner);
        }
        let what = match self.next.word.clone() {
            Word::Number(number) => {
                self.take();
                What::Number(number)
            }
            Word::Name(word) if word == "true" || word == "false" => {
                self.take();
                What::Truth(word == "true")
            }
            Word::Variable(mut name) => {
                self.take();
                while self.eat(".") {
                    name = format!("{name}.{}", self.name()?);
                }
                What::Variable(name)
            }
            Word::Name(word) if !KEYWORDS.contains(&word.as_str()) => {
                self.take();
                What::Call(word, self.arguments()?)
            }
            _ => return Err(self.other_than("a number, a variable, a call or a parenthesis")),
        };
        self.node(what, at)
    }
}
