//! Plans: files whose elements each become a run of a phase, in waves (rules 3.1, `run: {each: ...}`).

use alloc::collections::BTreeMap;
use core::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::evidence::condition::Content;
use crate::evidence::fact::FactKey;
use crate::policy::input::{Input, Values, is_word};
use crate::prelude::*;

/// The most elements of a plan.
pub const MAX_ELEMENTS: usize = 1000;

/// Where a phase finds the plan whose elements it runs, and what the fields of an element mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// The name of the artifact that is the plan.
    pub artifact: String,
    /// Its files, of which there must be one.
    pub content: Content,
    /// The elements of each file that the artifact's patterns select: `null` where it holds no list of objects there.
    pub fact: FactKey,
    /// Whether the artifact has a format.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub format: bool,
    /// The field that names an element.
    pub id: String,
    /// The field with the names of the elements that must have finished before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The field with the number of the wave. Elements of a wave begin when all of the wave before have finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub barrier: Option<String>,
    /// The inputs of the runs that have the values of fields of the same names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
}

/// A plan as it was when the phase was entered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The path of the file.
    pub path: String,
    /// Its elements, in the order of the file. Never empty.
    pub elements: Vec<Element>,
    /// The numbers of the waves, ascending; one alone where elements have none.
    pub waves: Vec<u64>,
}

/// An element of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Element {
    /// Its name, the only one of this name in the plan.
    pub id: String,
    /// The index of its wave.
    #[serde(default, skip_serializing_if = "is_first")]
    pub wave: usize,
    /// The indices of the elements that must have finished before it begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<usize>,
    /// The values of the inputs of its run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: Values,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_first(wave: &usize) -> bool {
    *wave == 0
}

/// Why a file is no plan that can be worked on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlanFault {
    /// The path of the file; `None`: there is none, or there are several.
    path: Option<String>,
    what: String,
}

impl fmt::Display for PlanFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "a plan in `{path}` that can be worked on: {}; correct the file", self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl PlanFault {
    /// The file has not the format of the artifact; the text says which and why.
    pub(crate) fn of_format(what: String) -> Self {
        Self { path: None, what: format!("a plan in its format: {what}") }
    }
}

impl PlanFile {
    /// Reads the plan: the one file of these, whose elements the fact has.
    pub(crate) fn read(&self, files: &Map<String, Value>, elements: &Value) -> Result<Plan, PlanFault> {
        let fault = |path: Option<&String>, what: String| PlanFault { path: path.cloned(), what };
        let mut paths = files.keys();
        let path = match (paths.next(), paths.next()) {
            (Some(path), None) => path,
            (None, _) => {
                let what = format!("the plan: a file of artifact {} (`{}`)", self.artifact, self.content.text);
                return Err(fault(None, what));
            }
            (Some(first), Some(second)) => {
                let what = format!("one plan alone: there are `{first}` and `{second}`");
                return Err(fault(None, what));
            }
        };
        let of_plan = |what: String| fault(Some(path), what);
        let listed = elements.get(path).and_then(Value::as_array);
        let listed = listed.ok_or_else(|| of_plan("it is not JSON with a list of objects there".to_string()))?;
        let elements = self.elements(listed).map_err(of_plan)?;
        let waves = self.waves(listed).map_err(of_plan)?;
        let plan = Plan { path: path.clone(), elements, waves };
        plan.with_waves(self, listed).map_err(of_plan)
    }

    /// The elements, with what must have finished before each, and their values.
    fn elements(&self, listed: &[Value]) -> Result<Vec<Element>, String> {
        if listed.is_empty() {
            return Err("it lists nothing".to_string());
        }
        if listed.len() > MAX_ELEMENTS {
            return Err(format!("it lists {} elements, and {MAX_ELEMENTS} are the most", listed.len()));
        }
        let ids: Vec<String> = listed.iter().enumerate().map(|(at, one)| self.id(at, one)).collect::<Result<_, _>>()?;
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for (place, id) in ids.iter().enumerate() {
            // Names that differ by case alone are one in a prompt.
            if places.insert(id.to_lowercase(), place).is_some() {
                return Err(format!("`{id}` stands there twice"));
            }
        }
        let mut elements = Vec::new();
        for (id, one) in ids.iter().zip(listed) {
            let mut after = Vec::new();
            for name in self.after(id, one)? {
                let place = places.get(&name.to_lowercase()).filter(|place| ids.get(**place) == Some(&name));
                after.push(*place.ok_or_else(|| format!("`{id}` comes after `{name}`, which is not there"))?);
            }
            elements.push(Element { id: id.clone(), wave: 0, after, values: self.values(id, one)? });
        }
        match cycle(&elements) {
            Some(at) => Err(format!("`{}` comes after itself", ids.get(at).map_or("", String::as_str))),
            None => Ok(elements),
        }
    }

