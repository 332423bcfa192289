//! Values of fields, variables and literals, and when two of them are equal.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// A value. Equality is the one of Cedar: by type and content, and decimals by number.
///
/// [`Value::decimal`] normalizes the spelling of a decimal, so that derived equality is equality by number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// A field that is there and says nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A decimal, normalized; see [`Value::decimal`].
    Decimal(Arc<str>),
    /// A text.
    Text(Arc<str>),
    /// An entity by its type and id. It equals no text, and no entity of another type.
    Entity(Arc<str>, Arc<str>),
    /// A list, in order.
    List(Vec<Value>),
    /// A record.
    Record(BTreeMap<String, Value>),
}

impl Value {
    /// A text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Text(Arc::from(text))
    }

    /// An entity.
    #[must_use]
    pub fn entity(kind: &str, id: &str) -> Self {
        Self::Entity(Arc::from(kind), Arc::from(id))
    }

    /// A decimal. Spellings that Cedar accepts are normalized; any other spelling equals only itself.
    #[must_use]
    pub fn decimal(text: &str) -> Self {
        match scaled(text) {
            Some(number) => Self::Decimal(Arc::from(alloc::format!("{number}e-4"))),
            None => Self::Decimal(Arc::from(text)),
        }
    }

    /// The value of `json`. Nothing in it becomes an entity: what an agent writes cannot name one.
    #[must_use]
    pub fn from_json(json: &serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(truth) => Self::Bool(*truth),
            serde_json::Value::Number(number) => match number.as_i64() {
                Some(integer) => Self::Int(integer),
                None => Self::decimal(&number.to_string()),
            },
            serde_json::Value::String(text) => Self::text(text),
            serde_json::Value::Array(items) => Self::List(items.iter().map(Self::from_json).collect()),
            serde_json::Value::Object(members) => {
                Self::Record(members.iter().map(|(name, value)| (name.clone(), Self::from_json(value))).collect())
            }
        }
    }

    /// The integer, if it is one.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(integer) => Some(*integer),
            _ => None,
        }
    }

    /// About how many bytes it takes in a state.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Null | Self::Bool(_) => 8,
            Self::Int(_) => 16,
            Self::Decimal(text) | Self::Text(text) => 16 + text.len(),
            Self::Entity(kind, id) => 24 + kind.len() + id.len(),
            Self::List(items) => 16 + items.iter().map(Self::size).sum::<usize>(),
            Self::Record(members) => {
                16 + members.iter().map(|(name, value)| 8 + name.len() + value.size()).sum::<usize>()
            }
        }
    }
}

/// The number of ten-thousandths that a decimal denotes, if Cedar accepts the spelling.
fn scaled(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.')?;
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let only_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !only_digits(digits) || !only_digits(fraction) || fraction.len() > 4 {
        return None;
    }
    let places = u32::try_from(fraction.len()).ok()?;
    let part = fraction.parse::<i64>().ok()?.checked_mul(10_i64.checked_pow(4 - places)?)?;
    let number = whole.parse::<i64>().ok()?.checked_mul(10_000)?;
    if whole.starts_with('-') { number.checked_sub(part) } else { number.checked_add(part) }
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn decimals_are_equal_by_number() {
        for (a, b) in [("1.5", "1.50"), ("02.5", "2.5000"), ("-0.0", "0.0"), ("-0.5", "-00.50")] {
            assert_eq!(Value::decimal(a), Value::decimal(b), "{a} and {b}");
        }
        for (a, b) in [("1", "1.0"), ("1.5", "-1.5"), ("1.00001", "1.0"), ("15000e-4", "1.5001")] {
            assert_ne!(Value::decimal(a), Value::decimal(b), "{a} and {b}");
        }
    }

    #[test]
    fn values_of_different_types_are_unequal() {
        assert_ne!(Value::text("T::\"a\""), Value::entity("T", "a"));
        assert_ne!(Value::entity("T", "a"), Value::entity("U", "a"));
        assert_ne!(Value::Int(1), Value::text("1"));
    }

    #[test]
    fn json_never_becomes_an_entity() {
        let forged = serde_json::json!({"__entity": {"type": "Session", "id": "1"}});
        assert!(matches!(Value::from_json(&forged), Value::Record(_)));
    }
}
