//! A condition as a constant, or as text of Cedar where a variable in it has a value only when a call comes.

use std::collections::{BTreeMap, BTreeSet};

use super::builtins;
use super::syntax::{Expr, Spot, What};

/// How many operations a rule may make, how deep its calls may nest, and how many arguments one may have.
const OPERATIONS: u64 = 10_000;
const CALLS: usize = 16;
const ARGUMENTS: usize = 8;
/// A condition that fails when Cedar evaluates it.
const FAILS: &str = "(9223372036854775807 + 1 == 0)";

/// What stands for a variable, or what a part of a condition is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Folded {
    Number(i64),
    Truth(bool),
    /// Text of Cedar.
    Later(String),
}

impl Folded {
    /// What a text says that a person gives: a value, or text of Cedar.
    pub(super) fn given(text: &str) -> Self {
        match (text.parse(), text.parse()) {
            (Ok(number), _) => Self::Number(number),
            (_, Ok(truth)) => Self::Truth(truth),
            _ => Self::Later(text.to_owned()),
        }
    }

    fn is_later(&self) -> bool {
        matches!(self, Self::Later(_))
    }

    pub(super) fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Truth(truth) => truth.to_string(),
            Self::Later(text) => text.clone(),
        }
    }
}

/// Why a condition has no value.
#[derive(Debug)]
pub(super) enum Stop {
    /// Its evaluation fails, so that the rule rejects for this reason.
    Fails(String),
    /// Cedar cannot say it.
    Unsaid(Unsaid),
}

/// What Cedar cannot say.
#[derive(Debug)]
pub(super) struct Unsaid {
    pub(super) at: Spot,
    pub(super) why: String,
    pub(super) instead: String,
}

impl From<String> for Stop {
    fn from(reason: String) -> Self {
        Self::Fails(reason)
    }
}

fn unsaid<T>(at: Spot, why: String, instead: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Unsaid(Unsaid { at, why, instead: instead.into() }))
}

/// The evaluation of one rule.
pub(super) struct Fold<'v> {
    variables: &'v BTreeMap<String, Folded>,
    operations: u64,
    /// The arguments of the call that conditions read.
    pub(super) inputs: BTreeSet<String>,
}

impl<'v> Fold<'v> {
    pub(super) fn new(variables: &'v BTreeMap<String, Folded>) -> Self {
        Self { variables, operations: 0, inputs: BTreeSet::new() }
    }

    /// The value; `calls` says how many calls it is inside of.
    pub(super) fn value(&mut self, expr: &Expr, calls: usize) -> Result<Folded, Stop> {
        Ok(match &expr.what {
            What::Number(number) => Folded::Number(builtins::fitting(i128::from(*number))?),
            What::Truth(truth) => Folded::Truth(*truth),
            What::Text(_) => return unsaid(expr.at, "rules compare no texts".into(), "compare an argument in Cedar"),
            What::Variable(name) => self.variable(name, expr.at)?,
            What::Minus(inner) => match &inner.what {
                What::Number(number) => Folded::Number(builtins::fitting(-i128::from(*number))?),
                _ => match self.value(inner, calls)? {
                    Folded::Number(number) => Folded::Number(builtins::fitting(-i128::from(number))?),
                    Folded::Later(text) => Folded::Later(format!("(-{text})")),
                    Folded::Truth(_) => return Err(Stop::Fails("type".into())),
                },
            },
            What::Not(inner) => match self.value(inner, calls)? {
                Folded::Truth(truth) => Folded::Truth(!truth),
                Folded::Later(text) => Folded::Later(format!("!{text}")),
                Folded::Number(_) => return Err(Stop::Fails("type".into())),
            },
            What::Call(name, arguments) => self.call(name, arguments, expr.at, calls + 1)?,
            What::Both(operator @ ("and" | "or"), left, right) => self.joined(operator, left, right, calls)?,
            What::Both(operator, left, right) => {
                let (left, right) = (self.value(left, calls)?, self.value(right, calls)?);
                self.both(operator, left, right, expr.at)?
            }
        })
    }

    fn count(&mut self, operations: u64) -> Result<(), Stop> {
        self.operations = self.operations.saturating_add(operations);
        if self.operations > OPERATIONS { Err(Stop::Fails("budget:integer_ops".into())) } else { Ok(()) }
    }

    fn variable(&mut self, name: &str, at: Spot) -> Result<Folded, Stop> {
        match self.variables.get(name) {
            Some(Folded::Later(text)) => {
                self.inputs.extend(text.strip_prefix("context.input.").map(str::to_owned));
                Ok(Folded::Later(text.clone()))
            }
            Some(value) => Ok(value.clone()),
            None => unsaid(
                at,
                format!("`${name}` is a value of the original's state, and nothing is said to stand for it"),
                format!(
                    "`--variable {name}=100` for a constant, `--variable {name}=context.input.NAME` for an argument"
                ),
            ),
        }
    }

