//! `docs/config.md`: every key of a config, from the schemas and `core/config/manual.toml`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::Value;

use super::generated::{Generated, cell};
use xtask::failure::{Failure, Result};
use xtask::root::{read, root};

const MANUAL: &str = "core/config/manual.toml";
const HEAD: &str = "# Configs\n\n\
    Made by `cargo xtask gen` from the config types and `core/config/manual.toml`.\n\
    This page lists every key with its type, default, meaning and an example. A test compiles every example.\n\
    `phasegate check` finds mistakes in your own files, and `phasegate schema skill` and `phasegate schema settings` print the JSON Schemas.\n\n\
    Files are YAML or JSON. An unknown key is an error. An anchor (`&tests \"tests/**\"`) names a value, and an alias (`*tests`) repeats it.\n";

/// `manual.toml`.
#[derive(Deserialize)]
struct Manual {
    section: Vec<Section>,
}

#[derive(Deserialize)]
struct Section {
    #[serde(rename = "type")]
    of: String,
    title: String,
    intro: String,
    key: BTreeMap<String, Key>,
}

#[derive(Deserialize)]
struct Key {
    default: Option<String>,
    example: String,
}

/// The page.
pub(super) fn page() -> Result<Generated> {
    let manual: Manual =
        toml::from_str(&read(&root().join(MANUAL))?).map_err(|error| Failure::new(format!("{MANUAL}: {error}")))?;
    let types = types();
    let mut text = String::from(HEAD);
    for section in &manual.section {
        let Some(of) = types.get(&section.of) else { continue };
        let _ = write!(text, "\n## {}\n\n{}\n\n", section.title, section.intro);
        text.push_str("| key | type | default | meaning | example |\n|---|---|---|---|---|\n");
        for (name, property) in of.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let Some(key) = section.key.get(name) else { continue };
            let row = [kind(property, &manual), default(of, name, property, key), meaning(property), example(key)];
            let _ = writeln!(text, "| `{name}` | {} |", row.map(|text| cell(&text)).join(" | "));
        }
    }
    text.push_str("\n## Words\n\nThese keys take one of a few words.\n\n| type | word | meaning |\n|---|---|---|\n");
    for (name, of) in &types {
        for choice in choices(of) {
            let word = choice.get("const").and_then(Value::as_str).unwrap_or_default();
            let _ = writeln!(text, "| {} | `{word}` | {} |", plain(name), cell(&meaning(choice)));
        }
    }
    Ok(Generated { path: "docs/config.md".into(), text })
}

/// The roots of the schemas and their definitions, by name.
fn types() -> BTreeMap<String, Value> {
    let mut types = BTreeMap::new();
    for (file, schema) in phasegate_config::schema::all() {
        let name = file.trim_end_matches(".schema.json");
        if name != "event" {
            let definitions = schema.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
            types.extend(definitions);
            types.insert(name.to_string(), schema);
        }
    }
    types
}

/// The alternatives of a type whose values are words.
fn choices(of: &Value) -> impl Iterator<Item = &Value> {
    let alternatives = ["oneOf", "anyOf"].into_iter().filter_map(|key| of.get(key)?.as_array());
    alternatives.flatten().filter(|choice| choice.get("const").is_some())
}

/// The type of a value in words.
fn kind(property: &Value, manual: &Manual) -> String {
    if let Some(name) = property.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()) {
        return named(name, manual);
    }
    let inner = |key: &str| property.get(key).filter(|inner| inner.is_object()).map(|inner| kind(inner, manual));
    match property.get("type").and_then(Value::as_str) {
        Some("array") => inner("items").map_or("list".into(), |of| format!("list of: {of}")),
        Some("object") => inner("additionalProperties").map_or("map".into(), |of| format!("map of: {of}")),
        Some("string") => "text".into(),
        Some("boolean") => "`true` or `false`".into(),
        Some("integer") => "integer".into(),
        _ => "any value".into(),
    }
}

/// A type by its name: its section, or the words of which it is one.
fn named(name: &str, manual: &Manual) -> String {
    match name {
        "MatcherSource" => return "text or [matcher](#a-matcher)".into(),
        "Matchers" => return "text, [matcher](#a-matcher), or a list of these".into(),
        "NextSource" => return "text or [edge](#an-edge-to-a-following-phase)".into(),
        "OptionalSource" => {
            return "`true`, `false` or [condition](#an-optional-phase-with-a-condition)".into();
        }
        "UseSource" => return "text or [object](#a-shipped-skill-with-options)".into(),
        "ArgSource" => return "value or [test](#a-test-of-an-argument)".into(),
        _ => {}
    }
    match manual.section.iter().find(|section| section.of == name) {
        Some(section) => {
            let kept = |letter: &char| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter);
            let anchor: String = section.title.to_lowercase().chars().filter(kept).collect();
            let anchor = anchor.replace(' ', "-");
            format!("[{}](#{anchor})", plain(name))
        }
        None => either(name, manual).unwrap_or_else(|| format!("[{}](#words)", plain(name))),
    }
}

/// The types of which a value may be one, where its type has no words of its own.
fn either(name: &str, manual: &Manual) -> Option<String> {
    let types = types();
    let of = types.get(name).filter(|of| choices(of).next().is_none())?;
    let members = ["oneOf", "anyOf"].into_iter().find_map(|key| of.get(key)?.as_array());
    let kinds: Vec<String> = match members {
        Some(members) => members.iter().map(|member| kind(member, manual)).collect(),
        None => vec![kind(of, manual)],
    };
    Some(kinds.join(" or "))
}

/// A type's name without its ending: `FinishSource` is `finish`.
fn plain(name: &str) -> String {
    let mut words = String::new();
    for letter in name.trim_end_matches("Source").chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

fn default(of: &Value, name: &str, property: &Value, key: &Key) -> String {
    let required = of.get("required").and_then(Value::as_array).into_iter().flatten().any(|key| key == name);
    match (&key.default, property.get("default")) {
        _ if required => "required".into(),
        (Some(text), _) => text.clone(),
        (None, Some(Value::String(text))) if text.is_empty() => "empty".into(),
        (None, Some(Value::Array(items))) if items.is_empty() => "none".into(),
        (None, Some(Value::Object(fields))) if fields.is_empty() => "none".into(),
        (None, Some(value)) => format!("`{value}`"),
        (None, None) => "none".into(),
    }
}

fn meaning(property: &Value) -> String {
    property.get("description").and_then(Value::as_str).unwrap_or_default().to_string()
}

fn example(key: &Key) -> String {
    key.example.lines().map(|line| format!("`{line}`")).collect::<Vec<_>>().join("<br>")
}
