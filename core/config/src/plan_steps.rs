//! The steps of a plan, as an agent proposes them and a person approves them.

use phasegate_core::steps::{Step, StepState};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use serde_json::{Map, Value};

use crate::build::builder::Builder;
use crate::build::matcher;
use crate::diagnostic::Severity;
use crate::read::read;
use crate::source::{MatcherObject, MatcherSource};
use crate::text::Text;

/// The keys of a step that say nothing of its call.
const OWN_KEYS: [&str; 3] = ["id", "text", "after"];

/// The steps that stand in a document of YAML or JSON at this JSON pointer; in Markdown they stand in a block of code, the
/// only one with a list there. A text is prose; an object is prose too, unless
/// it says which call it permits, in the words of a line of `allowed`.
///
/// # Errors
///
/// A sentence: it is no document with a list there, or a step means nothing.
pub fn plan_steps(document: &str, at: &str) -> Result<Vec<Step>, String> {
    let steps = match listed(document, at) {
        Some(steps) => steps,
        None => {
            let blocks = blocks(document);
            let mut found = blocks.iter().filter_map(|block| listed(block, at));
            match (found.next(), found.next()) {
                (Some(only), None) => only,
                (None, _) => return Err(format!("it has no list at `{at}`, and neither has a block of code in it")),
                (Some(_), Some(_)) => return Err(format!("several blocks of code in it have a list at `{at}`")),
            }
        }
    };
    steps.iter().enumerate().map(|(place, one)| step(place + 1, one)).collect()
}

/// The list at a pointer of a document of YAML or JSON.
fn listed(document: &str, at: &str) -> Option<Vec<Value>> {
    let value = read(&Text::whole(document), &mut Vec::new())?.to_value();
    value.pointer(at).and_then(Value::as_array).cloned()
}

/// The fenced blocks of code of a text in Markdown.
fn blocks(document: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut block: Option<String> = None;
    for event in Parser::new(document) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => block = Some(String::new()),
            Event::Text(text) => block.iter_mut().for_each(|block| block.push_str(&text)),
            Event::End(TagEnd::CodeBlock) => blocks.extend(block.take()),
            _ => {}
        }
    }
    blocks
}

fn step(number: usize, value: &Value) -> Result<Step, String> {
    let mut step = Step {
        id: number.to_string(),
        text: String::new(),
        lines: Vec::new(),
        after: Vec::new(),
        state: StepState::Open,
    };
    let wrong = |what: &str| format!("step {number}: {what}");
    let fields = match value {
        Value::String(text) => return Ok(Step { text: text.clone(), ..step }),
        Value::Object(fields) => fields,
        _ => return Err(wrong("it is neither a text nor an object")),
    };
    if let Some(id) = fields.get("id") {
        step.id = plain(id).ok_or_else(|| wrong("`id` is a text or a number"))?;
    }
    if let Some(text) = fields.get("text") {
        step.text = text.as_str().map(str::to_owned).ok_or_else(|| wrong("`text` is a text"))?;
    }
    step.after = match fields.get("after") {
        None => Vec::new(),
        Some(Value::Array(names)) => {
            names.iter().map(plain).collect::<Option<_>>().ok_or_else(|| wrong("`after` lists names"))?
        }
        Some(name) => vec![plain(name).ok_or_else(|| wrong("`after` lists names"))?],
    };
    let call: Map<String, Value> = fields
        .iter()
        .filter(|(key, _)| !OWN_KEYS.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if !call.is_empty() {
        step.lines = lines(call).map_err(|what| wrong(&what))?;
    }
    Ok(step)
}

/// The calls that a step permits one of.
fn lines(call: Map<String, Value>) -> Result<Vec<phasegate_core::matcher::Matcher>, String> {
    let written = Value::Object(call);
    let object: MatcherObject = serde_json::from_value(written.clone()).map_err(|error| error.to_string())?;
    let tool = object.tool.clone().unwrap_or_default();
    let alone =
        object == MatcherObject { tool: object.tool.clone(), server: object.server.clone(), ..Default::default() };
    if alone && (tool.is_empty() || tool == "Bash" || tool.contains(['*', '@', '|'])) {
        return Err("it does not say which call it permits: name a command, arguments or a path".to_owned());
    }
    let text = written.to_string();
    let mut findings = Vec::new();
    let node = read(&Text::whole(&text), &mut findings).ok_or("it is no line of `allowed`")?;
    let matchers =
        matcher::each(&mut Builder::new(&mut findings, false), &MatcherSource::Object(Box::new(object)), &node);
    match findings.into_iter().map(|finding| finding.in_file("")).find(|found| found.severity == Severity::Error) {
        Some(found) => Err(found.message),
        None if matchers.is_empty() => Err("it permits nothing".to_owned()),
        None => Ok(matchers),
    }
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_prose_or_name_a_call() {
        let document = r#"{"steps": ["Tell the client.", {"id": "send", "text": "Send it", "command": "npx go-gmail * send *"},
            {"tool": "Edit", "writes": "src/a.rs", "after": "send"}, {"text": "Look again", "after": [2]}]}"#;
        let steps = plan_steps(document, "/steps").unwrap();
        let ids: Vec<&str> = steps.iter().map(|step| step.id.as_str()).collect();
        assert_eq!(ids, ["1", "send", "3", "4"]);
        let permits: Vec<usize> = steps.iter().map(|step| step.lines.len()).collect();
        assert_eq!(permits, [0, 1, 1, 0]);
        assert_eq!(steps[2].after, ["send"]);
        assert_eq!(plan_steps("steps:\n  - {command: git push}\n", "/steps").unwrap()[0].lines.len(), 1);
    }

    #[test]
    fn a_plan_in_markdown_has_its_steps_in_a_block_of_code() {
        let block = "```json\n{\"steps\": [{\"command\": \"git push\"}]}\n```\n";
        let document = format!("# A plan\n\nProse: more.\n\n```sh\ngit log\n```\n\n{block}");
        assert_eq!(plan_steps(&document, "/steps").unwrap()[0].lines.len(), 1);
        let yaml = "- [ ] look\n\n```yaml\nsteps:\n  - {command: git push}\n```\n";
        assert_eq!(plan_steps(yaml, "/steps").unwrap().len(), 1);
        assert!(plan_steps(&format!("{block}\n{block}"), "/steps").unwrap_err().contains("several"));
        assert!(plan_steps(&format!("<!--\n{block}\n-->\n# A\n"), "/steps").is_err());
    }

    #[test]
    fn a_step_that_means_nothing_is_told() {
        for (document, fault) in [
            ("# A plan\n\nProse.", "no list"),
            (r#"{"steps": [7]}"#, "step 1: it is neither"),
            (r#"{"steps": [{"comand": "git push"}]}"#, "unknown field"),
            (r#"{"steps": [{"tool": "Bash"}]}"#, "does not say which call"),
            (r#"{"steps": [{"tool": "*"}]}"#, "does not say which call"),
            (r#"{"steps": [{"command": ""}]}"#, "step 1"),
            (r#"{"steps": [{"tool": "Edit", "writes": "../x"}]}"#, "leads out of the project"),
        ] {
            let found = plan_steps(document, "/steps").unwrap_err();
            assert!(found.contains(fault), "{document}: {found}");
        }
        let of_pairs = |pairs: usize| format!(r#"{{"steps": [{{"writes": "{}"}}]}}"#, "{a,b}".repeat(pairs));
        assert!(plan_steps(&of_pairs(30), "/steps").unwrap_err().contains("too many texts"));
        assert_eq!(plan_steps(&of_pairs(5), "/steps").unwrap()[0].lines.len(), 1);
    }
}
