//! The JSON Schemas, generated from the source types.

mod event;
mod tidy;

use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::source::{RuleFactsSource, SettingsSource, SkillSource};

/// Every schema with the name of its file in `schemas/`.
pub fn all() -> Vec<(&'static str, Value)> {
    let mut settings = schema::<SettingsSource>("settings", "phasegate settings");
    let mut facts = schema::<RuleFactsSource>("facts", "phasegate facts of rules");
    // No list of the settings, and no fact, has lines with a condition.
    for key in ["requires", "until", "from", "at"] {
        tidy::without_key(&mut settings, "MatcherObject", key);
        tidy::without_key(&mut facts, "MatcherObject", key);
    }
    let mut all = vec![
        ("event.schema.json", schema::<event::EventLine>("event", "A line of a neutral transcript")),
        ("facts.schema.json", facts),
        ("settings.schema.json", settings),
        ("skill.schema.json", schema::<SkillSource>("skill", "phasegate skill")),
    ];
    all.iter_mut().for_each(|(_, schema)| schema.sort_all_objects());
    all
}

fn schema<T: schemars::JsonSchema>(name: &str, title: &str) -> Value {
    let mut value = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value();
    tidy::tidy(&mut value);
    if let Some(root) = value.as_object_mut() {
        root.insert("$id".into(), format!("https://phasegate.dev/schemas/{name}.schema.json").into());
        root.insert("title".into(), title.into());
    }
    value
}
