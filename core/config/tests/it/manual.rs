//! The manual is complete: every key of the schemas has a meaning, a default and an example, and every example compiles.

use std::collections::{BTreeMap, BTreeSet};

use phasegate_config::{Kind, Level, SourceFile, compile};
use serde::Deserialize;
use serde_json::Value;

/// `manual.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manual {
    section: Vec<Section>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    #[serde(rename = "type")]
    of: String,
    title: String,
    intro: String,
    frame: String,
    key: BTreeMap<String, Key>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    default: Option<String>,
    example: String,
    frame: Option<String>,
}

fn manual() -> Manual {
    toml::from_str(include_str!("../../manual.toml")).unwrap()
}

/// Every object of the schemas with fixed keys, by name: the roots `skill` and `settings`, and the definitions.
fn objects() -> BTreeMap<String, Value> {
    let mut objects = BTreeMap::new();
    for (file, mut schema) in phasegate_config::schema::all() {
        let root = file.trim_end_matches(".schema.json").to_string();
        if root == "event" {
            continue;
        }
        let definitions = schema.as_object_mut().unwrap().remove("$defs").unwrap();
        objects.insert(root, schema);
        for (name, definition) in definitions.as_object().unwrap() {
            if definition.get("properties").is_some() {
                objects.insert(name.clone(), definition.clone());
            }
        }
    }
    objects
}

#[test]
fn every_key_has_a_meaning_a_default_and_an_example() {
    let objects = objects();
    let manual = manual();
    let sections: BTreeSet<&String> = manual.section.iter().map(|section| &section.of).collect();
    assert_eq!(sections, objects.keys().collect(), "sections of manual.toml, and types of the schemas");
    for section in &manual.section {
        assert!(!section.title.is_empty() && !section.intro.is_empty(), "{}", section.of);
        let object = &objects[&section.of];
        let properties = object["properties"].as_object().unwrap();
        let known: BTreeSet<&String> = properties.keys().collect();
        assert_eq!(section.key.keys().collect::<BTreeSet<_>>(), known, "keys of {}", section.of);
        for (name, property) in properties {
            let place = format!("{}.{name}", section.of);
            assert!(property["description"].as_str().is_some_and(|text| text.len() > 5), "{place} has no meaning");
            let required = object["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
            let stated = property.get("default").is_some() || section.key[name].default.is_some();
            assert!(required || stated, "{place} has no default");
            assert!(section.key[name].example.contains(name.as_str()), "the example of {place} does not show it");
        }
    }
}

#[test]
fn every_example_compiles() {
    for section in &manual().section {
        for (name, key) in &section.key {
            let frame = key.frame.as_ref().unwrap_or(&section.frame);
            let text = framed(frame, &key.example);
            let kind = match section.of.as_str() {
                "facts" | "RuleFactSource" => Kind::Facts,
                _ if text.contains("phases:") => Kind::Skill,
                _ => Kind::Settings,
            };
            let file = SourceFile { path: format!("{name}.yaml"), text: text.clone(), level: Level::Project, kind };
            let rules = "@id(\"r\") forbid(principal, action, resource) when { context.access == \"admin\" };".into();
            let rules = SourceFile { path: format!("{name}.cedar"), text: rules, kind: Kind::Rules, ..file.clone() };
            let files = if kind == Kind::Facts { vec![file, rules] } else { vec![file] };
            let found = compile(&[files, crate::cases::beside()].concat()).diagnostics;
            assert!(found.is_empty(), "{}.{name}:\n{text}\n{found:#?}", section.of);
        }
    }
}

/// The frame with the example in place of `@@`, each line indented as the mark is.
fn framed(frame: &str, example: &str) -> String {
    let line = frame.lines().find(|line| line.contains("@@")).unwrap();
    let indent = &line[..line.len() - line.trim_start().len()];
    frame.trim_start_matches('\n').replace("@@", &example.replace('\n', &format!("\n{indent}")))
}
