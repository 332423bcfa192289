//! Artifacts: files that a phase of a run has to produce (rules 3.3).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::content::Content;
use crate::fact::FactKey;
use crate::fact_test::{Truth, times};
use crate::matcher::Matcher;

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
}

impl Artifact {
    /// Whether only phases that produce it may write it: one of them does.
    #[must_use]
    pub fn is_produced(&self) -> bool {
        self.content.since.is_some()
    }
}

/// A condition on an artifact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArtifactTest {
    /// Its name.
    pub name: String,
    /// Its files, of which there must be one.
    pub content: Content,
    /// How often a text has to stand in its files; `None`: anything may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marks: Option<Marks>,
}

impl ArtifactTest {
    /// A name of what is missing where no file is there: its path, or where several select it the artifact's name with the
    /// ending that its files have (`spec.md`).
    #[must_use]
    pub fn file_name(&self) -> String {
        if !self.content.text.contains(['*', '?', '{', ' ']) {
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

/// The files that are new or changed: those of `now` that were not there before as they are. `null` if it is not known.
pub(crate) fn new_or_changed(now: Value, before: Option<&Value>) -> Value {
    match (now, before) {
        (Value::Object(_), None) => Value::Object(Map::new()),
        (Value::Object(now), Some(Value::Object(before))) => {
            now.into_iter().filter(|(path, digest)| before.get(path) != Some(digest)).collect()
        }
        _ => Value::Null,
    }
}

/// The condition in the words of a config.
impl fmt::Display for ArtifactTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "artifact {} ({})", self.name, self.content.text)?;
        let Some(marks) = &self.marks else { return Ok(()) };
        write!(f, " contains `{}` {}", marks.text, times(marks.at_least, marks.at_most))
    }
}
