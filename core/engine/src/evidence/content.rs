//! What has to be as it was: what an approval is of, the files that a proof is about, an artifact.

use serde::{Deserialize, Serialize};

use crate::evidence::fact::FactKey;
use crate::prelude::*;
use crate::values::glob::Glob;

/// What a person approves. It is stored as its name alone where that is all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "StoredGate", into = "StoredGate")]
pub struct Gate {
    /// The name that the person gives.
    pub name: String,
    /// What the approval is of: it holds while that is what it was.
    pub content: Option<Content>,
}

/// What has to be as it was: what an approval is of, or the files that a proof is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Content {
    /// The fact that tells whether it changed.
    pub fact: FactKey,
    /// It in words, for example `plan.md` or `src/**`.
    pub text: String,
    /// The number under which the run keeps what there was when a phase that produces it was entered; only what is new or
    /// changed since counts. `None`: all of it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<u32>,
    /// The number under which the run keeps the files that its calls wrote, where only these count. `None`: whoever wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<u32>,
}

impl Content {
    /// The files that it is about, where patterns select them. One that names a folder selects all that lies there.
    pub(crate) fn files(&self) -> Vec<Glob> {
        let pattern = self.fact.args();
        let Some(pattern) = pattern.as_str() else { return Vec::new() };
        let folder = (!pattern.contains(['*', '?', '{'])).then(|| Glob::from(format!("{pattern}/**").as_str()));
        folder.into_iter().chain([Glob::from(pattern)]).collect()
    }
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum StoredGate {
    Name(String),
    Content { name: String, content: Content },
}

impl From<StoredGate> for Gate {
    fn from(stored: StoredGate) -> Self {
        match stored {
            StoredGate::Name(name) => Self { name, content: None },
            StoredGate::Content { name, content } => Self { name, content: Some(content) },
        }
    }
}

impl From<Gate> for StoredGate {
    fn from(Gate { name, content }: Gate) -> Self {
        match content {
            None => Self::Name(name),
            Some(content) => Self::Content { name, content },
        }
    }
}
