//! The keywords that bound one value, without its parts: type, constants, sizes, pattern.

use serde_json::Value;

use crate::problem::ProblemKind;

/// Applies one keyword to a value. `None`: this module does not know the keyword. `Some(None)`: the value obeys it.
pub(crate) fn apply(keyword: &str, rule: &Value, value: &Value) -> Option<Option<ProblemKind>> {
    let broken = match keyword {
        "type" => wrong_type(rule, value),
        "const" => (rule != value).then(|| ProblemKind::NotOneOf(vec![word(rule)])),
        "enum" => not_one_of(rule, value),
        "minLength" => too_small(rule, value.as_str().map(|text| text.chars().count())),
        "minItems" => too_small(rule, value.as_array().map(Vec::len)),
        "minProperties" => too_small(rule, value.as_object().map(serde_json::Map::len)),
        "maxItems" => {
            let large = too_large(rule, value.as_array().map(Vec::len));
            large.then(|| ProblemKind::Other("breaks the rule `maxItems`".into()))
        }
        "maxProperties" => {
            let large = too_large(rule, value.as_object().map(serde_json::Map::len));
            large.then(|| ProblemKind::Other(format!("has more than {rule} keys")))
        }
        "minimum" => {
            let below = is_less(value, rule);
            below.then(|| ProblemKind::Other(format!("is less than {rule}")))
        }
        "maximum" => {
            let above = is_less(rule, value);
            above.then(|| ProblemKind::Other(format!("is more than {rule}")))
        }
        "pattern" => {
            let pattern = rule.as_str().unwrap_or_default();
            let differs = value.as_str().is_some_and(|text| !is_hex(pattern, text));
            differs.then(|| ProblemKind::Other(format!("does not match `{pattern}`")))
        }
        "uniqueItems" => {
            let twice = value.as_array().is_some_and(|items| has_duplicate(items));
            twice.then(|| ProblemKind::Other("breaks the rule `uniqueItems`".into()))
        }
        _ => return None,
    };
    Some(broken)
}

/// The text of a constant: a string without its quotes, anything else as JSON.
pub(crate) fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

fn wrong_type(rule: &Value, value: &Value) -> Option<ProblemKind> {
    let types: Vec<&str> = match rule {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        single => single.as_str().into_iter().collect(),
    };
    let fits = types.iter().any(|kind| is_of_type(kind, value));
    (!fits).then(|| ProblemKind::WrongType(types.into_iter().map(str::to_string).collect()))
}

fn is_of_type(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64()
                || value.is_u64()
                || value.as_f64().is_some_and(|number| number.is_finite() && number.fract() == 0.0)
        }
        _ => false,
    }
}

fn not_one_of(rule: &Value, value: &Value) -> Option<ProblemKind> {
    let options = rule.as_array()?;
    (!options.contains(value)).then(|| ProblemKind::NotOneOf(options.iter().map(word).collect()))
}

fn too_small(rule: &Value, size: Option<usize>) -> Option<ProblemKind> {
    let (least, size) = (rule.as_u64()?, size? as u64);
    (size < least).then(|| ProblemKind::Other("is empty".into()))
}

fn too_large(rule: &Value, size: Option<usize>) -> bool {
    rule.as_u64().zip(size).is_some_and(|(most, size)| size as u64 > most)
}

/// Whether both are numbers and the first is less.
fn is_less(one: &Value, other: &Value) -> bool {
    match (one.as_i64(), other.as_i64()) {
        (Some(one), Some(other)) => one < other,
        _ => one.as_f64().zip(other.as_f64()).is_some_and(|(one, other)| one < other),
    }
}

/// The only pattern of the schemas: the digits of a SHA-256 digest. A text matches no other pattern.
fn is_hex(pattern: &str, text: &str) -> bool {
    pattern == "^[0-9a-f]{64}$"
        && text.len() == 64
        && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn has_duplicate(items: &[Value]) -> bool {
    items.iter().enumerate().any(|(at, item)| items.iter().skip(at + 1).any(|other| other == item))
}
