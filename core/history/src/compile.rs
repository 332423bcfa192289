//! Compiles rules with temporal conditions, as Dogwood writes them, into plain Cedar and leaves.

mod lower;
mod problem;
mod terms;

use std::string::{String, ToString};
use std::vec::Vec;

use dogwood_language::{LoweredPolicySet, ParsedPolicySet, PolicySchema, ServiceSchema, TemporalField, Validator};

use crate::leaf::{Leaf, Scope};
use crate::state::MAX_TABLE_EVENTS;
use crate::vacuity::{Decided, Vacuity, vacuity};
pub use problem::Problem;

/// The kinds of events and their fields, in Dogwood's language for event schemas.
pub const EVENTS: &str = include_str!("compile/events.dwschema");

/// Rules without temporal conditions, and the conditions apart from them.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The rules in Cedar. In place of each condition stands `context.<field>`.
    pub cedar: String,
    /// The Cedar schema with these fields.
    pub schema: String,
    /// The conditions.
    pub leaves: Vec<Leaf>,
    /// What is suspicious, but no mistake.
    pub warnings: Vec<Problem>,
}

/// What rules are compiled against.
#[derive(Clone, Copy, Debug)]
pub struct Schemas<'a> {
    /// The Cedar schema of the actions.
    pub actions: &'a str,
    /// The kinds of events; [`EVENTS`] is the guard's.
    pub events: &'a str,
}

/// Compiles `source`. `name`, an identifier of Cedar, begins the names of the fields.
///
/// # Errors
///
/// All that keeps the rules from being used: syntax, names and types that the schema does not have, conditions that
/// need more than a monitor keeps, and information providers, which would run scripts.
pub fn compile(name: &str, source: &str, schemas: Schemas<'_>) -> Result<Compiled, Vec<Problem>> {
    let service = ServiceSchema::builder().event_schema_str(schemas.events).build().map_err(problem::of_error)?;
    let actions = PolicySchema::from_cedarschema_str(schemas.actions).map_err(problem::of_error)?;
    let parsed = ParsedPolicySet::parse(source, &service).map_err(problem::of_error)?;
    if parsed.policies().any(|policy| policy.uses_providers()) {
        return Err(std::vec![Problem::new(
            "rules run nothing: information providers (`guardrails`) are not supported"
        )]);
    }
    let lowered = parsed.lower_with_distincter(&actions, name).map_err(problem::of_error)?;
    let result = Validator::new().validate(&lowered);
    if !result.validation_passed() {
        return Err(result.validation_errors().map(problem::of_validation).collect());
    }
    let leaves = leaves(&lowered)?;
    let Some(cedar) = lowered.as_cedar().to_cedar() else {
        return Err(std::vec![Problem::new("the rules have no form in plain Cedar: templates are not supported here")]);
    };
    let schema = lowered.cedar_schema_str().map_err(problem::of_error)?;
    let warnings = result.validation_warnings().map(|warning| Problem::new(&warning.to_string()));
    let warnings = warnings.chain(vacuous(&lowered, &leaves)).collect();
    Ok(Compiled { cedar, schema, leaves, warnings })
}

/// The conditions of lowered rules, each with the scope that its rule states by `@history`.
fn leaves(lowered: &LoweredPolicySet) -> Result<Vec<Leaf>, Vec<Problem>> {
    let mut leaves: Vec<Leaf> = Vec::new();
    let mut problems = Vec::new();
    for field in lowered.nonrelativized_temporal_fields() {
        match scope(lowered, &field.id).and_then(|scope| leaf(field, scope)) {
            Ok(leaf) => leaves.push(leaf),
            Err(problem) => problems.push(problem.at(field.condition.span.start, field.condition.span.end)),
        }
    }
    if problems.is_empty() { Ok(leaves) } else { Err(problems) }
}

/// The compiled form of one condition.
///
/// # Errors
///
/// If it needs more than a monitor keeps.
pub fn leaf(field: &TemporalField, scope: Scope) -> Result<Leaf, Problem> {
    let leaf = Leaf::new(&field.id, scope, lower::body(&field.condition.condition)?);
    within_limits(&leaf)?;
    Ok(leaf)
}

/// The scope that the rule of the field states.
fn scope(lowered: &LoweredPolicySet, field: &str) -> Result<Scope, Problem> {
    let rule = field.rsplit_once("__temporal_").map_or(field, |(rule, _)| rule);
    let rule = lowered.as_cedar().policies().find(|policy| policy.id().to_string() == rule);
    // A field that belongs to no rule could be given the wrong scope.
    let Some(rule) = rule else { return Err(Problem::new(&std::format!("`{field}` belongs to no rule"))) };
    match rule.annotation("history") {
        None | Some("session") => Ok(Scope::Session),
        Some("project") => Ok(Scope::Project),
        Some(other) => Err(Problem::new(&std::format!("`@history(\"{other}\")`: expected \"session\" or \"project\""))),
    }
}

/// Conditions that never or always held in histories made for them.
fn vacuous(lowered: &LoweredPolicySet, leaves: &[Leaf]) -> Vec<Problem> {
    let kinds: Vec<&str> = lowered.decision_kinds().collect();
    let of_field = |(field, leaf): (&TemporalField, &Leaf)| {
        let message = match suspect(field, leaf, &kinds)? {
            Vacuity::Never => "it seems that this never holds: no history was found in which it does",
            Vacuity::Always => "it seems that this always holds: no history was found in which it does not",
        };
        Some(Problem::new(message).at(field.condition.span.start, field.condition.span.end))
    };
    lowered.nonrelativized_temporal_fields().zip(leaves).filter_map(of_field).collect()
}

/// Whether the condition never or always held at calls that its rule is about, in histories made for it. `kinds` are the
/// kinds of events that are decided.
#[must_use]
pub fn suspect(field: &TemporalField, leaf: &Leaf, kinds: &[&str]) -> Option<Vacuity> {
    let namespaces: Vec<String> =
        field.target_actions.iter().map(|action| action_type(action.namespace.as_deref())).collect();
    let actions = field.target_actions.iter().zip(&namespaces);
    let calls: Vec<Decided<'_>> = actions
        .flat_map(|(action, namespace)| kinds.iter().map(|kind| Decided { namespace, action: &action.id, kind }))
        .collect();
    vacuity(leaf, &calls)
}

fn action_type(namespace: Option<&str>) -> String {
    namespace.map_or_else(|| "Action".to_string(), |namespace| std::format!("{namespace}::Action"))
}

fn within_limits(leaf: &Leaf) -> Result<(), Problem> {
    let most = leaf.tables.iter().filter_map(|table| table.keep).max().unwrap_or(0);
    if usize::try_from(most).is_ok_and(|most| most <= MAX_TABLE_EVENTS) {
        return Ok(());
    }
    Err(Problem::new(&std::format!("it counts up to {most}; a monitor keeps {MAX_TABLE_EVENTS} events")))
}
