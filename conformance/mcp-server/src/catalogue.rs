//! What the server says it has, as data: the files of `catalogue/`.

use std::collections::HashMap;

use rmcp::model::{ElicitationSchema, Prompt, Resource, ResourceTemplate, Tool};
use serde::Deserialize;

/// A pixel, as PNG in Base64.
pub(crate) const IMAGE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
/// A sound of no length, as WAV in Base64.
pub(crate) const SOUND: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

/// Everything the server lists.
pub(crate) struct Catalogue {
    /// The tools.
    pub(crate) tools: Vec<Tool>,
    /// The resources with an address of their own.
    pub(crate) resources: Vec<Resource>,
    /// The resources whose address has a part to fill in.
    pub(crate) templates: Vec<ResourceTemplate>,
    /// The prompts.
    pub(crate) prompts: Vec<Prompt>,
    /// What tools ask the client's user, by the tool's name.
    pub(crate) questions: HashMap<String, Question>,
}

/// What a tool asks the client's user.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    /// The text; empty where the caller gives it.
    pub(crate) message: String,
    /// The form of the answer.
    pub(crate) schema: ElicitationSchema,
}

impl Catalogue {
    /// Reads the files that were built in.
    pub(crate) fn load() -> Result<Self, serde_json::Error> {
        Ok(Self {
            tools: serde_json::from_str(include_str!("../catalogue/tools.json"))?,
            resources: serde_json::from_str(include_str!("../catalogue/resources.json"))?,
            templates: serde_json::from_str(include_str!("../catalogue/templates.json"))?,
            prompts: serde_json::from_str(include_str!("../catalogue/prompts.json"))?,
            questions: serde_json::from_str(include_str!("../catalogue/questions.json"))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_in_form_and_each_question_has_its_tool() {
        let catalogue = Catalogue::load().unwrap();
        let named = |name: &str| catalogue.tools.iter().any(|tool| tool.name == name);
        assert!(catalogue.questions.keys().all(|name| named(name)));
        assert!(catalogue.tools.iter().all(|tool| tool.description.is_some()));
    }
}
