//! Terms: literals, variables, values of the decided call, and aggregations.

use std::string::String;
use std::vec::Vec;

use dogwood_language::temporal_ast as dogwood;

use super::lower::Lowering;
use super::problem::Problem;
use crate::leaf::{Param, Root, Term};
use crate::value::Value;

impl Lowering {
    pub(super) fn term(&mut self, term: &dogwood::Term) -> Result<Term, Problem> {
        Ok(match term {
            dogwood::Term::Entity { ty, id } => Term::Value(Value::entity(ty, id)),
            dogwood::Term::Integer(number) => Term::Value(Value::Int(*number)),
            dogwood::Term::Decimal(text) => Term::Value(Value::decimal(text)),
            dogwood::Term::String(text) => Term::Value(Value::text(text)),
            dogwood::Term::Bool(truth) => Term::Value(Value::Bool(*truth)),
            dogwood::Term::ContextField(path) => self.param(Root::Context, path)?,
            dogwood::Term::ScopeField(path) => match path.split_first() {
                Some((root, rest)) if root == "principal" => self.param(Root::Principal, rest)?,
                Some((_, rest)) => self.param(Root::Resource, rest)?,
                None => Term::Nothing,
            },
            dogwood::Term::Var(name) => Term::Variable(self.variable(name)?),
            dogwood::Term::Wildcard => Term::Nothing,
            dogwood::Term::Array(items) => self.list(items)?,
            dogwood::Term::Agg(aggregation) => self.aggregation(aggregation)?,
            dogwood::Term::Arith { .. } => return Err(Problem::new("arithmetic is not supported")),
            _ => return Err(Problem::new("a macro was not expanded")),
        })
    }

    fn param(&mut self, root: Root, path: &[String]) -> Result<Term, Problem> {
        let param = Param { root, path: path.to_vec() };
        let known = self.params.iter().position(|known| *known == param);
        let position = known.unwrap_or_else(|| {
            self.params.push(param);
            self.params.len() - 1
        });
        u16::try_from(position).map(Term::Param).map_err(|_| Problem::new("too many values of the decided call"))
    }

    fn list(&mut self, items: &[dogwood::Term]) -> Result<Term, Problem> {
        let mut values = Vec::new();
        for item in items {
            match self.term(item)? {
                Term::Value(value) => values.push(value),
                Term::Nothing => return Ok(Term::Nothing),
                _ => return Err(Problem::new("a list can only have literals in it")),
            }
        }
        Ok(Term::Value(Value::List(values)))
    }

    fn aggregation(&mut self, aggregation: &dogwood::AggExpr) -> Result<Term, Problem> {
        match &aggregation.kind {
            dogwood::AggExprKind::Count { for_vars, body } => {
                let domain = self.domain(for_vars, body, None)?;
                Ok(Term::Count(domain.over, domain.body))
            }
            dogwood::AggExprKind::Sum { bound_var, for_vars, body } => {
                let domain = self.domain(for_vars, body, Some(bound_var.name()))?;
                let summand = domain.summand.ok_or_else(|| Problem::new("`sum` needs what is added up"))?;
                Ok(Term::Sum(summand, domain.over, domain.body))
            }
            dogwood::AggExprKind::Call(_) => Err(Problem::new("a macro was not expanded")),
        }
    }
}