    fn id(&self, at: usize, one: &Value) -> Result<String, String> {
        let id = one.get(&self.id).and_then(text);
        let plain = |id: &String| id.chars().all(|letter| letter.is_alphanumeric() || "-_.".contains(letter));
        let ends = |id: &String| !id.is_empty() && !id.starts_with('.') && !id.ends_with('.');
        id.filter(|id| plain(id) && ends(id)).ok_or_else(|| {
            let place = at.saturating_add(1);
            format!("element {place} has no `{}` of letters, digits, `-`, `_` and `.`", self.id)
        })
    }

    fn after(&self, id: &str, one: &Value) -> Result<Vec<String>, String> {
        let Some(field) = &self.after else { return Ok(Vec::new()) };
        match one.get(field) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(names)) => {
                let names: Option<Vec<String>> = names.iter().map(text).collect();
                names.ok_or_else(|| format!("`{field}` of `{id}` is not a list of names"))
            }
            Some(one) => {
                text(one).map(|name| Vec::from([name])).ok_or_else(|| format!("`{field}` of `{id}` is no name"))
            }
        }
    }

    fn values(&self, id: &str, one: &Value) -> Result<Values, String> {
        let value = |input: &Input| {
            let value = one.get(&input.name).and_then(text);
            if value.as_deref().is_some_and(|value| !is_word(value)) {
                return Err(format!("`{}` of `{id}` is not one word of letters, digits and `._-/@+:=`", input.name));
            }
            let taken = value.filter(|value| input.takes(value)).map(|value| (input.name.clone(), value));
            taken.ok_or_else(|| format!("`{id}` has no `{}` that matches `{}`", input.name, input.pattern))
        };
        self.inputs.iter().map(value).collect()
    }

    fn waves(&self, listed: &[Value]) -> Result<Vec<u64>, String> {
        let mut waves = listed.iter().enumerate().map(|(at, one)| self.wave(at, one)).collect::<Result<Vec<_>, _>>()?;
        waves.sort_unstable();
        waves.dedup();
        Ok(waves)
    }

    fn wave(&self, at: usize, one: &Value) -> Result<u64, String> {
        let Some(field) = &self.barrier else { return Ok(1) };
        let number = one.get(field).and_then(Value::as_u64);
        number.ok_or_else(|| format!("`{field}` of element {} is not a number from 0", at.saturating_add(1)))
    }
}

impl Plan {
    /// The plan with the wave of each element. Nothing may come after an element of a later wave.
    fn with_waves(mut self, file: &PlanFile, listed: &[Value]) -> Result<Self, String> {
        for (at, (element, one)) in self.elements.iter_mut().zip(listed).enumerate() {
            let number = file.wave(at, one)?;
            element.wave = self.waves.iter().position(|wave| *wave == number).unwrap_or_default();
        }
        for element in &self.elements {
            let later = |place: &&usize| self.elements.get(**place).is_some_and(|other| other.wave > element.wave);
            if let Some(other) = element.after.iter().find(later).and_then(|place| self.elements.get(*place)) {
                return Err(format!("`{}` comes after `{}`, which is in a later wave", element.id, other.id));
            }
        }
        Ok(self)
    }
}

/// A text, or a number as one.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// An element that comes after itself, directly or by others.
fn cycle(elements: &[Element]) -> Option<usize> {
    let mut waits: Vec<usize> = elements.iter().map(|element| element.after.len()).collect();
    let mut free: Vec<usize> = (0..elements.len()).filter(|at| waits.get(*at) == Some(&0)).collect();
    while let Some(done) = free.pop() {
        for (at, element) in elements.iter().enumerate() {
            let times = element.after.iter().filter(|before| **before == done).count();
            if let Some(left) = waits.get_mut(at).filter(|_| times > 0) {
                *left = left.saturating_sub(times);
                free.extend((*left == 0).then_some(at));
            }
        }
    }
    waits.iter().position(|left| *left > 0)
}

/// An element of a plan that a start of a subagent names, and that cannot begin now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedElement {
    /// Its name.
    pub name: String,
    /// Why it cannot begin.
    pub waits: Waits,
}

/// Why a subagent cannot begin an element of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waits {
    /// It has finished, or a person skipped it.
    Finished,
    /// It belongs to a later wave: its number and that of the present one, as the plan has them.
    Wave {
        /// The number of its wave.
        own: u64,
        /// The number of the present wave.
        present: u64,
    },
    /// An element that has not finished comes before it.
    After(String),
    /// It has begun: a subagent does it, or its phase starts none.
    Begun,
}

/// How far a run has come with its plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanProgress {
    /// The plan.
    pub plan: alloc::sync::Arc<Plan>,
    /// The index of the wave.
    pub wave: usize,
    /// The indices of the elements that have finished.
    pub finished: Vec<usize>,
    /// Those of them that a person skipped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<usize>,
}

impl PlanProgress {
    /// A plan of which nothing is done.
    pub fn new(plan: Plan) -> Self {
        Self { plan: alloc::sync::Arc::new(plan), wave: 0, finished: Vec::new(), skipped: Vec::new() }
    }

