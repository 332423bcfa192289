//! Whole sessions as `cargo xtask record` keeps them: every frame the real client sent, and what it was answered.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::texts;
pub use crate::texts::Reply as Answer;

/// The folder that stands for the machine's in frames and replies: below it lie the project, home and state.
pub const BASE: &str = "/workspace";

/// `session.toml`: where a session comes from and what it is played in.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The story that the client played.
    pub story: String,
    /// What it shows, in a sentence.
    pub title: String,
    /// The client, by the id of its adapter.
    pub client: String,
    /// The version of the client.
    pub client_version: String,
    /// The SHA-256 digest of the story's file, as 64 hexadecimal digits.
    pub script_sha256: String,
    /// The day, `YYYY-MM-DD`.
    pub recorded: String,
    /// The project's files as they were when the client started, by path from its root.
    pub files: BTreeMap<String, String>,
}

/// A line of `frames.jsonl`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// Its number, from 1.
    pub n: usize,
    /// Variables by which the client said how it was started.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// The project's files that changed since the frame before, by path: their text, or `null` for one that is gone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Option<String>>,
    /// The lines about calls by which the client's own file had grown, where the guard reads it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub record: Vec<String>,
    /// The frame as the client sent it.
    pub frame: Box<RawValue>,
    /// What it was answered.
    pub reply: Answer,
}

impl Answer {
    /// Whether it denies a call, or has the client ask about it.
    pub(crate) fn stops(&self) -> bool {
        let words = ["\"permissionDecision\":\"deny\"", "\"permissionDecision\":\"ask\"", "\"decision\":\"block\""];
        self.status == Some(2) || words.iter().any(|word| self.stdout.contains(word))
    }

    /// The phase that it says the run is in, if any.
    pub(crate) fn phase(&self) -> Option<String> {
        let (_, rest) = self.stdout.rsplit_once("phase \\\"")?;
        rest.split_once("\\\"").map(|(phase, _)| phase.to_owned())
    }
}

/// A recorded session.
#[derive(Clone, Debug)]
pub struct Session {
    /// The name of its folder, `STORY@VERSION`.
    pub name: String,
    /// Which client played it, when, and in what project.
    pub about: About,
    /// The frames, in the order in which they were answered.
    pub frames: Vec<Recorded>,
}

impl Session {
    /// Reads a session from its folder's two files.
    ///
    /// # Errors
    ///
    /// A file that is not in its form, another client than the folder's, a digest that is none, a path out of the
    /// project, frames that are not numbered from 1.
    pub fn parse(adapter: &str, name: &str, about: &str, frames: &str) -> Result<Self, String> {
        let about: About = toml::from_str(about).map_err(|error| format!("session.toml: {error}"))?;
        let digest = &about.script_sha256;
        if digest.len() != 64 || !digest.chars().all(|letter| matches!(letter, '0'..='9' | 'a'..='f')) {
            return Err("session.toml: `script_sha256` is not a digest".into());
        }
        if about.client != adapter || about.client_version.is_empty() || about.recorded.is_empty() {
            return Err("session.toml: client, version and day say where the session comes from".into());
        }
        if let Some(path) = about.files.keys().find(|path| !inside(path)) {
            return Err(format!("session.toml: `{path}` leads out of the project"));
        }
        let mut lines = Vec::new();
        for (at, line) in frames.lines().enumerate() {
            let mut line: Recorded =
                serde_json::from_str(line).map_err(|error| format!("frames.jsonl:{}: {error}", at + 1))?;
            if !line.reply.keys().is_empty() {
                line.reply = line
                    .reply
                    .whole(texts::kept()?)
                    .map_err(|problem| format!("frames.jsonl:{}: {problem}", at + 1))?;
            }
            if line.n != at + 1 {
                return Err(format!("frames.jsonl:{}: is numbered {}", at + 1, line.n));
            }
            lines.push(line);
        }
        if lines.is_empty() {
            Err("frames.jsonl: empty".into())
        } else {
            Ok(Self { name: name.into(), about, frames: lines })
        }
    }

    /// The session's name in the suite: `<adapter>/<story>@<version>`.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}", self.about.client, self.name)
    }
}

fn inside(path: &str) -> bool {
    Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABOUT: &str = "story = 's'\ntitle = 't'\nclient = 'a'\nclient_version = '1'\nrecorded = '2026-01-01'\n\
        script_sha256 = '0000000000000000000000000000000000000000000000000000000000000000'\n[files]\n'a' = 'x'\n";
    const FRAME: &str = "{\"n\":1,\"frame\":{},\"reply\":{\"stdout\":\"\",\"stderr\":\"\",\"status\":0}}\n";

    fn parse(about: &str, frames: &str) -> Result<Session, String> {
        Session::parse("a", "s@1", about, frames)
    }

    #[test]
    fn sessions_without_provenance_or_order_are_refused() {
        assert_eq!(parse(ABOUT, FRAME).unwrap().id(), "a/s@1");
        assert!(parse(&ABOUT.replace("0000", "zzzz"), FRAME).unwrap_err().contains("digest"));
        assert!(parse(&ABOUT.replace("client = 'a'", "client = 'b'"), FRAME).unwrap_err().contains("client"));
        assert!(parse(&ABOUT.replace("'a' = 'x'", "'../a' = 'x'"), FRAME).unwrap_err().contains("leads out"));
        assert!(parse(ABOUT, &FRAME.replace("\"n\":1", "\"n\":2")).unwrap_err().contains("numbered"));
        assert!(parse(ABOUT, &FRAME.replace("{}", "{},\"more\":1")).is_err());
        assert!(parse(ABOUT, "").is_err());
    }
}
