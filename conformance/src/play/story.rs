//! Playing a story: every line through the driver, every output held against its expectation.

use phasegate_config::Kind;
use serde_json::{Map, Value};

use crate::compare::subset;
use crate::play::case::Case;
use crate::play::driver::{Driver, Stage, open};
use crate::texts::wording;
use crate::trial::Mismatch;

/// Plays a story in one column, or in its only one.
#[must_use]
pub fn play(case: &Case, column: Option<&str>) -> Vec<Mismatch> {
    match open(&stage(case, column)) {
        Err(problem) => vec![Mismatch::broken("configs", problem)],
        Ok(mut driver) => steps(case, column, driver.as_mut()),
    }
}

fn steps(case: &Case, column: Option<&str>, driver: &mut dyn Driver) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    for (at, step) in case.steps.iter().enumerate() {
        let name = step.event.get("event").and_then(Value::as_str).unwrap_or("?");
        let place = format!("step {} ({name})", at + 1);
        let expected = step.expected(column);
        let answer = driver.line(&Value::Object(step.event.clone()).to_string());
        if let Ok(output) = &answer {
            mismatches.extend(wording::of_output(&place, step.event.get("tool").unwrap_or(&Value::Null), output));
        }
        mismatches.extend(held(&place, &expected, answer));
    }
    mismatches
}

fn held(place: &str, expected: &Map<String, Value>, answer: Result<Value, String>) -> Vec<Mismatch> {
    match (answer, expected.get("error")) {
        (Ok(_), Some(error)) => vec![Mismatch::new(place, "error", error.clone(), Value::Null)],
        (Err(error), Some(wanted)) => subset(place, "error", wanted, &Value::from(error)),
        (Err(error), None) => vec![Mismatch::new(place, "error", Value::Null, Value::from(error))],
        (Ok(output), None) => subset(place, "", &Value::Object(expected.clone()), &output),
    }
}

/// The configs of a story. Settings of the column replace those of the story.
pub(crate) fn stage(case: &Case, column: Option<&str>) -> Stage {
    let mut stage =
        Stage { skill: case.skill.clone(), mode: case.mode.clone(), confine: case.confine, ..Stage::default() };
    let settings = column.and_then(|column| case.columns.get(column)).or(case.settings.as_ref());
    if let Some(settings) = settings {
        stage.file(".phasegate/config.yaml", Kind::Settings, settings.get());
    }
    for (at, skill) in case.skills.iter().enumerate() {
        stage.file(format!(".phasegate/skills/{}.json", at + 1), Kind::Skill, skill.get());
    }
    for (name, lines) in &case.rules {
        stage.file(format!(".phasegate/rules/{name}.cedar"), Kind::Rules, lines.join("\n"));
    }
    for (name, facts) in &case.facts {
        stage.file(format!(".phasegate/rules/{name}.yaml"), Kind::Facts, facts.get());
    }
    for (folder, lines) in &case.skill_md {
        stage.file(format!("skills/{folder}/SKILL.md"), Kind::SkillMd, lines.join("\n"));
    }
    stage
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORY: &str = r#"[{"case": "c", "name": "n", "rule": "r", "skill": "s", "columns": {"lax": {}, "warned": {}},
        "skills": [{"skill": "s", "mode": "block", "phases": {"p": {"allowed": ["Read"], "forbidden": ["Edit"]}}}],
        "steps": [{"event": {"event": "tool_call", "tool": "Edit", "input": {}},
            "expect": {"decision": "deny"}, "expect_in": {"warned": {"decision": "warn"}}},
            {"event": {"event": "nothing"}, "expect": {"error": {"contains": ["nothing"]}}}]}]"#;

    fn fields(text: &str, column: &str) -> Vec<String> {
        let cases = Case::parse(text).unwrap();
        play(&cases[0], Some(column)).into_iter().map(|mismatch| mismatch.field).collect()
    }

    #[test]
    fn a_wrong_expectation_is_a_mismatch_in_its_column_only() {
        assert_eq!(fields(STORY, "lax"), Vec::<String>::new());
        assert_eq!(fields(STORY, "warned"), ["decision"]);
    }

    #[test]
    fn a_line_that_is_refused_or_not_is_a_mismatch() {
        assert_eq!(fields(&STORY.replace("\"nothing\"}, \"expect\"", "\"idle\"}, \"expect\""), "lax"), ["error"]);
        let unexpected = STORY.replace("{\"error\": {\"contains\": [\"nothing\"]}}", "{}");
        assert_eq!(fields(&unexpected, "lax"), ["error"]);
    }

    #[test]
    fn a_config_with_mistakes_is_a_mismatch() {
        assert_eq!(fields(&STORY.replace("\"allowed\": [\"Read\"]", "\"alowed\": [\"Read\"]"), "lax"), ["case"]);
    }
}
