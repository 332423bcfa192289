//! Whole sessions as `cargo xtask record` keeps them: every frame the real client sent, and what it was answered.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::path::{Component, Path};

use phasegate_runtime::digest::sha256_hex;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::texts;
pub use crate::texts::Reply as Answer;

/// The folder that stands for the machine's in frames and replies: below it lie the project, home and state.
pub const BASE: &str = "/workspace";

/// The file of an adapter's folder that says where its sessions come from.
pub const SESSIONS: &str = "sessions.toml";

/// `sessions.toml`: where the sessions of an adapter come from. A text that files of projects hold stands there once.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Sessions {
    /// The sessions by name; a project's file has the digest of its text in place of the text.
    pub session: BTreeMap<String, About>,
    /// The texts by digest.
    text: BTreeMap<String, String>,
}

/// Where a session comes from and what it is played in.
#[derive(Clone, Debug, Deserialize, Serialize)]
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

impl Sessions {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// It is not in its form.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() { Ok(Self::default()) } else { toml::from_str(text).map_err(told) }
    }

    /// Keeps a session by its name, and each text of its files once.
    pub fn keep(&mut self, mut about: About) {
        for text in about.files.values_mut() {
            let digest: String = sha256_hex(text.as_bytes()).chars().take(12).collect();
            self.text.insert(digest.clone(), std::mem::replace(text, digest));
        }
        self.session.insert(format!("{}@{}", about.story, about.client_version), about);
        let used = used(&self.session);
        self.text.retain(|digest, _| used.contains(digest));
    }

    /// What is wrong with the file: a session of which no frame is kept, a text that no session names.
    pub(crate) fn unused(&self, names: &BTreeSet<String>) -> Vec<String> {
        let used = used(&self.session);
        let sessions = self.session.keys().filter(|name| !names.contains(*name));
        let texts = self.text.keys().filter(|digest| !used.contains(digest));
        sessions
            .map(|name| format!("no frames of `{name}`"))
            .chain(texts.map(|text| format!("no session names `{text}`")))
            .collect()
    }

    /// What is said of a session, with the texts of its files.
    fn about(&self, name: &str) -> Result<About, String> {
        let mut about = self.session.get(name).ok_or_else(|| told(format!("no session `{name}`")))?.clone();
        for text in about.files.values_mut() {
            *text = self.text.get(text).ok_or_else(|| told(format!("no text `{text}`")))?.clone();
        }
        Ok(about)
    }
}

/// The digests that sessions name.
fn used(sessions: &BTreeMap<String, About>) -> BTreeSet<&String> {
    sessions.values().flat_map(|about| about.files.values()).collect()
}

fn told(problem: impl Display) -> String {
    format!("{SESSIONS}: {problem}")
}

impl Session {
    /// Reads a session: what is said of it, and its frames.
    ///
    /// # Errors
    ///
    /// Nothing is said of it, another client than the folder's, a digest that is none, a path out of the project,
    /// frames that are not numbered from 1.
    pub fn parse(adapter: &str, name: &str, sessions: &Sessions, frames: &str) -> Result<Self, String> {
        let about = sessions.about(name)?;
        let digest = &about.script_sha256;
        if digest.len() != 64 || !digest.chars().all(|letter| matches!(letter, '0'..='9' | 'a'..='f')) {
            return Err(told("`script_sha256` is not a digest"));
        }
        if about.client != adapter || about.client_version.is_empty() || about.recorded.is_empty() {
            return Err(told("client, version and day say where the session comes from"));
        }
        if let Some(path) = about.files.keys().find(|path| !inside(path)) {
            return Err(told(format!("`{path}` leads out of the project")));
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

    const ABOUT: &str = "[session.'s@1']\nstory = 's'\ntitle = 't'\nclient = 'a'\nclient_version = '1'\nrecorded = '2026-01-01'\n\
        script_sha256 = '0000000000000000000000000000000000000000000000000000000000000000'\nfiles = {'a' = 'x'}\n[text]\nx = 'hello'\n";
    const FRAME: &str = "{\"n\":1,\"frame\":{},\"reply\":{\"stdout\":\"\",\"stderr\":\"\",\"status\":0}}\n";

    fn parse(about: &str, frames: &str) -> Result<Session, String> {
        Session::parse("a", "s@1", &Sessions::parse(about)?, frames)
    }

    #[test]
    fn sessions_without_provenance_or_order_are_refused() {
        let session = parse(ABOUT, FRAME).unwrap();
        assert_eq!((session.id(), session.about.files["a"].as_str()), ("a/s@1".into(), "hello"));
        assert!(parse(&ABOUT.replace("x = 'h", "y = 'h"), FRAME).unwrap_err().contains("no text `x`"));
        assert!(parse(&ABOUT.replace("s@1", "s@2"), FRAME).unwrap_err().contains("no session"));
        assert!(parse(&ABOUT.replace("0000", "zzzz"), FRAME).unwrap_err().contains("digest"));
        assert!(parse(&ABOUT.replace("client = 'a'", "client = 'b'"), FRAME).unwrap_err().contains("client"));
        assert!(parse(&ABOUT.replace("'a' = 'x'}", "'../a' = 'x'}"), FRAME).unwrap_err().contains("leads out"));
        assert!(parse(ABOUT, &FRAME.replace("\"n\":1", "\"n\":2")).unwrap_err().contains("numbered"));
        assert!(parse(ABOUT, &FRAME.replace("{}", "{},\"more\":1")).is_err());
        assert!(parse(ABOUT, "").is_err());
    }

    #[test]
    fn a_text_is_kept_once_and_one_that_nothing_names_is_not() {
        let mut sessions = Sessions::default();
        let about = |story: &str, text: &str| About {
            story: story.into(),
            files: BTreeMap::from([("a".into(), text.into()), ("b".into(), text.into())]),
            ..Sessions::parse(ABOUT).unwrap().session["s@1"].clone()
        };
        sessions.keep(about("s", "one"));
        sessions.keep(about("t", "two"));
        assert_eq!((sessions.about("s@1").unwrap().files["b"].as_str(), sessions.text.len()), ("one", 2));
        sessions.keep(about("s", "two"));
        assert_eq!(sessions.text.len(), 1);
        assert_eq!(sessions.unused(&BTreeSet::from(["s@1".into()])), ["no frames of `t@1`"]);
    }
}
