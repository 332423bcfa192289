//! A Python text as a tree, of the subset that is read.

use super::doubt::Doubt;

/// A tree of expressions that is higher than this is not read.
const MAX_HEIGHT: u16 = 100;

/// Statements, one after another.
pub(super) type Block = Vec<Statement>;

#[derive(Debug)]
pub(super) enum Statement {
    /// An expression; also `return`, `raise`, `assert`, with what they evaluate.
    Evaluate(Vec<Expr>),
    /// `a = b = value`, and `for a in`, `with ... as a` have such targets too.
    Assign {
        targets: Vec<Expr>,
        value: Expr,
    },
    /// `a: annotation = value`
    Annotated {
        target: Expr,
        annotation: Expr,
        value: Option<Expr>,
    },
    /// `a += value`
    Augmented {
        target: Expr,
        value: Expr,
    },
    Delete(Vec<Expr>),
    /// `pass`, `break`, `continue`, `global`
    Nothing,
    /// `import a.b as c`: modules and their names here.
    Import(Vec<Imported>),
    /// `from a import b as c`
    From {
        module: String,
        names: Vec<Imported>,
    },
    /// `if`, `while`: a test before each block; and the block of `else`.
    Branches {
        branches: Vec<Branch>,
        otherwise: Block,
    },
    For {
        target: Expr,
        iterated: Expr,
        body: Block,
        otherwise: Block,
    },
    Try {
        body: Block,
        handlers: Vec<Handler>,
        /// Those of `else` and `finally`.
        after: Vec<Block>,
    },
    With {
        items: Vec<Entered>,
        body: Block,
    },
    Function {
        name: String,
        parameters: Parameters,
        body: Block,
    },
}

#[derive(Debug)]
pub(super) struct Imported {
    pub(super) name: String,
    pub(super) alias: Option<String>,
}

#[derive(Debug)]
pub(super) struct Branch {
    pub(super) test: Expr,
    pub(super) body: Block,
}

#[derive(Debug)]
pub(super) struct Handler {
    pub(super) caught: Option<Expr>,
    pub(super) name: Option<String>,
    pub(super) body: Block,
}

/// What `with` enters, and the name that it gets.
#[derive(Debug)]
pub(super) struct Entered {
    pub(super) value: Expr,
    pub(super) target: Option<Expr>,
}

#[derive(Debug, Default)]
pub(super) struct Parameters {
    pub(super) names: Vec<String>,
    /// Defaults and annotations.
    pub(super) values: Vec<Expr>,
}

/// An expression. Its height is bounded, so that a walk over it is.
#[derive(Debug)]
pub(super) struct Expr {
    pub(super) kind: Kind,
    height: u16,
}

#[derive(Debug)]
pub(super) enum Kind {
    Name(String),
    /// A text, where it is known: not where it has rare escapes.
    Text(Option<String>),
    /// Numbers, bytes, `None` and its like.
    Constant,
    /// An f-string: its texts and values in order, those of a format included.
    Formatted(Vec<Expr>),
    Attribute(Box<Expr>, String),
    Call(Box<Expr>, Vec<Argument>),
    Index(Box<Expr>, Box<Expr>),
    /// Operators between operands; one operator alone stands before its operand, and `if` has three.
    Operation(Vec<&'static str>, Vec<Expr>),
    /// Lists, tuples, sets, dictionaries and slices.
    Display(&'static str, Vec<Expr>),
    Lambda(Parameters, Box<Expr>),
    Comprehension(Vec<Expr>, Vec<Clause>),
    /// `name := value`
    Bind(String, Box<Expr>),
    Star(Box<Expr>),
    Yield(Option<Box<Expr>>),
}

#[derive(Debug)]
pub(super) struct Argument {
    pub(super) role: Role,
    pub(super) value: Expr,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Role {
    Positional,
    Keyword(String),
    /// `*values`
    Spread,
    /// `**values`
    NamedSpread,
}

/// `for target in iterated if tests`
#[derive(Debug)]
pub(super) struct Clause {
    pub(super) target: Expr,
    pub(super) iterated: Expr,
    pub(super) tests: Vec<Expr>,
}

impl Expr {
    pub(super) fn new(kind: Kind) -> Result<Self, Doubt> {
        let mut expr = Self { kind, height: 0 };
        let highest = expr.children().iter().map(|child| child.height).max().unwrap_or(0);
        expr.height = highest.saturating_add(1);
        if expr.height > MAX_HEIGHT { Err(Doubt::new("the Python text nests too deep")) } else { Ok(expr) }
    }

    /// The expressions in it, in the order of the text.
    pub(super) fn children(&self) -> Vec<&Self> {
        match &self.kind {
            Kind::Name(_) | Kind::Text(_) | Kind::Constant => Vec::new(),
            Kind::Formatted(all) | Kind::Operation(_, all) | Kind::Display(_, all) => all.iter().collect(),
            Kind::Attribute(inner, _) | Kind::Bind(_, inner) | Kind::Star(inner) => vec![inner],
            Kind::Call(function, arguments) => {
                [&**function].into_iter().chain(arguments.iter().map(|argument| &argument.value)).collect()
            }
            Kind::Index(base, index) => vec![base, index],
            Kind::Lambda(parameters, body) => parameters.values.iter().chain([&**body]).collect(),
            Kind::Comprehension(elements, clauses) => {
                let parts = clauses.iter().flat_map(|clause| [&clause.target, &clause.iterated]);
                let tests = clauses.iter().flat_map(|clause| &clause.tests);
                elements.iter().chain(parts).chain(tests).collect()
            }
            Kind::Yield(inner) => inner.iter().map(|inner| &**inner).collect(),
        }
    }
}
