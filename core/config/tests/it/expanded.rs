//! A skill written out says the same as the short one.

use std::fs;
use std::path::Path;

use phasegate_config::{Kind, Level, SourceFile, compile, expanded, shipped, shipped_policy};
use phasegate_core::policy::Skill;
use serde_json::Value;

use crate::cases::beside;

/// The skill without its version, the texts of its matchers and the numbers of its conditions, which follow from how it is
/// written.
fn meaning(skill: &Skill) -> Value {
    let mut value = serde_json::to_value(skill).unwrap();
    plain(&mut value);
    value
}

fn plain(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, _| !matches!(key.as_str(), "text" | "version" | "atom"));
            fields.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn a_skill_written_out_is_compiled_to_the_same() {
    let names = shipped().iter().map(|one| one.name);
    let both = names.flat_map(|name| [format!("{name}@strict"), format!("{name}@compat")]);
    let mut skills: Vec<Skill> =
        both.filter_map(|name| shipped_policy(&name, None)).flat_map(|one| one.skills).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/valid");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if name.contains("settings") || name.ends_with(".md") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let file = SourceFile { path: name, text, level: Level::Project, kind: Kind::Skill };
        skills.extend(compile(&[vec![file], beside()].concat()).policy.skills.clone());
    }
    assert!(skills.len() > 10, "{}", skills.len());
    for skill in skills {
        let text = expanded(&skill);
        let file =
            SourceFile { path: "skill.yaml".into(), text: text.clone(), level: Level::Project, kind: Kind::Skill };
        let found = compile(&[vec![file], beside()].concat());
        let Some(again) = found.policy.skill(&skill.name) else {
            panic!("{}:\n{text}\n{:?}", skill.name, found.diagnostics)
        };
        assert_eq!(meaning(again), meaning(&skill), "{}:\n{text}", skill.name);
    }
}
