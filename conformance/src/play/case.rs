//! A neutral story as written: configs, events, and the expected result of each.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A story. Nothing in it mentions a platform.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What its trial is called, after its file.
    pub case: String,
    /// What happens, in a sentence.
    pub name: String,
    /// The rule it tests, with where the rule is written.
    pub rule: String,
    /// `settings` of the project, as in `.phasegate/config.yaml`.
    #[serde(default)]
    pub settings: Option<Box<RawValue>>,
    /// Skill configs, as in `.phasegate/skills/`. The order of phases is their order here.
    #[serde(default)]
    pub skills: Vec<Box<RawValue>>,
    /// Files of rules, by name, as in `.phasegate/rules/NAME.cedar`.
    #[serde(default)]
    pub rules: BTreeMap<String, Vec<String>>,
    /// The facts beside them, by name, as in `.phasegate/rules/NAME.yaml`.
    #[serde(default)]
    pub facts: BTreeMap<String, Box<RawValue>>,
    /// `SKILL.md` texts by the name of the skill's folder.
    #[serde(default)]
    pub skill_md: BTreeMap<String, Vec<String>>,
    /// The same story under several settings, by name. Each has its own settings and its own expectations.
    #[serde(default)]
    pub columns: BTreeMap<String, Box<RawValue>>,
    /// The skill that is active from the start, as with `replay --skill`.
    #[serde(default)]
    pub skill: Option<String>,
    /// Its mode, `warn` or `block`, as with `replay --mode`.
    #[serde(default)]
    pub mode: Option<String>,
    /// Whether the client's shell can hold lines, so that nothing of them stays, as with `replay --confine`. No line runs, so
    /// that the story's outcome is the same on each system.
    #[serde(default)]
    pub confine: bool,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

/// One event and its expected result.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// A line of a neutral transcript.
    pub event: Map<String, Value>,
    /// What the output line must hold, in every column. Keys that are not named may be anything.
    #[serde(default)]
    pub expect: Map<String, Value>,
    /// What it must hold in one column, besides.
    #[serde(default)]
    pub expect_in: BTreeMap<String, Map<String, Value>>,
}

/// The keys an expectation may name: those of an output line of `phasegate replay`, and `error` for a line that is refused.
pub const EXPECTABLE: &[&str] = &[
    "seq",
    "event",
    "decision",
    "code",
    "gate",
    "reason",
    "recovery",
    "attempted",
    "missing",
    "skill",
    "phase",
    "phase_before",
    "runs",
    "facts",
    "open_calls",
    "obligations",
    "records",
    "line",
    "result",
    "policy_version",
    "error",
    "branches",
    "admission",
];

impl Case {
    /// Reads the stories of a file and looks for mistakes that would make one test nothing.
    ///
    /// # Errors
    ///
    /// Not JSON, an unknown key, an expectation that no output can have, a story without a step or without any
    /// expectation, an expectation for a column that does not exist.
    pub fn parse(text: &str) -> Result<Vec<Self>, String> {
        let cases: Vec<Self> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        cases.iter().try_for_each(|case| case.tests().map_err(|problem| format!("`{}`: {problem}", case.case)))?;
        Ok(cases)
    }

    fn tests(&self) -> Result<(), String> {
        if [&self.case, &self.rule, &self.name].iter().any(|text| text.trim().is_empty()) {
            return Err("`case`, `name` and `rule` say something".into());
        }
        let mut expectations = 0;
        for step in &self.steps {
            for (column, expect) in &step.expect_in {
                if !self.columns.contains_key(column) {
                    return Err(format!("there is no column `{column}`"));
                }
                expectations += known(expect)?;
            }
            expectations += known(&step.expect)?;
        }
        if expectations == 0 { Err("the story expects nothing".into()) } else { Ok(()) }
    }
}

impl Step {
    /// What is expected in a column.
    #[must_use]
    pub fn expected(&self, column: Option<&str>) -> Map<String, Value> {
        let mut all = self.expect.clone();
        if let Some(more) = column.and_then(|column| self.expect_in.get(column)) {
            all.extend(more.clone());
        }
        all
    }
}

fn known(expect: &Map<String, Value>) -> Result<usize, String> {
    match expect.keys().find(|key| !EXPECTABLE.contains(&key.as_str())) {
        Some(key) => Err(format!("no output line has `{key}`")),
        None => Ok(expect.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::Case;

    fn error(text: &str) -> String {
        Case::parse(text).unwrap_err()
    }

    #[test]
    fn stories_that_test_nothing_are_refused() {
        let story = |steps: &str| format!(r#"[{{"case": "c", "name": "n", "rule": "r", "steps": [{steps}]}}]"#);
        assert!(error(&story("").replace('}', r#", "more": 1}"#)).contains("unknown field"));
        assert_eq!(error(&story(r#"{"event": {}}"#)), "`c`: the story expects nothing");
        let step = |expect: &str| story(&format!(r#"{{"event": {{}}, {expect}}}"#));
        assert_eq!(error(&step(r#""expect": {"decison": "deny"}"#)), "`c`: no output line has `decison`");
        assert_eq!(error(&step(r#""expect_in": {"strict": {"code": "x"}}"#)), "`c`: there is no column `strict`");
        assert!(Case::parse(&step(r#""expect": {"decision": "deny"}"#)).is_ok());
    }
}
