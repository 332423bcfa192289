//! The source `format`: whether files of an artifact have its format, and what is wrong with those that have not.

mod markdown;

use phasegate_config::JsonSchema;
use phasegate_core::format::{Format as ArtifactFormat, Rules};
use phasegate_core::{FactValue, Policy};
use serde::Deserialize;
use serde_json::{Value, json};

use super::named::{NamedFiles, bytes, each};
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
