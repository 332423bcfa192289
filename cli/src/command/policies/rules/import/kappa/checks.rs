//! Checks rules before they are converted. Each check runs, and none hides what another finds.

use super::builtins;
use super::syntax::{Expr, Mistake, Rule, Spot, What};

/// What a rule may not call: its answer would be another one each time.
const FORBIDDEN: [&str; 6] = ["time", "now", "read_file", "http_get", "random", "rand"];
/// What only effects may call.
const EFFECTS: [&str; 3] = ["set", "emit", "apply"];
/// The roots of variables that the original has.
const ROOTS: [&str; 12] = [
    "actor",
    "state",
    "event",
    "epoch",
    "caller",
    "tool",
    "mode",
    "target",
    "context",
    "reputation",
    "tokens",
    "stakes",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Number,
    Truth,
    Text,
    /// That of a variable.
    Any,
}

impl Type {
    fn may_be(self, wanted: Self) -> bool {
        self == wanted || self == Self::Any || wanted == Self::Any
    }
}

struct Checks<'r> {
    /// The roots of the variables for which something stands.
    roots: &'r [&'r str],
    found: Vec<Mistake>,
}

/// What is wrong with rules that could be read.
pub(super) fn mistakes(rules: &[Rule], roots: &[&str]) -> Vec<Mistake> {
    let mut checks = Checks { roots, found: Vec::new() };
    for (number, rule) in rules.iter().enumerate() {
        if rules.iter().take(number).any(|other| other.name == rule.name) {
            let message = format!("two rules have the name `{}`", rule.name);
            checks.found.push(Mistake { stage: "load", code: "duplicate_rule", message, at: rule.at });
        }
        for when in rule.guards.iter().filter_map(|guard| guard.when.as_ref()) {
            let of = checks.type_of(when);
            checks.need(of, Type::Truth, "a guard", when.at);
        }
        for effect in &rule.effects {
            checks.forbidden(&effect.name, effect.at);
            effect.arguments.iter().for_each(|argument| {
                checks.type_of(argument);
            });
        }
    }
    checks.found
}

impl Checks<'_> {
    fn say(&mut self, code: &'static str, message: String, at: Spot) {
        self.found.push(Mistake::check(code, message, at));
    }

    fn need(&mut self, of: Type, wanted: Type, what: &str, at: Spot) {
        if !of.may_be(wanted) {
            let wanted = if wanted == Type::Truth { "true or false" } else { "a number" };
            self.say("type_mismatch", format!("{what} is {wanted}"), at);
        }
    }

    fn forbidden(&mut self, name: &str, at: Spot) -> bool {
        let is_forbidden = FORBIDDEN.contains(&name);
        if is_forbidden {
            self.say("forbidden_function", format!("a rule may not call `{name}`"), at);
        }
        is_forbidden
    }

    fn type_of(&mut self, expr: &Expr) -> Type {
        let at = expr.at;
        match &expr.what {
            What::Number(number) => self.number(*number, i64::MAX.unsigned_abs(), at),
            What::Truth(_) => Type::Truth,
            What::Text(_) => Type::Text,
            What::Variable(name) => {
                let root = name.split('.').next().unwrap_or_default();
                if !ROOTS.contains(&root) && !self.roots.contains(&root) {
                    self.say("unknown_variable", format!("there is no variable `${root}`"), at);
                }
                Type::Any
            }
            What::Not(inner) => {
                let of = self.type_of(inner);
                self.need(of, Type::Truth, "what `not` is before", inner.at);
                Type::Truth
            }
            What::Minus(inner) => match inner.what {
                What::Number(number) => self.number(number, i64::MIN.unsigned_abs(), at),
                _ => {
                    let of = self.type_of(inner);
                    self.need(of, Type::Number, "what `-` is before", inner.at);
                    Type::Number
                }
            },
            What::Call(name, arguments) => self.call(name, arguments, at),
            What::Both(operator, left, right) => self.both(operator, left, right),
        }
    }

    fn number(&mut self, number: u64, largest: u64, at: Spot) -> Type {
        if number > largest {
            self.say("integer_range", "the number does not fit into 64 bits".to_owned(), at);
        }
        Type::Number
    }

    fn call(&mut self, name: &str, arguments: &[Expr], at: Spot) -> Type {
        let types: Vec<Type> = arguments.iter().map(|argument| self.type_of(argument)).collect();
        if self.forbidden(name, at) {
            return Type::Any;
        }
        if EFFECTS.contains(&name) {
            self.say("side_effect_in_guard", format!("`{name}` changes something, so only effects may call it"), at);
            return Type::Any;
        }
        match name {
            "hash" => Type::Text,
            "vrf_verify" => Type::Truth,
            _ if builtins::arity(name).is_some() => {
                for (of, argument) in types.into_iter().zip(arguments) {
                    self.need(of, Type::Number, &format!("an argument of `{name}`"), argument.at);
                }
                Type::Number
            }
            _ => {
                self.say("unknown_function", format!("there is no function `{name}`"), at);
                Type::Any
            }
        }
    }

    fn both(&mut self, operator: &str, left: &Expr, right: &Expr) -> Type {
        let (of_left, of_right) = (self.type_of(left), self.type_of(right));
        let side = format!("each side of `{operator}`");
        let wanted = match operator {
            "and" | "or" => Type::Truth,
            "==" | "!=" => {
                if !of_left.may_be(of_right) {
                    self.say("type_mismatch", format!("the sides of `{operator}` are of two types"), right.at);
                }
                return Type::Truth;
            }
            _ => Type::Number,
        };
        self.need(of_left, wanted, &side, left.at);
        self.need(of_right, wanted, &side, right.at);
        if matches!(operator, "+" | "-" | "*" | "/" | "%") { Type::Number } else { Type::Truth }
    }
}
