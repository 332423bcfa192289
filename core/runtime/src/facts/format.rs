//! The source `format`: whether files of an artifact have its format, and what is wrong with those that have not.

mod markdown;

use phasegate_config::JsonSchema;
use phasegate_core::evidence::format::{Format as ArtifactFormat, Rules};
use phasegate_core::{FactValue, Policy};
use serde::Deserialize;
use serde_json::{Value, json};

use super::named_files::{NamedFiles, bytes, each};
use super::source::{FactSource, World};

/// The source.
pub(super) struct Format;

/// What is asked of the files.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The skill with the artifact, and its version.
    skill: String,
    version: String,
    /// The artifact.
    artifact: String,
    /// The files.
    files: NamedFiles,
}

impl FactSource for Format {
    const NAME: &'static str = "format";
    type Arguments = Arguments;

    fn gather(world: World<'_>, arguments: &Arguments) -> FactValue {
        arguments.answer(world.policy, &|path| bytes(world.root, path))
    }
}

impl Arguments {
    /// What the files are, as `read` gives their bytes.
    pub(crate) fn answer(&self, policy: &Policy, read: &dyn Fn(&str) -> Option<Vec<u8>>) -> FactValue {
        let Some(format) = self.format(policy) else { return FactValue::Unknown };
        match &format.rules {
            Rules::Markdown(rules) => each(&self.files, read, &|bytes| told(markdown::fault(rules, bytes))),
            Rules::Schema(schema) => {
                let schema = serde_json::from_str(&schema.schema).ok().and_then(|value| JsonSchema::new(&value).ok());
                let Some(schema) = schema else { return FactValue::Unknown };
                each(&self.files, read, &|bytes| told(fault_of_json(&schema, bytes)))
            }
        }
    }

    fn format<'p>(&self, policy: &'p Policy) -> Option<&'p ArtifactFormat> {
        let skill = policy.skill_version(&self.skill, &self.version)?;
        skill.artifacts.iter().find(|artifact| artifact.name == self.artifact)?.format.as_ref()
    }
}

fn told(fault: Option<String>) -> Value {
    fault.map_or(json!(true), Value::from)
}

/// What is wrong with a JSON document, without a value of it.
fn fault_of_json(schema: &JsonSchema, bytes: &[u8]) -> Option<String> {
    match serde_json::from_slice::<Value>(bytes) {
        Ok(document) => schema.fault(&document),
        Err(error) => Some(format!("it is not JSON (line {})", error.line())),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use phasegate_core::FactValue;
    use phasegate_store::digest::sha256_hex;

    use super::*;

    #[test]
    fn a_schema_of_a_shipped_skill_is_applied_to_each_file() {
        let policy = phasegate_config::shipped_policy("planned-feature", None).unwrap();
        let skill = policy.skill("planned-feature").unwrap();
        let texts = [
            ("a.json", r#"{"tasks": [{"id": "T1", "wave": 1}]}"#),
            ("b.json", r#"{"tasks": []}"#),
            ("c.json", "{\n\"tasks\": nothing"),
        ];
        let files: BTreeMap<String, String> =
            texts.iter().map(|(path, text)| ((*path).to_owned(), sha256_hex(text.as_bytes()))).collect();
        let asked =
            Arguments { skill: skill.name.clone(), version: skill.version.clone(), artifact: "tasks".into(), files };
        let text =
            |path: &str| texts.iter().find(|(known, _)| *known == path).map(|(_, text)| text.as_bytes().to_vec());
        let FactValue::Known(answer) = asked.answer(&policy, &text) else { panic!() };
        assert_eq!(answer["a.json"], json!(true));
        assert!(answer["b.json"].as_str().unwrap().starts_with("`/tasks`: "), "{answer}");
        assert_eq!(answer["c.json"], json!("it is not JSON (line 2)"));
        let other = Arguments { version: "other".into(), ..asked };
        assert_eq!(other.answer(&policy, &text), FactValue::Unknown);
    }
}
