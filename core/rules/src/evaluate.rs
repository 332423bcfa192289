//! The evaluator: a condition and a call to what is known of it.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::expr::{Branches, Expr, Literal, Named, Op, Sides, Var, is_like};
use crate::known::Known;
use crate::request::{Part, Request};
use crate::rule::{ActionScope, Rule, Scope};
use crate::value::{Entity, Truth, Value, contains, field};

/// The condition cannot be evaluated: an attribute is absent, a value has another type, a number is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Failed;

type Found<'a> = Result<Value<'a>, Failed>;

/// What an operator makes of two values.
enum Compared<'a> {
    Truth(Truth),
    Number(Value<'a>),
}

/// One part of a call, in one rule.
pub(crate) struct Place<'a> {
    pub(crate) request: &'a Request<'a>,
    pub(crate) part: &'a Part<'a>,
    /// The number of the part.
    pub(crate) number: usize,
    pub(crate) rule: &'a Rule,
}

impl<'a> Place<'a> {
    /// Whether the rule is about the part.
    pub(crate) fn holds(&self) -> Truth {
        let scope = self.scope();
        if scope.is_no() {
            return Truth::No;
        }
        let Some(condition) = &self.rule.when else { return scope };
        match (scope, self.truth(condition)) {
            (Truth::Yes, found) | (_, found @ Truth::No) => found,
            // What may be meant, and fails if it is, fails perhaps.
            _ => Truth::Unknown,
        }
    }

