//! A shell line as a tree: the one form that everything behind the parser works on.

use std::cell::OnceCell;
use std::rc::Rc;

/// The first byte in the line, and the byte after the last.
pub(crate) type Span = (u32, u32);

/// Commands one after another.
#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    pub(crate) items: Vec<Item>,
}

impl List {
    /// The simple command that is all of it.
    pub(crate) fn only(&self) -> Option<&Simple> {
        let [Item { pipelines, .. }] = self.items.as_slice() else { return None };
        let [Pipeline { commands, .. }] = pipelines.as_slice() else { return None };
        match commands.as_slice() {
            [Command::Simple(simple)] => Some(simple),
            _ => None,
        }
    }
}

/// Pipelines joined by `&&` and `||`.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) pipelines: Vec<Pipeline>,
    /// Between the pipelines: whether the operator is `&&`.
    pub(crate) ands: Vec<bool>,
    pub(crate) background: bool,
}

/// Commands joined by `|`.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline {
    pub(crate) commands: Vec<Command>,
    /// It stands behind `!`.
    pub(crate) negated: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Command {
    Simple(Simple),
    Compound(Box<Compound>, Vec<Redirection>, Span),
}

#[derive(Clone, Debug)]
pub(crate) enum Compound {
    Group(List),
    Subshell(List),
    /// `while`, `until`, `if`: conditions and bodies, in order.
    Branches(Vec<List>),
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: List,
        /// `select`, which asks its standard input.
        select: bool,
    },
    Case {
        subject: Word,
        arms: Vec<(Vec<Word>, List)>,
    },
    Arithmetic(Word),
    ArithmeticFor {
        header: Word,
        body: List,
    },
    Test(Vec<Word>),
    Function {
        name: String,
        body: Command,
    },
    Coprocess(Command),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirections: Vec<Redirection>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) index: Option<Word>,
    pub(crate) value: Value,
    pub(crate) append: bool,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Scalar(Word),
    Array(Vec<Word>),
}

#[derive(Clone, Debug)]
pub(crate) struct Redirection {
    pub(crate) operator: &'static str,
    /// What stands before the operator: a number or `{name}`.
    pub(crate) descriptor: Option<String>,
    /// The target; for a here-document the word that ends it.
    pub(crate) target: Word,
    /// The text of a here-document.
    pub(crate) body: Option<Rc<OnceCell<Word>>>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Word {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Text {
        text: String,
        /// Quoted text is neither a pattern nor a keyword nor split.
        quoted: bool,
    },
    Parameter(Box<Parameter>),
    Command {
        list: List,
        quoted: bool,
    },
    /// `<(list)`, or with `output` `>(list)`, which gets what the command prints.
    Process {
        list: List,
        output: bool,
    },
    Arithmetic(Word),
}

#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) quoted: bool,
    pub(crate) index: Option<Word>,
    pub(crate) operation: Operation,
}

#[derive(Clone, Debug)]
pub(crate) enum Operation {
    /// `$x`, `${x}`
    Plain,
    /// `${#x}`
    Length,
    /// `${x:-word}` and its like, whose result holds the operand or the value.
    Default(Word),
    /// `${x:=word}`
    Assign(Word),
    /// `${x#word}`, or at the end `${x%word}`
    Trim { end: bool, word: Word },
    /// `${x/a/b}`, `${x^word}`
    Edit(Word),
    /// `${x:offset:length}`: arithmetic
    Slice(Word),
    /// `${!x}`, `${x@P}`: a value that is read as a name or as a text to expand.
    Indirect,
    /// `${!prefix*}`, `${!array[@]}`, `${x@Q}`
    Names,
}

impl Word {
    /// The text of a word without expansion, and whether any of it was quoted.
    pub(crate) fn literal(&self) -> Option<(String, bool)> {
        let mut whole = String::new();
        let mut any_quoted = false;
        for piece in &self.pieces {
            let Piece::Text { text, quoted } = piece else { return None };
            whole.push_str(text);
            any_quoted |= *quoted;
        }
        Some((whole, any_quoted))
    }

    /// The word as a keyword: one run of unquoted text.
    pub(crate) fn keyword(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text { text, quoted: false }] => Some(text),
            _ => None,
        }
    }
}
