//! JSON merge patches (RFC 7396): how a journal record says what changed in the state.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

/// A patch, with the values of the state that it leads to.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Patch<'a> {
    /// The field goes.
    Gone(()),
    /// The field is this from now on.
    Set(&'a Value),
    /// Of the object's fields these change.
    Fields(BTreeMap<&'a str, Patch<'a>>),
}

/// The patch that makes `old` into `new`; `None` if no merge patch can, because `new` has a null in an object.
pub fn difference<'a>(old: &'a Value, new: &'a Value) -> Option<Patch<'a>> {
    let (Value::Object(before), Value::Object(after)) = (old, new) else {
        return None;
    };
    differences(before, after, None).map(Patch::Fields)
}

/// As [`difference`], but for the field with this name.
pub fn difference_but<'a>(old: &'a Value, new: &'a Value, but: &str) -> Option<Patch<'a>> {
    let (Value::Object(before), Value::Object(after)) = (old, new) else {
        return None;
    };
    differences(before, after, Some(but)).map(Patch::Fields)
}

fn differences<'a>(
    before: &'a Map<String, Value>,
    after: &'a Map<String, Value>,
    but: Option<&str>,
) -> Option<BTreeMap<&'a str, Patch<'a>>> {
    let mut patch = BTreeMap::new();
    let counts = |name: &&String| but != Some(name.as_str());
    for name in before.keys().filter(|name| !after.contains_key(*name)).filter(counts) {
        patch.insert(name.as_str(), Patch::Gone(()));
    }
    for (name, value) in after.iter().filter(|(name, _)| counts(name)) {
        match (before.get(name), value) {
            (Some(same), _) if same == value => {}
            (Some(Value::Object(before)), Value::Object(after)) => {
                patch.insert(name, Patch::Fields(differences(before, after, None)?));
            }
            _ => {
                patch.insert(name, Patch::Set(Some(value).filter(|value| can_be_set(value))?));
            }
        }
    }
    Some(patch)
}

/// Whether a patch can say this value: a null in an object would take the field away. Lists are set as they are.
fn can_be_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Object(fields) => fields.values().all(can_be_set),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => true,
    }
}

/// Applies a merge patch.
pub fn apply(target: &mut Value, patch: Value) {
    let Value::Object(changes) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(fields) = target else { return };
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(&name);
        } else {
            apply(fields.entry(name).or_insert(Value::Null), change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// The patch as it is written.
    fn difference(old: &Value, new: &Value) -> Option<Value> {
        super::difference(old, new).map(|patch| serde_json::to_value(patch).unwrap())
    }

    #[test]
    fn the_examples_of_the_rfc_hold() {
        let cases = [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ];
        for (mut target, patch, wanted) in cases {
            apply(&mut target, patch);
            assert_eq!(target, wanted);
        }
    }

    #[test]
    fn a_null_that_cannot_be_patched_is_said_so() {
        assert_eq!(difference(&json!({"a": 1}), &json!({"a": null})), None);
        assert_eq!(difference(&json!({"a": null}), &json!({"a": null, "b": 1})), Some(json!({"b": 1})));
        assert_eq!(difference(&json!({"a": 1}), &json!({"a": {"b": null}})), None);
        assert_eq!(difference(&json!({"a": {"b": 1}}), &json!({"a": {"b": null}})), None);
        assert_eq!(difference(&json!({"a": 1}), &json!({"a": [null]})), Some(json!({"a": [null]})));
    }

    fn object() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![9 => Just(json!(1)), 9 => Just(json!("x")), 9 => Just(json!([1, null])), 9 => Just(json!({})), 1 => Just(json!(null))];
        let inner = leaf.prop_recursive(3, 16, 4, |inner| {
            prop::collection::btree_map("[a-d]", inner, 0..4).prop_map(|map| json!(map))
        });
        prop::collection::btree_map("[a-d]", inner, 0..4).prop_map(|map| json!(map))
    }

    proptest! {
        #[test]
        fn a_difference_leads_from_old_to_new(old in object(), new in object()) {
            let mut target = old.clone();
            if let Some(patch) = difference(&old, &new) {
                apply(&mut target, patch);
                prop_assert_eq!(target, new);
            } else {
                prop_assert!(new.to_string().contains("null"));
            }
        }
    }
}
