//! Artifacts: files that a phase of a run has to produce (rules 3.3).

use alloc::collections::BTreeMap;
use core::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::evidence::content::Content;
use crate::evidence::fact::FactKey;
use crate::evidence::fact_test::{Truth, times};
use crate::evidence::format::Format;
use crate::policy::matcher::{ArgIs, Matcher};
use crate::prelude::*;

/// An artifact of a skill: files that its phases produce, or that are there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artifact {
    /// The name that conditions and approvals use.
    pub name: String,
    /// The patterns of its files, relative to the project.
    pub paths: Vec<String>,
    /// The calls that write one of its files.
    pub writes: Vec<Matcher>,
    /// Its files, with their digests.
    pub content: Content,
    /// The patterns among `paths` that are deprecated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deprecated: Vec<String>,
    /// What its files must be; `None`: anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
}

impl Artifact {
    /// Whether only phases that produce it may write it: one of them does.
    pub fn is_produced(&self) -> bool {
        self.content.since.is_some()
    }
}

/// A condition on an artifact, or on the files that a pattern selects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArtifactTest {
    /// Its name; empty where a pattern selects the files.
    pub name: String,
    /// Its files, of which there must be one.
    pub content: Content,
    /// The format of its files in words, if it has one: each of them keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The digest of each of its files; `None`: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// How often a text has to stand in its files; `None`: anything may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks: Option<Marks>,
    /// What a place in each of its files has to hold, which are JSON then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<PointerTest>,
}

/// What a place in JSON has to hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointerTest {
    /// The JSON pointer to the place.
    pub at: String,
    /// What has to be there.
    pub is: ArgIs,
}

impl ArtifactTest {
    /// A name of what is missing where no file is there: its path, or where several select it the artifact's name with the
    /// ending that its files have (`spec.md`).
    pub fn file_name(&self) -> String {
        if self.names_one() {
            return self.content.text.clone();
        }
        let last = self.content.text.rsplit(['/', ' ']).next().unwrap_or_default();
        let ending = last.rsplit_once('.').map(|(_, ending)| ending);
        let plain = |ending: &&str| !ending.is_empty() && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
        match ending.filter(plain) {
            Some(ending) => format!("{}.{ending}", self.name),
            None => self.name.clone(),
        }
    }
}

impl ArtifactTest {
    /// That files are there, and none of them is new or changed.
    pub fn is_as_before(&self) -> String {
        if self.names_one() {
            format!("`{}` is as it was before the phase", self.content.text)
        } else {
            format!("no file of the artifact `{}` is other than before the phase", self.name)
        }
    }

    /// Whether one path selects its files, and no pattern.
    fn names_one(&self) -> bool {
        !self.content.text.contains(['*', '?', '{', ' '])
    }
}

/// How often a text has to stand in the files of an artifact, taken together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Marks {
    /// How often it stands in each file that the artifact's patterns select.
    pub fact: FactKey,
    /// The text.
    pub text: String,
    /// The least number.
    pub at_least: u64,
    /// The greatest number, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<u64>,
}

/// What the content of files is asked for: the facts that answer a condition on them.
pub(crate) enum Question<'t> {
    /// How often a text stands in them.
    Marks(&'t Marks),
    /// Something that each of them must be. The answer has `true` for a file that is so, and what is wrong with another.
    OfEach(FactKey),
}

/// The version of the skill that a run follows.
#[derive(Clone, Copy)]
pub(crate) struct Follows<'r> {
    pub(crate) skill: &'r str,
    pub(crate) version: &'r str,
}

impl Follows<'_> {
    /// Which of these files of an artifact have its format, and what is wrong with the others. What the files are is a part
    /// of the question, so that the answer to it is always the same.
    pub(crate) fn format(self, artifact: &str, files: &Map<String, Value>) -> FactKey {
        let Self { skill, version } = self;
        let asked = json!({"skill": skill, "version": version, "artifact": artifact, "files": files});
        FactKey::new("format", &asked)
    }
}

impl ArtifactTest {
    /// The test that one of these files is there.
    pub fn there(name: &str, content: Content) -> Self {
        Self { name: name.into(), content, format: None, sha256: None, marks: None, pointer: None }
    }

    /// Whether there are files at all, with the digest that each must have.
    pub(crate) fn is_there(&self, files: &Map<String, Value>) -> bool {
        let right = |digest: &String| files.values().all(|found| found == digest.as_str());
        !files.is_empty() && self.sha256.as_ref().is_none_or(right)
    }

    /// What the content of these files is asked for, the cheaper questions first.
    pub(crate) fn questions<'t>(
        &'t self,
        files: &'t Map<String, Value>,
        follows: Follows<'t>,
    ) -> impl Iterator<Item = Question<'t>> {
        let pointer = self.pointer.iter().map(move |test| {
            let asked = json!({"at": test.at, "is": test.is, "files": files});
            Question::OfEach(FactKey::new("pointer", &asked))
        });
        let format = self.format.iter().map(move |_| Question::OfEach(follows.format(&self.name, files)));
        self.marks.iter().map(Question::Marks).chain(format).chain(pointer)
    }
}

impl Question<'_> {
    /// The fact that answers it.
    pub(crate) fn fact(&self) -> &FactKey {
        match self {
            Self::Marks(marks) => &marks.fact,
            Self::OfEach(fact) => fact,
        }
    }

    /// Whether the answer is as the condition wants it.
    pub(crate) fn truth(&self, files: &Map<String, Value>, answer: &Value) -> Truth {
        match self {
            Self::Marks(marks) => marks.truth(files, answer),
            Self::OfEach(_) => files.keys().map(|path| of_file(answer, path)).fold(Truth::Yes, Truth::min),
        }
    }
}

