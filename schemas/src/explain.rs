//! The validator's errors as problems: the one alternative that was meant is found, and only its errors are told.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Error};
use serde_json::Value;

use crate::{Problem, ProblemKind};

/// What one error of the validator means.
pub(crate) fn explain(schema: &Value, error: &ValidationError<'_>) -> Vec<Problem> {
    match error.kind() {
        Error::AdditionalProperties { unexpected } | Error::UnevaluatedProperties { unexpected } => {
            let known = known_keys(schema, error);
            let kind = |key: &String| ProblemKind::UnknownKey { key: key.clone(), known: known.clone() };
            unexpected.iter().map(|key| at(error, kind(key))).collect()
        }
        Error::Required { property } => vec![at(error, ProblemKind::MissingKey(word(property)))],
        Error::Type { kind } => vec![at(error, ProblemKind::WrongType(types(kind)))],
        Error::Enum { options } => {
            let words = options.as_array().map(|all| all.iter().map(word).collect()).unwrap_or_default();
            vec![at(error, ProblemKind::NotOneOf(words))]
        }
        Error::Constant { expected_value } => vec![at(error, ProblemKind::NotOneOf(vec![word(expected_value)]))],
        Error::AnyOf { context } | Error::OneOfNotValid { context } | Error::OneOfMultipleValid { context } => {
            alternatives(schema, error, context)
        }
        _ => vec![at(error, ProblemKind::Other(rule(error.kind())))],
    }
}

fn at(error: &ValidationError<'_>, kind: ProblemKind) -> Problem {
    Problem { pointer: pointer(error.instance_path().as_str()), kind }
}

fn pointer(text: &str) -> Vec<String> {
    text.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")).collect()
}

/// The alternatives that the value's type rules out are left aside; what is wrong with the remaining one is told.
fn alternatives(
    schema: &Value,
    error: &ValidationError<'_>,
    context: &[Vec<ValidationError<'static>>],
) -> Vec<Problem> {
    let here = pointer(error.instance_path().as_str());
    let explained: Vec<Vec<Problem>> =
        context.iter().map(|errors| errors.iter().flat_map(|inner| explain(schema, inner)).collect()).collect();
    if let Some(words) = words_only(&explained, &here) {
        return vec![at(error, ProblemKind::NotOneOf(words))];
    }
    let ruled_out = |problems: &[Problem]| {
        problems.iter().any(|problem| {
            problem.pointer == here && matches!(problem.kind, ProblemKind::WrongType(_))
                || problem.pointer.len() == here.len() + 1 && is_other_tag(problem)
        })
    };
    let meant: Vec<&Vec<Problem>> = explained.iter().filter(|problems| !ruled_out(problems)).collect();
    if let Some(best) = meant.iter().min_by_key(|problems| problems.len()) {
        return best.to_vec();
    }
    let mut kinds: Vec<String> = Vec::new();
    for problem in explained.iter().flatten().filter(|problem| problem.pointer == here) {
        if let ProblemKind::WrongType(types) = &problem.kind {
            kinds.extend(types.iter().filter(|kind| !kinds.contains(kind)).cloned().collect::<Vec<_>>());
        }
    }
    if kinds.is_empty() { tags(&explained, error) } else { vec![at(error, ProblemKind::WrongType(kinds))] }
}

/// The words of a list of constants, if that is all the alternatives are and the value is a text.
fn words_only(explained: &[Vec<Problem>], here: &[String]) -> Option<Vec<String>> {
    let mut words = Vec::new();
    for problems in explained {
        let constant = problems.iter().find_map(|problem| match &problem.kind {
            ProblemKind::NotOneOf(words) if problem.pointer == here => Some(words.clone()),
            _ => None,
        })?;
        words.extend(constant);
    }
    Some(words)
}

/// Whether the value of a key picks another alternative than this one, as `event` does.
fn is_other_tag(problem: &Problem) -> bool {
    matches!(&problem.kind, ProblemKind::NotOneOf(words) if words.len() == 1)
        && problem.pointer.last().is_some_and(|key| key == "event")
}

fn tags(explained: &[Vec<Problem>], error: &ValidationError<'_>) -> Vec<Problem> {
    let mut words = Vec::new();
    let mut place = pointer(error.instance_path().as_str());
    for problem in explained.iter().flatten().filter(|problem| is_other_tag(problem)) {
        if let ProblemKind::NotOneOf(more) = &problem.kind {
            words.extend(more.iter().cloned());
            place.clone_from(&problem.pointer);
        }
    }
    vec![Problem { pointer: place, kind: ProblemKind::NotOneOf(words) }]
}

fn known_keys(schema: &Value, error: &ValidationError<'_>) -> Vec<String> {
    let path = error.schema_path().as_str();
    let owner = path.rsplit_once('/').map_or("", |(owner, _)| owner);
    let keys = schema.pointer(owner).and_then(|object| object.get("properties")).and_then(Value::as_object);
    keys.map(|keys| keys.keys().filter(|key| *key != "$schema").cloned().collect()).unwrap_or_default()
}

fn types(kind: &TypeKind) -> Vec<String> {
    match kind {
        TypeKind::Single(kind) => vec![kind.to_string()],
        TypeKind::Multiple(kinds) => kinds.iter().map(|kind| kind.to_string()).collect(),
    }
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the validator knows keywords that our schemas do not use")]
fn rule(kind: &Error) -> String {
    match kind {
        Error::MinLength { .. } | Error::MinItems { .. } | Error::MinProperties { .. } => "is empty".into(),
        Error::MaxProperties { limit } => format!("has more than {limit} keys"),
        Error::Minimum { limit } => format!("is less than {limit}"),
        Error::Maximum { limit } => format!("is more than {limit}"),
        Error::Pattern { pattern } => format!("does not match `{pattern}`"),
        other => format!("breaks the rule `{}`", other.keyword()),
    }
}
