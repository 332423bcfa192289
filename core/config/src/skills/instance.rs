//! Instances: skills with the values of their inputs put in.

use phasegate_core::policy::Skill;
use phasegate_core::policy::input::Values;
use phasegate_core::policy::matcher::Matcher;
use serde_json::Value;

use crate::version;

/// The skill with these values, under a version of its own; `None` if a value makes something else of it than a skill.
pub fn instance(skill: &Skill, values: &Values) -> Option<Skill> {
    let mut made = serde_json::to_value(skill).ok()?;
    let kept = made.get("inputs").cloned();
    made.as_object_mut()?.remove("children");
    put_in(&mut made, values);
    made.as_object_mut()?.insert("inputs".to_owned(), kept?);
    let mut made: Skill = serde_json::from_value(made).ok()?;
    made.instance_of = Some(skill.version.clone());
    for input in &mut made.inputs {
        input.value = values.get(&input.name).cloned().or(input.value.take());
    }
    made.children = skill.children.iter().map(|child| instance_of_child(child, values)).collect::<Option<_>>()?;
    made.version = version::of_skill(&made);
    Some(made)
}

/// A skill that another runs, with the values of inputs of the same names.
fn instance_of_child(child: &Skill, values: &Values) -> Option<Skill> {
    if child.inputs.is_empty() && child.children.is_empty() {
        return Some(child.clone());
    }
    let known = |name: &&String| child.inputs.iter().any(|input| input.name == **name);
    let own = values.iter().filter(|(name, _)| known(name)).map(|(name, value)| (name.clone(), value.clone()));
    instance(child, &own.collect())
}

/// Puts a value into a skill's own texts, where its artifacts use it.
pub(crate) fn put(skill: &mut Skill, name: &str, value: &str) {
    let children = std::mem::take(&mut skill.children);
    let mut made = serde_json::to_value(&*skill).unwrap_or_default();
    put_in(&mut made, &Values::from([(name.to_owned(), value.to_owned())]));
    if let Ok(made) = serde_json::from_value(made) {
        *skill = made;
    }
    skill.children = children;
}

/// The matcher with these values.
pub(crate) fn matcher_of(matcher: &Matcher, values: &Values) -> Option<Matcher> {
    let mut made = serde_json::to_value(matcher).ok()?;
    put_in(&mut made, values);
    serde_json::from_value(made).ok()
}

fn put_in(value: &mut Value, values: &Values) {
    match value {
        Value::String(text) => {
            for name in names(text) {
                if let Some(value) = values.get(&name) {
                    *text = text.replace(&sample(&name), value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| put_in(item, values)),
        Value::Object(fields) => {
            for (key, field) in fields {
                match key.as_str() {
                    // A JSON Schema is a text of its own, with `${}` of its own.
                    SCHEMA => {}
                    PATTERN => {
                        put_in(field, &values.iter().map(|(name, value)| (name.clone(), literal(value))).collect())
                    }
                    _ => put_in(field, values),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The keys of a compiled skill whose text is a JSON Schema, and a regular expression.
const SCHEMA: &str = "schema";
const PATTERN: &str = "matches";

/// A value as a regular expression that matches it alone.
fn literal(value: &str) -> String {
    value.replace('.', "\\.").replace('+', "\\+")
}

/// How an input is written where its value is put in.
pub(crate) fn sample(name: &str) -> String {
    format!("${{{name}}}")
}

/// The names in `${}` in a text. Those of the environment (`${HOME}`) have large letters, and are none.
pub(crate) fn names(text: &str) -> Vec<String> {
    let letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "_-".contains(letter);
    let named = |name: &&str| name.starts_with(|first: char| first.is_ascii_lowercase()) && name.chars().all(letter);
    let ends = text.split("${").skip(1).filter_map(|rest| rest.split_once('}'));
    ends.map(|(name, _)| name).filter(named).map(ToOwned::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_means_itself_in_an_expression_and_nothing_in_a_schema() {
        let mut skill = json!({
            "title": {"matches": "Plan of ${id}: .+"},
            "last_line": {"is": "**${id}**"},
            "rules": {"schema": {"file": "s.json", "schema": "{\"pattern\": \"${id}\"}"}},
        });
        let before = skill.clone();
        put_in(&mut skill, &Values::from([("id".to_owned(), "a.b+c".to_owned())]));
        assert_eq!(skill["title"]["matches"], "Plan of a\\.b\\+c: .+");
        assert_eq!(skill["last_line"]["is"], "**a.b+c**");
        assert_eq!(skill["rules"], before["rules"]);
    }
}