/// What an answer says of one file.
fn of_file(answer: &Value, path: &str) -> Truth {
    match answer.get(path) {
        Some(Value::Bool(yes)) => Truth::of(*yes),
        Some(Value::String(_)) => Truth::No,
        _ => Truth::Unknown,
    }
}

/// What is said of a file of which no source says why.
const UNREADABLE: &str = "it cannot be read";

/// The files that have not the format, each with why; or of which it is not known.
pub(crate) fn faults(files: &Map<String, Value>, answer: &Value) -> BTreeMap<String, String> {
    let why = |path: &String| match answer.get(path) {
        Some(Value::Bool(true)) => None,
        Some(Value::String(why)) => Some(why.clone()),
        Some(Value::Object(unknown)) => {
            Some(unknown.get("unknown").and_then(Value::as_str).unwrap_or(UNREADABLE).to_string())
        }
        _ => Some(UNREADABLE.to_string()),
    };
    files.keys().filter_map(|path| Some((path.clone(), why(path)?))).collect()
}

/// The first of these files and what is wrong with it, in words.
pub(crate) fn first_fault(faults: &BTreeMap<String, String>) -> Option<String> {
    let first = faults.iter().next().map(|(path, why)| alloc::format!("`{path}`: {why}"))?;
    let more = faults.len().saturating_sub(1);
    Some(if more == 0 { first } else { alloc::format!("{first}, and {more} more files have a fault") })
}

impl Marks {
    /// Whether the text stands in these files as often as it has to. What is not known of one of them is not known.
    pub(crate) fn truth(&self, files: &Map<String, Value>, counts: &Value) -> Truth {
        let count = |path: &String| counts.get(path).and_then(Value::as_u64);
        match files.keys().map(count).sum::<Option<u64>>() {
            None => Truth::Unknown,
            Some(sum) => Truth::of(sum >= self.at_least && self.at_most.is_none_or(|most| sum <= most)),
        }
    }
}

impl Marks {
    /// How often the text stands there, if that is too often, and where: the file that has it most often is named.
    pub(crate) fn too_often(&self, files: &Map<String, Value>, counts: &Value) -> Option<String> {
        if self.truth(files, counts) != Truth::No || self.at_most.is_none() {
            return None;
        }
        let count = |path: &String| counts.get(path).and_then(Value::as_u64).filter(|count| *count > 0);
        let places: Vec<(&String, u64)> = files.keys().filter_map(|path| Some((path, count(path)?))).collect();
        let (path, _) = places.iter().max_by_key(|(_, count)| *count)?;
        let all = of_times(places.iter().map(|(_, count)| count).sum());
        Some(match places.len().saturating_sub(1) {
            0 => format!("found {all} in `{path}`"),
            1 => format!("found {all}, in `{path}` and another file"),
            more => format!("found {all}, in `{path}` and {more} more files"),
        })
    }
}

fn of_times(count: u64) -> String {
    if count == 1 { String::from("once") } else { format!("{count} times") }
}

/// The files that are new or changed: those of `now` whose bytes were not there before, under their name or another one.
/// `null` if it is not known.
pub(crate) fn new_or_changed(now: Value, before: Option<&Value>) -> Value {
    match (now, before) {
        (Value::Object(_), None) => Value::Object(Map::new()),
        (Value::Object(now), Some(Value::Object(before))) => {
            let known = |digest: &Value| before.values().any(|known| known == digest);
            now.into_iter().filter(|(_, digest)| !known(digest)).collect()
        }
        _ => Value::Null,
    }
}

/// The condition in the words of a config.
impl fmt::Display for ArtifactTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name.as_str() {
            "" => write!(f, "file {}", self.content.text)?,
            name => write!(f, "artifact {name} ({})", self.content.text)?,
        }
        let digest = self.sha256.iter().map(|digest| alloc::format!(" has the digest {digest}"));
        let marks =
            |marks: &Marks| alloc::format!(" contains `{}` {}", marks.text, times(marks.at_least, marks.at_most));
        let pointer = self.pointer.iter().map(|test| alloc::format!(" has {test}"));
        let mut said = digest.chain(self.marks.iter().map(marks)).chain(pointer);
        let exists = self.name.is_empty().then(|| String::from(" exists"));
        let first = said.next().or(exists);
        first.into_iter().chain(said.map(|more| alloc::format!(" and{more}"))).try_for_each(|part| f.write_str(&part))
    }
}

/// What is wanted, for example `at /status "done"`.
impl fmt::Display for PointerTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.at.is_empty() { "the whole" } else { &self.at };
        match &self.is {
            ArgIs::Equal(value) => write!(f, "{value} at {at}"),
            ArgIs::OneOf(values) => write!(f, "one of {} at {at}", Value::from(values.clone())),
            ArgIs::Begins(start) => write!(f, "a text that begins {} at {at}", Value::from(start.as_str())),
            ArgIs::Contains(part) => write!(f, "{} in what is at {at}", Value::from(part.as_str())),
            ArgIs::Section(section) => write!(f, "{section} at {at}"),
            ArgIs::Present(true) => write!(f, "something at {at}"),
            ArgIs::Present(false) => write!(f, "nothing at {at}"),
        }
    }
}
