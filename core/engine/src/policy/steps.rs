//! Steps: the lines of an approved plan, each of which permits one call, once (rules 3.8).

use alloc::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::calls::outcome::CallOutcome;
use crate::evidence::content::Content;
use crate::evidence::fact::FactKey;
use crate::policy::matcher::Matcher;
use crate::prelude::*;

/// The most steps of a plan.
pub const MAX_STEPS: usize = 200;

/// Where the steps of a phase come from, as a policy says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepsFile {
    /// The name of the artifact that is the plan.
    pub artifact: String,
    /// Its files, of which there must be one.
    pub content: Content,
    /// The steps of files that the artifact's patterns select, without the files.
    pub fact: FactKey,
}

impl StepsFile {
    /// The question for the steps of these files, each with its digest. Others cost it no time.
    pub fn of(&self, files: &Map<String, Value>) -> FactKey {
        let mut asked = self.fact.args();
        if let Value::Object(fields) = &mut asked {
            fields.insert("files".to_string(), json!(files));
        }
        FactKey::new(self.fact.source(), &asked)
    }
}

/// The steps of a plan as they were when the phase was entered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    /// The path of the plan.
    pub path: String,
    /// The digest of the plan that a person approved.
    pub digest: String,
    /// The steps, in the order of the file.
    pub each: Vec<Step>,
}

/// What is left of a plan, by the names of its steps; nothing: its calls are done, or it has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepsLeft {
    /// The steps that permit a call now, each with its calls in the words of the plan.
    pub open: Vec<(String, String)>,
    /// The steps that come after others which are not done.
    pub waiting: Vec<(String, Vec<String>)>,
    /// The steps whose call has not ended.
    pub begun: Vec<String>,
    /// The steps whose call ran, and nobody saw how it ended.
    pub ran: Vec<String>,
    /// The steps whose call failed.
    pub failed: Vec<String>,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its name, the only one of this name in the plan.
    pub id: String,
    /// What it says, for people.
    #[serde(default)]
    pub text: String,
    /// The calls that it permits one of; empty: it is prose, and permits none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Matcher>,
    /// The shell lines among its calls, each [in words](crate::shell::same_line::in_words): a line of the same words is meant too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_words: Vec<String>,
    /// What its line may change beside the files that it names, for the person who approves it; empty: nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub may_change: String,
    /// The names of the steps that must be done before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// What became of it.
    #[serde(default, skip_serializing_if = "StepState::is_open")]
    pub state: StepState,
}

/// Whether a person means the plan of this path: they name the path or the end of it, with or without its ending.
pub fn is_meant(path: &str, named: &str) -> bool {
    let named = named.trim_start_matches("./");
    let is_end = |path: &str| path == named || path.strip_suffix(named).is_some_and(|before| before.ends_with('/'));
    let plain = path.rsplit_once('.').filter(|(_, ending)| !ending.contains('/')).map(|(plain, _)| plain);
    !named.is_empty() && (is_end(path) || plain.is_some_and(is_end))
}

/// What became of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// No call used it.
    #[default]
    Open,
    /// Its call was let through.
    Begun,
    /// Its call succeeded.
    Done,
    /// Its call ran, and nobody saw how it ended.
    Ran,
    /// Its call failed, or was interrupted.
    Failed,
}

impl Step {
    /// The calls that it permits one of, in the words of the plan; `None`: it is prose.
    pub fn calls(&self) -> Option<String> {
        let lines: Vec<&str> = self.lines.iter().map(|line| line.text.as_str()).collect();
        (!lines.is_empty()).then(|| lines.join(" or "))
    }

    /// The same for the person who approves them: with what they may change besides.
    pub fn permits(&self) -> Option<String> {
        let more =
            if self.may_change.is_empty() { String::new() } else { format!(" (may change {})", self.may_change) };
        self.calls().map(|calls| calls + more.as_str())
    }
}

impl StepState {
    /// Whether no call used it.
    pub fn is_open(&self) -> bool {
        *self == Self::Open
    }

