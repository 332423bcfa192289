//! Formats: what the files of an artifact must be for them to count (rules 3.3). The engine compares nothing: it asks.

use serde::{Deserialize, Serialize};

use serde_json::Value;

use crate::policy::matcher::{ArgIs, ArgTest};
use crate::prelude::*;

/// The most values of a field that are named.
const MAX_VALUES: usize = 5;

/// What the files of an artifact must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Format {
    /// It in words, for example ``with text in the section `Risks` ``.
    pub text: String,
    /// The rules that each file keeps.
    pub rules: Rules,
}

/// The rules of a format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rules {
    /// The files are Markdown.
    Markdown(Box<Markdown>),
    /// The files are JSON that a JSON Schema describes.
    Schema(Schema),
}

/// What Markdown must have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Markdown {
    /// The first heading, which is of level 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<TextTest>,
    /// Headings, each with text in its section.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<TextTest>,
    /// The least number of words of each of these sections; where there are none, of the whole text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_words: Option<u64>,
    /// Lines of the text, whatever section they stand in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<TextTest>,
    /// The last line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_line: Option<TextTest>,
    /// Fields of the front matter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub front_matter: Vec<ArgTest>,
}

/// A JSON Schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    /// The file that it was read from, as the config names it.
    pub file: String,
    /// Its text, as JSON.
    pub schema: String,
}

/// The values that a field of the front matter may have, where they are listed: `` `passed` or `failed` ``. Long lists are cut.
pub fn values(is: &ArgIs) -> Option<String> {
    let shown = |value: &Value| match value {
        Value::String(text) => alloc::format!("`{text}`"),
        other => alloc::format!("`{other}`"),
    };
    match is {
        ArgIs::Equal(value) => Some(shown(value)),
        ArgIs::OneOf(values) if values.len() > MAX_VALUES => {
            let first: Vec<String> = values.iter().take(MAX_VALUES).map(shown).collect();
            Some(alloc::format!("{} or {} others", first.join(", "), values.len().saturating_sub(MAX_VALUES)))
        }
        ArgIs::OneOf(values) => Some(values.iter().map(shown).collect::<Vec<_>>().join(" or ")),
        ArgIs::Begins(_) | ArgIs::Contains(_) | ArgIs::Section(_) | ArgIs::Present(_) => None,
    }
}

/// What a line of a text must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextTest {
    /// This text.
    Is(String),
    /// A text that as a whole matches this regular expression.
    Matches(String),
}

impl TextTest {
    /// Whether a text is as it must be. An expression that is not valid matches nothing.
    pub fn fits(&self, text: &str) -> bool {
        match self {
            Self::Is(wanted) => wanted == text,
            Self::Matches(pattern) => {
                regex::Regex::new(&alloc::format!("^(?:{pattern})$")).is_ok_and(|pattern| pattern.is_match(text))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_about_the_whole_line() {
        let matches = |pattern: &str, text: &str| TextTest::Matches(pattern.into()).fits(text);
        assert!(matches(".+ Agent Output: .+", "Research Agent Output: a task"));
        assert!(!matches("Plan|Design", "Plan of the Design"));
        assert!(!matches("(", "("));
        assert!(TextTest::Is("**DONE**".into()).fits("**DONE**") && !TextTest::Is("a".into()).fits("A"));
    }
}
