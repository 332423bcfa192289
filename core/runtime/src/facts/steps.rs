//! The source `steps`: the steps of plans that a question names, each with the calls that it permits.

use phasegate_config::plan_steps;
use phasegate_core::FactValue;
use phasegate_core::policy::steps::Step;
use phasegate_store::digest::sha256_hex;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::named_files::{self, NamedFiles};
use super::source::{FactSource, World};

/// The source.
pub(super) struct Steps;

/// What is asked of the files.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Paths with `*`, `?`, `**` and `{a,b}`, relative to the root of the project.
    pub(crate) paths: Vec<String>,
    /// The JSON pointer to the list.
    at: String,
    /// The files that are meant among these.
    #[serde(default)]
    files: NamedFiles,
}

impl FactSource for Steps {
    const NAME: &'static str = "steps";
    type Arguments = Arguments;

    fn gather(world: World<'_>, arguments: &Arguments) -> FactValue {
        let tried = |steps: &[Step]| world.trial.map_or_else(Vec::new, |trial| trial.faults(steps, &arguments.paths));
        arguments.answer(&|path| named_files::bytes(world.root, path), &tried)
    }
}

impl Arguments {
    /// What each file has for steps. Each has its own time: how long others take changes nothing that is told of it.
    pub(crate) fn answer(
        &self,
        read: &dyn Fn(&str) -> Option<Vec<u8>>,
        tried: &dyn Fn(&[Step]) -> Vec<String>,
    ) -> FactValue {
        let of_file = |path: &str, digest: &str| named_files::one(path, digest, read, &|bytes| self.of(bytes, tried));
        let told: Map<String, Value> =
            self.files.iter().map(|(path, digest)| (path.clone(), of_file(path, digest))).collect();
        FactValue::Known(Value::Object(told))
    }

    /// The steps in a file, with the digest of what was read; or why it has none that can be carried out, as a text.
    fn of(&self, bytes: &[u8], tried: &dyn Fn(&[Step]) -> Vec<String>) -> Value {
        let text = String::from_utf8_lossy(bytes);
        let steps = match plan_steps(&text, &self.at) {
            Ok(steps) => steps,
            Err(fault) => return Value::from(fault),
        };
        let faults = tried(&steps);
        if faults.is_empty() {
            json!({"sha256": sha256_hex(bytes), "steps": steps})
        } else {
            Value::from(faults.join("\n"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_told_with_its_digest() {
        let arguments = Arguments { paths: Vec::new(), at: "/steps".into(), files: NamedFiles::new() };
        let bytes = br#"{"steps": ["prose"]}"#;
        let told = arguments.of(bytes, &|_| Vec::new());
        assert_eq!(told["sha256"], sha256_hex(bytes));
        assert_eq!(told["steps"][0]["text"], "prose");
        assert!(arguments.of(b"# Prose", &|_| Vec::new()).as_str().unwrap().contains("no list"));
    }
}
