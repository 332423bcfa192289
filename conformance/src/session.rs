//! Whole sessions as recorded: frames in order, and what each must be answered.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `session.toml`: where a session comes from and what it is played in.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// What happens in it, in a sentence.
    pub story: String,
    /// The version of the client that was recorded.
    pub client_version: String,
    /// The SHA-256 digest of the script that drove the client, as 64 hexadecimal digits.
    pub script_sha256: String,
    /// The project's folder as the frames name it; the real one takes its place.
    pub project_path: String,
    /// The home folder as the frames name it; the real one takes its place.
    #[serde(default)]
    pub home_path: Option<String>,
    /// Files of the project before the session, by path from its root: configs first of all.
    pub project: BTreeMap<String, String>,
    /// Variables that the client gives to its hooks. `$PROJECT` is the project's folder.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
}

/// A recorded session.
#[derive(Clone, Debug)]
pub struct Session {
    /// The adapter's id.
    pub adapter: String,
    /// The name of its folder.
    pub name: String,
    /// Where it comes from.
    pub about: About,
    /// The frames, in the order in which they came, one JSON text each.
    pub frames: Vec<String>,
    /// What each must be answered; empty until it is accepted with `--bless`.
    pub expected: Vec<Answer>,
}

/// What a frame was answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The decisions that the journal holds, one for each event that asked for one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decided>,
    /// Standard output, to the byte.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    /// Standard error, to the byte.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// The exit status.
    pub status: i32,
}

/// A decision as the journal holds it, without what may be reworded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decided {
    /// `allow`, `warn`, `ask` or `deny`.
    pub decision: String,
    /// The tool.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// The phase after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
}

impl Session {
    /// Reads a session from its folder's three files.
    ///
    /// # Errors
    ///
    /// A file that is not in its form, a digest that is none, an expectation for a frame that is not there.
    pub fn parse(adapter: &str, name: &str, files: [&str; 3]) -> Result<Self, String> {
        let [about, frames, expected] = files;
        let about: About = toml::from_str(about).map_err(|error| format!("session.toml: {error}"))?;
        let digest = &about.script_sha256;
        if digest.len() != 64 || !digest.chars().all(|letter| matches!(letter, '0'..='9' | 'a'..='f')) {
            return Err("session.toml: `script_sha256` is not a digest".into());
        }
        if let Some(path) = about.project.keys().find(|path| !inside(path)) {
            return Err(format!("session.toml: `{path}` leads out of the project"));
        }
        let frames: Vec<String> = frames.lines().map(str::to_string).collect();
        let valid = frames.iter().all(|frame| serde_json::from_str::<Value>(frame).is_ok());
        if frames.is_empty() || !valid {
            return Err("frames.jsonl: one JSON text a line".into());
        }
        let expected: Vec<Answer> = expected
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()
            .map_err(|error| format!("expect.jsonl: {error}"))?;
        if !expected.is_empty() && expected.len() != frames.len() {
            return Err(format!("expect.jsonl: {} answers for {} frames", expected.len(), frames.len()));
        }
        Ok(Self { adapter: adapter.into(), name: name.into(), about, frames, expected })
    }

    /// The session's name in the suite.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}", self.adapter, self.name)
    }
}

fn inside(path: &str) -> bool {
    let path = Path::new(path);
    path.components().all(|part| matches!(part, std::path::Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABOUT: &str = "story = 's'\nclient_version = '1'\nproject_path = '/p'\nscript_sha256 = \
        '0000000000000000000000000000000000000000000000000000000000000000'\n[project]\n'a' = 'x'\n";

    fn parse(about: &str, frames: &str, expected: &str) -> Result<Session, String> {
        Session::parse("a", "s", [about, frames, expected])
    }

    #[test]
    fn sessions_without_provenance_or_with_missing_answers_are_refused() {
        assert!(parse(ABOUT, "{}\n", "{\"status\": 0}\n").is_ok());
        assert!(parse(&ABOUT.replace("0000", "zzzz"), "{}\n", "").unwrap_err().contains("digest"));
        assert!(parse(&ABOUT.replace("'a'", "'../a'"), "{}\n", "").unwrap_err().contains("leads out"));
        assert!(parse(ABOUT, "{}\n{}\n", "{\"status\": 0}\n").unwrap_err().contains("1 answers for 2 frames"));
        assert!(parse(ABOUT, "not json\n", "").is_err());
        assert!(parse(ABOUT, "{}\n", "{\"status\": 0, \"more\": 1}\n").is_err());
    }
}