    /// What the outcome of its call makes of it: a call that did not run gives it back.
    pub fn after(outcome: CallOutcome) -> Self {
        match outcome {
            CallOutcome::Ok => Self::Done,
            CallOutcome::Refused => Self::Open,
            CallOutcome::Launched => Self::Begun,
            // What was interrupted may have run.
            CallOutcome::Failed | CallOutcome::Cancelled => Self::Failed,
            CallOutcome::Unknown => Self::Ran,
        }
    }
}

/// One file, as the source of the fact tells it.
#[derive(Deserialize)]
struct Told {
    sha256: String,
    steps: Vec<Step>,
}

/// The one file that is new here, with its digest.
pub(crate) fn only(files: &Map<String, Value>) -> Result<(&String, &Value), String> {
    let mut files = files.iter();
    match (files.next(), files.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => Err("there is no plan".to_string()),
        (Some((one, _)), Some((other, _))) => {
            Err(format!("there are several plans, `{one}` and `{other}`: leave the one that is meant"))
        }
    }
}

/// Reads the steps of the one file that is new here: its digest must be the approved one.
pub(crate) fn read(files: &Map<String, Value>, told: &Value) -> Result<Steps, String> {
    let (path, digest) = only(files)?;
    let told = told.get(path).cloned().unwrap_or_default();
    if let Some(why) = told.get("unknown").and_then(Value::as_str) {
        return Err(format!("`{path}`: {why}"));
    }
    if let Some(fault) = told.as_str() {
        return Err(format!("`{path}`: {}", fault.replace('\n', "; ")));
    }
    let told: Told = serde_json::from_value(told).map_err(|_| format!("`{path}` lists no steps"))?;
    if Some(told.sha256.as_str()) != digest.as_str() {
        return Err(format!("`{path}` changed since it was approved"));
    }
    let faults = faults(&told.steps);
    if !faults.is_empty() {
        return Err(format!("`{path}`: {}", faults.join("; ")));
    }
    let each = told.steps.into_iter().map(|step| Step { state: StepState::Open, ..step }).collect();
    Ok(Steps { path: path.clone(), digest: told.sha256, each })
}

/// What keeps steps from being carried out as a plan, each as a part of a sentence.
pub fn faults(steps: &[Step]) -> Vec<String> {
    let mut faults = Vec::new();
    if steps.is_empty() {
        faults.push("it lists no steps".to_string());
    }
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, step) in steps.iter().enumerate() {
        if places.insert(&step.id, place).is_some() {
            faults.push(format!("two steps are called `{}`", step.id));
        }
        // A step comes after others that stand before it, so none waits for itself.
        let before = |name: &&String| places.get(name.as_str()).is_some_and(|at| *at < place);
        for name in step.after.iter().filter(|name| !before(name)) {
            let is_there = steps.iter().any(|other| other.id == *name);
            let why = if is_there { "which does not stand before it" } else { "and no step has that name" };
            faults.push(format!("`{}` comes after `{name}`, {why}", step.id));
        }
    }
    if steps.len() > MAX_STEPS {
        faults.push(format!("it has {} steps, and {MAX_STEPS} are the most", steps.len()));
    }
    faults
}

impl Steps {
    /// The steps that a call may use now, with their places.
    pub fn ready(&self) -> impl Iterator<Item = (usize, &Step)> {
        let ready = |step: &&Step| step.state.is_open() && self.waits_for(step).next().is_none();
        self.each.iter().enumerate().filter(move |(_, step)| ready(step))
    }

    /// Whether every step permitted a call, and each of these succeeded. Prose is a person's to tick off.
    pub fn are_done(&self) -> bool {
        !self.each.is_empty() && self.each.iter().all(|step| !step.lines.is_empty() && step.state == StepState::Done)
    }

    /// Whether there are calls in it, and each of them ran, none of which is known to have failed: what is left is a person's to
    /// see.
    pub fn calls_are_done(&self) -> bool {
        let mut calls = self.each.iter().filter(|step| !step.lines.is_empty()).peekable();
        calls.peek().is_some() && calls.all(|step| matches!(step.state, StepState::Done | StepState::Ran))
    }