    /// The elements of the present wave that may begin or have begun, with their indices.
    pub fn ready(&self) -> impl Iterator<Item = (usize, &Element)> {
        let is_ready = |(place, element): &(usize, &Element)| {
            element.wave == self.wave
                && !self.finished.contains(place)
                && element.after.iter().all(|before| self.finished.contains(before))
        };
        self.plan.elements.iter().enumerate().filter(is_ready)
    }

    /// Why a subagent cannot begin an element; `None`: there is no such element.
    pub(crate) fn waits(&self, place: usize) -> Option<Waits> {
        let element = self.plan.elements.get(place)?;
        if self.finished.contains(&place) {
            return Some(Waits::Finished);
        }
        let number = |wave: usize| self.plan.waves.get(wave).copied().unwrap_or_default();
        if element.wave != self.wave {
            return Some(Waits::Wave { own: number(element.wave), present: number(self.wave) });
        }
        let before = element.after.iter().find(|before| !self.finished.contains(before));
        let before = before.and_then(|before| self.plan.elements.get(*before));
        Some(before.map_or(Waits::Begun, |before| Waits::After(before.id.clone())))
    }

    /// The elements of the present wave that have not finished.
    pub fn left(&self) -> impl Iterator<Item = &Element> {
        let is_left =
            |(place, element): &(usize, &Element)| element.wave == self.wave && !self.finished.contains(place);
        self.plan.elements.iter().enumerate().filter(is_left).map(|(_, element)| element)
    }

    /// The wave after the present one.
    pub fn next_wave(&self) -> Option<usize> {
        let next = self.wave.saturating_add(1);
        (next < self.plan.waves.len()).then_some(next)
    }

    /// The number of the present wave, as the plan has it, where it has several.
    pub fn wave_number(&self) -> Option<u64> {
        self.plan.waves.get(self.wave).copied().filter(|_| self.plan.waves.len() > 1)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(listed: &Value) -> Result<Plan, String> {
        let content = Content {
            fact: FactKey::new("contents", &json!(["p/*.json"])),
            text: "p/*.json".into(),
            since: None,
            by: None,
        };
        let input = Input { name: "id".into(), pattern: "[A-Z0-9-]+".into(), value: None };
        let file = PlanFile {
            artifact: "tasks".into(),
            content,
            fact: FactKey::new("elements", &json!({})),
            format: false,
            id: "id".into(),
            after: Some("after".into()),
            barrier: Some("wave".into()),
            inputs: Vec::from([input]),
        };
        let files = json!({"p/a.json": "digest"}).as_object().cloned().unwrap_or_default();
        file.read(&files, &json!({"p/a.json": listed})).map_err(|fault| fault.to_string())
    }

    #[test]
    fn elements_wait_for_their_wave_and_for_each_other() {
        let plan = read(&json!([
            {"id": "T1", "wave": 5}, {"id": "T2", "wave": 5, "after": ["T1"]}, {"id": "T3", "wave": 9, "after": "T1"},
        ]));
        let mut progress = PlanProgress::new(plan.unwrap());
        let ready = |progress: &PlanProgress| progress.ready().map(|(place, _)| place).collect::<Vec<_>>();
        assert_eq!((ready(&progress), progress.wave_number()), (Vec::from([0]), Some(5)));
        progress.finished.push(0);
        assert_eq!(ready(&progress), [1]);
        progress.finished.push(1);
        assert_eq!((ready(&progress), progress.next_wave()), (Vec::new(), Some(1)));
        progress.wave = 1;
        assert_eq!((ready(&progress), progress.next_wave(), progress.wave_number()), (Vec::from([2]), None, Some(9)));
    }

    #[test]
    fn what_cannot_be_worked_on_is_no_plan() {
        for (listed, fault) in [
            (json!([]), "lists nothing"),
            (json!("T1"), "not JSON with a list"),
            (json!([{"wave": 1}]), "element 1 has no `id`"),
            (json!([{"id": "T 1", "wave": 1}]), "element 1 has no `id`"),
            (json!([{"id": "t1", "wave": 1}]), "`t1` has no `id` that matches"),
            (json!([{"id": "T\u{c4}", "wave": 1}]), "is not one word"),
            (json!([{"id": "T1", "wave": 1}, {"id": "T1", "wave": 1}]), "`T1` stands there twice"),
            (json!([{"id": "T1"}]), "`wave` of element 1 is not a number"),
            (json!([{"id": "T1", "wave": 1, "after": ["T9"]}]), "after `T9`, which is not there"),
            (json!([{"id": "T1", "wave": 1, "after": ["T1"]}]), "`T1` comes after itself"),
            (json!([{"id": "T1", "wave": 1, "after": ["T2"]}, {"id": "T2", "wave": 1, "after": ["T1"]}]), "itself"),
            (json!([{"id": "T1", "wave": 1, "after": ["T2"]}, {"id": "T2", "wave": 2}]), "in a later wave"),
            (json!([{"id": "T1", "wave": 1, "after": [{}]}]), "not a list of names"),
        ] {
            let found = read(&listed).unwrap_err();
            assert!(found.contains(fault), "{listed}: {found}");
        }
    }
}