    /// `and` and `or` stop at the side that decides.
    fn joined(&mut self, operator: &str, left: &Expr, right: &Expr, calls: usize) -> Result<Folded, Stop> {
        let decides = operator == "or";
        let left = self.value(left, calls)?;
        let right = match (&left, self.in_turn(&left, decides, right, calls)?) {
            (Folded::Truth(truth), None) => return Ok(Folded::Truth(*truth)),
            (Folded::Truth(_), Some(right)) => return Ok(right),
            (Folded::Later(_), Some(right)) => right,
            _ => return Err(Stop::Fails("type".into())),
        };
        if right == Folded::Truth(!decides) {
            return Ok(left);
        }
        let sign = if decides { "||" } else { "&&" };
        Ok(Folded::Later(format!("({} {sign} {})", left.text(), right.text())))
    }

    /// The right side, where it counts. One that fails does so only if the call makes it count.
    fn in_turn(&mut self, left: &Folded, decides: bool, right: &Expr, calls: usize) -> Result<Option<Folded>, Stop> {
        if *left == Folded::Truth(decides) {
            return Ok(None);
        }
        match self.value(right, calls) {
            Ok(Folded::Number(_)) => Err(Stop::Fails("type".into())),
            Ok(value) => Ok(Some(value)),
            Err(Stop::Fails(_)) if left.is_later() => Ok(Some(Folded::Later(FAILS.to_owned()))),
            Err(stop) => Err(stop),
        }
    }

    fn both(&mut self, operator: &str, left: Folded, right: Folded, at: Spot) -> Result<Folded, Stop> {
        let computes = matches!(operator, "+" | "-" | "*" | "/" | "%");
        if computes {
            self.count(1)?;
        }
        match (&left, &right) {
            (Folded::Number(left), Folded::Number(right)) if computes => {
                Ok(Folded::Number(builtins::operate(operator, *left, *right)?))
            }
            (Folded::Number(left), Folded::Number(right)) => {
                Ok(Folded::Truth(builtins::compare(operator, left, right)))
            }
            (Folded::Truth(left), Folded::Truth(right)) if matches!(operator, "==" | "!=") => {
                Ok(Folded::Truth(builtins::compare(operator, left, right)))
            }
            (_, Folded::Later(_)) | (Folded::Later(_), _) if matches!(operator, "/" | "%") => unsaid(
                at,
                format!("Cedar has no `{operator}`, and one side is known only when a call comes"),
                "a comparison without it: `$x >= 30` for `$x / 10 >= 3`",
            ),
            (_, Folded::Later(_)) | (Folded::Later(_), _) => {
                Ok(Folded::Later(format!("({} {operator} {})", left.text(), right.text())))
            }
            _ => Err(Stop::Fails("type".into())),
        }
    }

    fn call(&mut self, name: &str, arguments: &[Expr], at: Spot, calls: usize) -> Result<Folded, Stop> {
        if calls > CALLS {
            return Err(Stop::Fails("budget:call_depth".into()));
        }
        if arguments.len() > ARGUMENTS {
            return Err(Stop::Fails("budget:arg_count".into()));
        }
        let Some([least, most]) = builtins::arity(name) else {
            return unsaid(at, format!("`{name}` has no counterpart in Cedar"), "a rule of your own in Cedar");
        };
        let given: Vec<Folded> = arguments.iter().map(|one| self.value(one, calls)).collect::<Result<_, _>>()?;
        if !(least..=most).contains(&given.len()) {
            return Err(Stop::Fails("arity".into()));
        }
        if given.iter().any(|one| matches!(one, Folded::Truth(_))) {
            return Err(Stop::Fails("type".into()));
        }
        let known = |one: &Folded| if let Folded::Number(number) = one { Some(*number) } else { None };
        if let Some(numbers) = given.iter().map(known).collect::<Option<Vec<i64>>>() {
            self.count(builtins::operations(name, &numbers))?;
            return Ok(Folded::Number(builtins::call(name, &numbers)?));
        }
        self.count(1)?;
        later(name, &given).map_or_else(
            || {
                let why = format!("Cedar cannot say `{name}` of what is known only when a call comes");
                unsaid(at, why, "a comparison without it")
            },
            |text| Ok(Folded::Later(text)),
        )
    }
}

/// What Cedar says of a function, some of whose arguments are known only when a call comes.
fn later(name: &str, given: &[Folded]) -> Option<String> {
    let texts: Vec<String> = given.iter().map(Folded::text).collect();
    let chosen = |sign: &str, one: &str, other: &str| format!("(if {one} {sign} {other} then {one} else {other})");
    let (first, rest) = texts.split_first()?;
    let all = |sign: &str| rest.iter().fold(first.clone(), |so_far, next| chosen(sign, &so_far, next));
    match (name, given) {
        ("min" | "cap", _) => Some(all("<=")),
        ("max", _) => Some(all(">=")),
        ("abs", _) => Some(format!("(if {first} < 0 then -{first} else {first})")),
        ("clamp", [_, Folded::Number(low), Folded::Number(high)]) if low <= high => {
            Some(format!("(if {first} < {low} then {low} else if {first} > {high} then {high} else {first})"))
        }
        _ => None,
    }
}