    /// What is left of the plan.
    pub fn left(&self) -> StepsLeft {
        let mut left = StepsLeft::default();
        for step in &self.each {
            let (id, Some(calls)) = (step.id.clone(), step.calls()) else { continue };
            match step.state {
                StepState::Open => {
                    let after: Vec<String> = self.waits_for(step).map(ToString::to_string).collect();
                    if after.is_empty() {
                        left.open.push((id, calls));
                    } else {
                        left.waiting.push((id, after));
                    }
                }
                StepState::Begun => left.begun.push(id),
                StepState::Ran => left.ran.push(id),
                StepState::Failed => left.failed.push(id),
                StepState::Done => {}
            }
        }
        left
    }

    /// The steps before a step that are not done.
    fn waits_for<'s>(&'s self, step: &'s Step) -> impl Iterator<Item = &'s str> {
        let is_done = |name: &str| self.each.iter().any(|one| one.id == name && one.state == StepState::Done);
        step.after.iter().map(String::as_str).filter(move |name| !is_done(name))
    }

    /// Whether a step failed.
    pub fn have_failed(&self) -> bool {
        self.each.iter().any(|step| step.state == StepState::Failed)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_of(steps: &Value) -> Result<Steps, String> {
        let files = json!({"plans/a.json": "d"});
        read(files.as_object().unwrap_or(&Map::new()), &json!({"plans/a.json": {"sha256": "d", "steps": steps}}))
    }

    #[test]
    fn a_plan_that_is_not_the_approved_one_has_no_steps() {
        let files = json!({"plans/a.json": "d"});
        let files = files.as_object().cloned().unwrap_or_default();
        let other = json!({"plans/a.json": {"sha256": "e", "steps": []}});
        assert!(read(&files, &other).unwrap_err().contains("changed since"));
        assert!(read(&files, &json!({"plans/a.json": "no JSON"})).unwrap_err().contains("no JSON"));
        assert!(read(&files, &json!({})).unwrap_err().contains("lists no steps"));
        assert!(read(&Map::new(), &other).unwrap_err().contains("no plan"));
    }

    #[test]
    fn a_call_of_which_nobody_saw_the_end_uses_its_step_and_fails_no_plan() {
        let steps = json!([{"id": "1", "text": "t"}, {"id": "2", "text": "t", "after": ["1"]}]);
        let mut steps = read_of(&steps).unwrap_or_else(|fault| panic!("{fault}"));
        steps.each.iter_mut().for_each(|step| step.state = StepState::after(CallOutcome::Unknown));
        assert!(!steps.have_failed() && !steps.are_done() && steps.ready().next().is_none());
        assert_eq!(steps.waits_for(&steps.each[1]).collect::<Vec<_>>(), ["1"]);
        steps.each.iter_mut().for_each(|step| step.state = StepState::after(CallOutcome::Failed));
        assert!(steps.have_failed());
    }

    #[test]
    fn steps_come_after_those_before_them() {
        let wrong = read_of(&json!([{"id": "1", "after": ["2"]}, {"id": "2"}]));
        assert!(wrong.unwrap_err().contains("does not stand before"));
        assert!(read_of(&json!([{"id": "1", "after": ["3"]}])).unwrap_err().contains("no step has that name"));
        assert!(read_of(&json!([])).unwrap_err().contains("lists no steps"));
        assert!(read_of(&json!([{"id": "1"}, {"id": "1"}])).unwrap_err().contains("two steps"));
        let mut steps = read_of(&json!([{"id": "1", "text": "prose"}])).unwrap_or_else(|fault| panic!("{fault}"));
        assert!(steps.ready().all(|(_, step)| step.lines.is_empty()));
        steps.each.iter_mut().for_each(|step| step.state = StepState::Done);
        assert!(!steps.are_done(), "prose is nothing that a call can do");
    }
}
