//! The source `steps`: the steps of each plan that patterns select, each with the calls that it permits.

use phasegate_config::plan_steps;
use phasegate_core::FactValue;
use phasegate_core::steps::Step;
use phasegate_store::digest::sha256_hex;
use serde::Deserialize;
use serde_json::{Value, json};

use super::listing;
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
}

impl FactSource for Steps {
    const NAME: &'static str = "steps";
    type Arguments = Arguments;

    fn gather(world: World<'_>, arguments: &Arguments) -> FactValue {
        let Arguments { paths, .. } = arguments;
        let fault = |step: &Step| world.trial?.fault(step, paths);
        let found = listing::each(world.root, paths, &|bytes| arguments.of(bytes, &fault));
        found.map_or(FactValue::Unknown, |files| FactValue::Known(json!(files)))
    }
}

impl Arguments {
    /// The steps in a file, with the digest of what was read; or why it has none that can be carried out, as a text.
    pub(crate) fn of(&self, bytes: &[u8], fault: &dyn Fn(&Step) -> Option<String>) -> Value {
        let text = String::from_utf8_lossy(bytes);
        let steps = match plan_steps(&text, &self.at) {
            Ok(steps) => steps,
            Err(fault) => return Value::from(fault),
        };
        let faults: Vec<String> = steps.iter().filter_map(fault).collect();
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
        let arguments = Arguments { paths: Vec::new(), at: "/steps".into() };
        let bytes = br#"{"steps": ["prose"]}"#;
        let told = arguments.of(bytes, &|_| None);
        assert_eq!(told["sha256"], sha256_hex(bytes));
        assert_eq!(told["steps"][0]["text"], "prose");
        assert!(arguments.of(b"# Prose", &|_| None).as_str().unwrap().contains("no list"));
    }
}