    fn scope(&self) -> Truth {
        let Request { principal, action, .. } = self.request;
        let of_action = match &self.rule.action {
            ActionScope::Any => Truth::Yes,
            ActionScope::Is(id) => Truth::of(id == action.id),
            ActionScope::In(groups) => groups.iter().map(|group| action.is_in(group)).max().unwrap_or(Truth::No),
        };
        if of_action.is_no() {
            return Truth::No;
        }
        let of = |scope: &Scope, own: Entity<'_>, is_in: &dyn Fn(Entity<'_>) -> bool| match scope {
            Scope::Any => true,
            Scope::Is { kind, id } => own == Entity { kind, id },
            Scope::In { kind, id, of } => of.as_ref().is_none_or(|kind| kind == own.kind) && is_in(Entity { kind, id }),
            Scope::Kind(kind) => kind == own.kind,
        };
        let principal = of(&self.rule.principal, principal.entity(), &|other| principal.is_in(other));
        let resource = of(&self.rule.resource, action.tool(), &|other| action.tool() == other);
        of_action.min(Truth::of(principal && resource))
    }

    /// What is known of a condition.
    pub(crate) fn truth(&self, condition: &'a Expr) -> Truth {
        match self.value(condition) {
            Ok(Value::Bool(holds)) => Truth::of(holds),
            Ok(Value::Unknown) => Truth::Unknown,
            Ok(_) | Err(Failed) => Truth::Failed,
        }
    }

    fn value(&self, expr: &'a Expr) -> Found<'a> {
        Ok(match expr {
            Expr::Literal(literal) => literal.into(),
            Expr::Var(var) => self.var(*var),
            Expr::Test(number, test) => match self.request.known {
                Some(known) => return self.known(known, *number),
                None => return self.value(test),
            },
            Expr::Not(of) => match self.value(of)? {
                Value::Bool(flag) => Value::Bool(!flag),
                Value::Unknown => Value::Unknown,
                _ => return Err(Failed),
            },
            Expr::Neg(of) => match self.value(of)? {
                Value::Long(number) => Value::Long(number.checked_neg().ok_or(Failed)?),
                Value::Unknown => Value::Unknown,
                _ => return Err(Failed),
            },
            Expr::And(all) => return self.joined(all, false),
            Expr::Or(all) => return self.joined(all, true),
            Expr::Of(op, sides) => return self.operator(*op, sides),
            Expr::IsEmpty(of) => match self.value(of)? {
                Value::Set(items) if items.is_empty() => Value::Bool(true),
                // A word that is not known may stand for none.
                Value::Set(items) if items.iter().all(|item| *item == Value::Unknown) => Value::Unknown,
                Value::Set(_) => Value::Bool(false),
                Value::Unknown => Value::Unknown,
                _ => return Err(Failed),
            },
            Expr::Attr(of, name) => match self.attribute(of, name)? {
                Some(value) => value,
                None => return Err(Failed),
            },
            Expr::Has(of, name) => return self.has(of, name),
            Expr::Like(of, pattern) => match self.seen(of)?.as_ref() {
                Value::Text(text) => Value::Bool(is_like(text, pattern)),
                Value::Maybe(text) if is_like(text, pattern) => Value::Unknown,
                Value::Maybe(_) => Value::Bool(false),
                Value::Among(all) if all.iter().any(|text| is_like(text, pattern)) => Value::Unknown,
                Value::Among(_) => Value::Bool(false),
                Value::Shape(shape) if shape.has(pattern) => Value::Bool(true),
                Value::Shape(shape) if shape.may_have(pattern) => Value::Unknown,
                Value::Shape(_) => Value::Bool(false),
                Value::Unknown => Value::Unknown,
                _ => return Err(Failed),
            },
            Expr::Is(of, kind) => match self.value(of)? {
                Value::Entity(entity) => Value::Bool(entity.kind == kind),
                _ => return Err(Failed),
            },
            Expr::If(branches) => return self.choice(branches),
            Expr::Set(all) => Value::set(all.iter().map(|one| self.value(one)).collect::<Result<Vec<_>, _>>()?),
            Expr::Record(fields) => {
                let one = |Named { name, value }: &'a Named| Ok((name.as_str(), self.value(value)?));
                Value::record(fields.iter().map(one).collect::<Result<Vec<_>, Failed>>()?)
            }
        })
    }

    fn known(&self, known: &Known, test: u16) -> Found<'a> {
        match known.of(&self.rule.id, self.number, test) {
            Truth::Yes => Ok(Value::Bool(true)),
            Truth::No => Ok(Value::Bool(false)),
            Truth::Unknown => Ok(Value::Unknown),
            Truth::Failed => Err(Failed),
        }
    }

    fn var(&self, var: Var) -> Value<'a> {
        let Request { principal, action, context, input, .. } = self.request;
        match var {
            Var::Principal => Value::Entity(principal.entity()),
            Var::Action => Value::Entity(action.entity()),
            Var::Resource => Value::Entity(action.tool()),
            Var::Context => {
                let parts = [("command", &self.part.command), ("path", &self.part.path)];
                let parts = parts.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
                Value::record(context.iter().cloned().chain([("input", input.clone())]).chain(parts).collect())
            }
        }
    }

    /// `a && b`, or `a || b`: the first `decides` decides.
    fn joined(&self, all: &'a [Expr], decides: bool) -> Found<'a> {
        let mut unclear = false;
        for one in all {
            match self.value(one) {
                Ok(Value::Bool(found)) if found == decides => return Ok(Value::Bool(decides)),
                Ok(Value::Bool(_)) => {}
                Ok(Value::Unknown) => unclear = true,
                // Before it stands what may have decided.
                Ok(_) | Err(Failed) if unclear => return Ok(Value::Unknown),
                Ok(_) | Err(Failed) => return Err(Failed),
            }
        }
        Ok(if unclear { Value::Unknown } else { Value::Bool(!decides) })
    }

    fn choice(&self, branches: &'a Branches) -> Found<'a> {
        match self.value(&branches.test)? {
            Value::Bool(true) => self.value(&branches.then),
            Value::Bool(false) => self.value(&branches.otherwise),
            Value::Unknown => match (self.value(&branches.then), self.value(&branches.otherwise)) {
                (Ok(one), Ok(other)) if one.equals(&other) == Truth::Yes => Ok(one),
                (Err(Failed), Err(Failed)) => Err(Failed),
                _ => Ok(Value::Unknown),
            },
            _ => Err(Failed),
        }
    }

    /// The value of a fact by the name that the rule has for it; `None`: there is no such fact.
    fn fact(&self, name: &str) -> Option<Value<'a>> {
        self.request.facts?.value(self.rule.facts.get(name)?, self.number)
    }

    /// Whether there is an attribute of this name. Most ask for the command or the path.
    fn has(&self, of: &'a Expr, name: &str) -> Found<'a> {
        let there = match (of, name) {
            (Expr::Var(Var::Context), "command") => self.part.command.is_some(),
            (Expr::Var(Var::Context), "path") => self.part.path.is_some(),
            _ => match self.attribute_of(of, name)? {
                Some(found) => found.is_some(),
                None => return Ok(Value::Unknown),
            },
        };
        Ok(Value::Bool(there))
    }

    /// The attribute of this name; `None`: there is none.
    fn attribute(&self, of: &'a Expr, name: &str) -> Result<Option<Value<'a>>, Failed> {
        Ok(self.attribute_of(of, name)?.unwrap_or(Some(Value::Unknown)))
    }

    /// The same; `None`: it is not known whether there is one.
    fn attribute_of(&self, of: &'a Expr, name: &str) -> Result<Option<Option<Value<'a>>>, Failed> {
        let Request { principal, action, .. } = self.request;
        if let Expr::Var(Var::Context) = of {
            return Ok(Some(self.request.of_context(name, self.part)));
        }
        if of.is_facts() {
            return Ok(Some(self.fact(name)));
        }
        Ok(Some(match self.value(of)? {
            Value::Record(fields) => field(&fields, name).cloned(),
            Value::Entity(entity) if entity == principal.entity() => principal.attribute(name),
            Value::Entity(entity) if entity == action.tool() => action.attribute(name),
            Value::Entity(_) => None,
            Value::Unknown => return Ok(None),
            _ => return Err(Failed),
        }))
    }

    /// A field of the command or of the path, where it is known which: what most conditions ask for.
    fn of_part(&self, expr: &'a Expr) -> Option<&'a Value<'a>> {
        let Expr::Attr(of, name) = expr else { return None };
        let Expr::Attr(of, part) = of.as_ref() else { return None };
        let Expr::Var(Var::Context) = of.as_ref() else { return None };
        let part = match part.as_str() {
            "command" => &self.part.command,
            "path" => &self.part.path,
            _ => return None,
        };
        let Some(Value::Record(fields)) = part else { return None };
        field(fields, name)
    }

    /// A value that is looked at.
    fn seen(&self, expr: &'a Expr) -> Result<Cow<'a, Value<'a>>, Failed> {
        match self.of_part(expr) {
            Some(value) => Ok(Cow::Borrowed(value)),
            None => Ok(Cow::Owned(self.value(expr)?)),
        }
    }

    /// Whether a set of literals has a value, or a set of values one of the literals; `None`: it is no such question.
    fn among(&self, op: Op, left: &'a Expr, right: &'a Expr) -> Option<Result<Truth, Failed>> {
        let literal =
            |expr: &'a Expr| if let Expr::Literal(literal) = expr { Some(Value::from(literal)) } else { None };
        let (Expr::Set(all), other) = (match op {
            Op::Contains => (left, right),
            Op::ContainsAny => (right, left),
            _ => return None,
        }) else {
            return None;
        };
        if !all.iter().all(|one| matches!(one, Expr::Literal(_))) {
            return None;
        }
        let other = match self.seen(other) {
            Ok(other) => other,
            Err(failed) => return Some(Err(failed)),
        };
        let each = all.iter().filter_map(literal);
        Some(match (op, other.as_ref()) {
            (Op::Contains, other) => Ok(each.map(|one| one.equals(other)).max().unwrap_or(Truth::No)),
            (_, Value::Set(items)) => Ok(each.map(|one| contains(items, &one)).max().unwrap_or(Truth::No)),
            (_, Value::Unknown) => Ok(Truth::Unknown),
            _ => Err(Failed),
        })
    }

    fn of_sides(&self, op: Op, left: &'a Expr, right: &'a Expr) -> Result<Compared<'a>, Failed> {
        // Most compare a field of the command or of the path with a literal.
        if let (Some(found), Expr::Literal(literal)) = (self.of_part(left), right) {
            return self.compared(op, found, &literal.into());
        }
        match self.among(op, left, right) {
            Some(truth) => truth.map(Compared::Truth),
            None => self.compared(op, self.seen(left)?.as_ref(), self.seen(right)?.as_ref()),
        }
    }

    fn operator(&self, op: Op, Sides { left, right }: &'a Sides) -> Found<'a> {
        let truth = match self.of_sides(op, left, right)? {
            Compared::Truth(truth) => truth,
            Compared::Number(number) => return Ok(number),
        };
        Ok(match truth {
            Truth::Yes => Value::Bool(true),
            Truth::No => Value::Bool(false),
            Truth::Unknown | Truth::Failed => Value::Unknown,
        })
    }

    fn compared(&self, op: Op, left: &Value<'a>, right: &Value<'a>) -> Result<Compared<'a>, Failed> {
        Ok(Compared::Truth(match op {
            Op::Equal => left.equals(right),
            Op::Unequal => match left.equals(right) {
                Truth::Yes => Truth::No,
                Truth::No => Truth::Yes,
                other => other,
            },
            Op::In => self.is_in(left, right)?,
            Op::Contains => match left {
                Value::Set(items) => contains(items, right),
                Value::Unknown => Truth::Unknown,
                _ => return Err(Failed),
            },
            Op::ContainsAll | Op::ContainsAny => match (left, right) {
                (Value::Set(items), Value::Set(wanted)) => {
                    let each = wanted.iter().map(|wanted| contains(items, wanted));
                    if op == Op::ContainsAll {
                        each.min().unwrap_or(Truth::Yes)
                    } else {
                        each.max().unwrap_or(Truth::No)
                    }
                }
                (Value::Unknown | Value::Set(_), Value::Unknown | Value::Set(_)) => Truth::Unknown,
                _ => return Err(Failed),
            },
            Op::Less | Op::AtMost | Op::Greater | Op::AtLeast | Op::Add | Op::Subtract | Op::Multiply => {
                return numbers(op, left, right).map(Compared::Number);
            }
        }))
    }

    fn is_in(&self, one: &Value<'_>, other: &Value<'_>) -> Result<Truth, Failed> {
        match (one, other) {
            (Value::Entity(one), Value::Entity(other)) => Ok(self.belongs(*one, *other)),
            (Value::Entity(_), Value::Set(all)) => {
                let each = all.iter().map(|other| self.is_in(one, other)).collect::<Result<Vec<_>, _>>()?;
                Ok(each.into_iter().max().unwrap_or(Truth::No))
            }
            _ => Err(Failed),
        }
    }

    fn belongs(&self, one: Entity<'_>, other: Entity<'_>) -> Truth {
        let Request { principal, action, .. } = self.request;
        if one == other {
            Truth::Yes
        } else if one == principal.entity() {
            Truth::of(principal.is_in(other))
        } else if one == action.entity() && other.kind == one.kind {
            action.is_in(other.id)
        } else {
            Truth::No
        }
    }
}

fn numbers<'a>(op: Op, left: &Value<'_>, right: &Value<'_>) -> Found<'a> {
    let (left, right) = match (left, right) {
        (Value::Long(left), Value::Long(right)) => (*left, *right),
        (Value::Long(_) | Value::Unknown, Value::Long(_) | Value::Unknown) => return Ok(Value::Unknown),
        _ => return Err(Failed),
    };
    let number = match op {
        Op::Less => return Ok(Value::Bool(left < right)),
        Op::AtMost => return Ok(Value::Bool(left <= right)),
        Op::Greater => return Ok(Value::Bool(left > right)),
        Op::AtLeast => return Ok(Value::Bool(left >= right)),
        Op::Add => left.checked_add(right),
        Op::Subtract => left.checked_sub(right),
        Op::Multiply => left.checked_mul(right),
        _ => None,
    };
    number.map(Value::Long).ok_or(Failed)
}

impl<'a> From<&'a Literal> for Value<'a> {
    fn from(literal: &'a Literal) -> Self {
        match literal {
            Literal::Bool(flag) => Self::Bool(*flag),
            Literal::Long(number) => Self::Long(*number),
            Literal::Text(text) => Self::Text(text),
            Literal::Entity { kind, id } => Self::Entity(Entity { kind, id }),
        }
    }
}
