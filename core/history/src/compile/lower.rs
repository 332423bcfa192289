//! From the tree of a temporal condition to its compiled form.

use std::boxed::Box;
use std::string::{String, ToString};
use std::vec::Vec;

use dogwood_language::temporal_ast as dogwood;
use dogwood_language::temporal_ast::ConditionKind;

use super::problem::Problem;
use crate::leaf::{Comparison, Condition, FieldIs, FieldMatches, Param, Path, Pattern, Term, Window};
use crate::plan::Body;

/// The compiled form of `condition`, before its tables are planned.
pub(super) fn body(condition: &dogwood::Condition) -> Result<Body, Problem> {
    let mut lowering = Lowering::default();
    let condition = lowering.condition(condition)?;
    let Lowering { patterns, params, variables, .. } = lowering;
    let variables = u16::try_from(variables.len()).map_err(|_| Problem::new("too many variables"))?;
    Ok(Body { patterns, params, variables, condition })
}

#[derive(Default)]
pub(super) struct Lowering {
    patterns: Vec<Pattern>,
    pub(super) params: Vec<Param>,
    /// Whether each variable is the number of a point.
    variables: Vec<bool>,
    /// The names in scope, with the variables that they mean.
    scope: Vec<Named>,
}

struct Named {
    name: String,
    variable: u16,
}

impl Lowering {
    fn condition(&mut self, condition: &dogwood::Condition) -> Result<Condition, Problem> {
        Ok(match &condition.kind {
            ConditionKind::And { left, right } => Condition::And(self.boxed(left)?, self.boxed(right)?),
            ConditionKind::Or { left, right } => Condition::Or(self.boxed(left)?, self.boxed(right)?),
            ConditionKind::Not { inner } => Condition::Not(self.boxed(inner)?),
            ConditionKind::Formerly { within, body } => Condition::Formerly(window(within)?, self.boxed(body)?),
            ConditionKind::Previous { within, body } => Condition::Previous(window(within)?, self.boxed(body)?),
            ConditionKind::Since { left, within, right } => {
                Condition::Since(window(within)?, self.boxed(left)?, self.boxed(right)?)
            }
            ConditionKind::Predicate(predicate) => Condition::Matches(self.pattern(predicate)?),
            ConditionKind::Comparison { op, left, right } => {
                let (left, right) = (self.term(left)?, self.term(right)?);
                if self.is_point(&left) != self.is_point(&right) {
                    return Err(Problem::new("the number of a point can only be compared with one of another point"));
                }
                Condition::Compare(comparison(*op), left, right)
            }
            ConditionKind::Exists { var, body } => {
                let depth = self.scope.len();
                let variable = self.bind(var)?;
                let body = self.boxed(body)?;
                self.scope.truncate(depth);
                Condition::Exists(variable, body)
            }
            ConditionKind::Tp { var } => {
                let variable = self.variable(var.name())?;
                if !self.is_point(&Term::Variable(variable)) {
                    return Err(Problem::new("the variable of `tp` must be a `Timepoint`"));
                }
                Condition::Point(variable)
            }
            _ => return Err(Problem::new("a macro was not expanded")),
        })
    }

    fn boxed(&mut self, condition: &dogwood::Condition) -> Result<Box<Condition>, Problem> {
        Ok(Box::new(self.condition(condition)?))
    }

    fn pattern(&mut self, predicate: &dogwood::Predicate) -> Result<u16, Problem> {
        let mut pattern = Pattern {
            namespace: predicate.namespace.join("::"),
            action: predicate.action.clone(),
            kind: predicate.kind.clone(),
            equal: Vec::new(),
            present: Vec::new(),
            compared: Vec::new(),
        };
        for argument in &predicate.args {
            let path: Path = argument.field_path();
            match &argument.value {
                dogwood::Term::Wildcard => pattern.present.push(path),
                other => match self.term(other)? {
                    Term::Value(value) => pattern.equal.push(FieldIs { path, value }),
                    term if self.is_point(&term) => {
                        return Err(Problem::new("the number of a point is no value of a field"));
                    }
                    term => pattern.compared.push(FieldMatches { path, term }),
                },
            }
        }
        let known = self.patterns.iter().position(|known| *known == pattern);
        let position = known.unwrap_or_else(|| {
            self.patterns.push(pattern);
            self.patterns.len() - 1
        });
        u16::try_from(position).map_err(|_| Problem::new("too many patterns"))
    }

    /// A new variable for a binder; its name is in scope until the scope is truncated.
    pub(super) fn bind(&mut self, binder: &dogwood::TypedBinder) -> Result<u16, Problem> {
        let variable = u16::try_from(self.variables.len()).map_err(|_| Problem::new("too many variables"))?;
        self.variables.push(binder.ty == dogwood::Type::Timepoint);
        self.scope.push(Named { name: binder.name().to_string(), variable });
        Ok(variable)
    }

    pub(super) fn variable(&self, name: &str) -> Result<u16, Problem> {
        let named = self.scope.iter().rev().find(|named| named.name == name);
        named.map(|named| named.variable).ok_or_else(|| Problem::new(&std::format!("`{name}` is not bound")))
    }

    fn is_point(&self, term: &Term) -> bool {
        match term {
            Term::Variable(variable) => self.variables.get(usize::from(*variable)).is_some_and(|point| *point),
            _ => false,
        }
    }

    /// The variables of `for`, and the condition in whose scope they are.
    pub(super) fn domain(
        &mut self,
        binders: &[dogwood::TypedBinder],
        body: &dogwood::Condition,
        summand: Option<&str>,
    ) -> Result<Domain, Problem> {
        let depth = self.scope.len();
        let over = binders.iter().map(|binder| self.bind(binder)).collect::<Result<Vec<_>, _>>()?;
        let summand = summand.map(|name| self.variable(name)).transpose()?;
        if summand.is_some_and(|summand| self.is_point(&Term::Variable(summand))) {
            return Err(Problem::new("the numbers of points have no sum"));
        }
        let body = self.boxed(body)?;
        self.scope.truncate(depth);
        Ok(Domain { over, summand, body })
    }
}

/// What an aggregation ranges over.
pub(super) struct Domain {
    pub(super) over: Vec<u16>,
    pub(super) summand: Option<u16>,
    pub(super) body: Box<Condition>,
}

fn window(within: &dogwood::WithinSpec) -> Result<Window, Problem> {
    let dogwood::WithinSpec::Concrete(interval) = within else { return Err(Problem::new("a macro was not expanded")) };
    let seconds = interval.checked_seconds().ok_or_else(|| Problem::new("the window is too long"))?;
    Ok(Window { within: seconds.saturating_mul(1000), table: 0 })
}

fn comparison(operator: dogwood::CmpOp) -> Comparison {
    match operator {
        dogwood::CmpOp::Le => Comparison::AtMost,
        dogwood::CmpOp::Lt => Comparison::Less,
        dogwood::CmpOp::Ge => Comparison::AtLeast,
        dogwood::CmpOp::Gt => Comparison::Greater,
        dogwood::CmpOp::Eq => Comparison::Equal,
        dogwood::CmpOp::NotEq => Comparison::Unequal,
    }
}
