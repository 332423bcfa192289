//! The steps of a `SKILL.md`.

use phasegate_config::front_matter;

/// The most steps.
const MAX_STEPS: usize = 20;
/// The most characters of a phase's name.
const MAX_NAME_CHARS: usize = 24;

/// What a `SKILL.md` says to do.
pub(super) struct Steps {
    pub(super) name: String,
    pub(super) description: String,
    /// The name of each phase, and the step in words.
    pub(super) phases: Vec<(String, String)>,
}

impl Steps {
    /// Those of the longest numbered list that is not part of another, or else of the headings of level 2.
    pub(super) fn of(text: &str) -> Option<Self> {
        let matter = front_matter(text)?;
        let fields = matter.fields?;
        let field = |key: &str| fields.get(key).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
        let name = Some(field("name")).filter(|name| !name.is_empty())?;
        let numbered: Vec<&str> = matter.rest.lines().filter_map(numbered).collect();
        let headings: Vec<&str> = matter.rest.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let steps = if numbered.len() > 1 { numbered } else { headings };
        let mut phases: Vec<(String, String)> = Vec::new();
        for step in steps.into_iter().take(MAX_STEPS) {
            let words = step.replace(['*', '`', '_'], "");
            let mut phase = slug(&words);
            if phase.is_empty() || phases.iter().any(|(known, _)| *known == phase) {
                phase = format!("step-{}", phases.len() + 1);
            }
            phases.push((phase, words));
        }
        (!phases.is_empty()).then(|| Self { name, description: field("description"), phases })
    }
}

/// The text of an item of a numbered list.
fn numbered(line: &str) -> Option<&str> {
    let (number, rest) = line.split_once(". ").or_else(|| line.split_once(") "))?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(rest.trim())
}

/// A name of the first words.
fn slug(words: &str) -> String {
    let first = words.split([':', '.', ',', ';', '(']).next().unwrap_or_default();
    let kept = first.split_whitespace().take(3);
    let plain = kept.map(|word| word.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase());
    let mut name = String::new();
    for word in plain.filter(|word| !word.is_empty()) {
        let longer = if name.is_empty() { word } else { format!("{name}-{word}") };
        if longer.len() > MAX_NAME_CHARS {
            break;
        }
        name = longer;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_items_of_a_numbered_list_or_headings() {
        let of =
            |body: &str| Steps::of(&format!("---\nname: a\ndescription: b\n---\n{body}")).map(|steps| steps.phases);
        let two = |one: &str, other: &str| Some(vec![(one.into(), one.into()), (other.into(), other.into())]);
        assert_eq!(of("1. look\n   2. inside\n2. edit\n"), two("look", "edit"));
        assert_eq!(of("## look\ntext\n## edit\n"), two("look", "edit"));
        assert_eq!(of("1) **Run** the `tests`: all of them\n2) Run the tests\n").unwrap()[0].0, "run-the-tests");
        assert_eq!(of("1) Run the tests\n2) Run the tests\n").unwrap()[1].0, "step-2");
        assert_eq!(of("text"), None);
        assert!(Steps::of("## look\n## edit\n").is_none(), "without a name there is no skill");
    }
}
