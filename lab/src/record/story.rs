//! A story as written: what the model does turn by turn, and the required result of each call.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::later::{Later, Typed};
use xtask::failure::{Failure, Result};

/// A story that a real client plays. The model decides nothing: the story holds every turn.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Story {
    /// What the story shows, in a sentence.
    pub(crate) title: String,
    /// What the user types.
    pub(crate) prompt: String,
    /// What the user types later, each time into a new process of the client that continues the session.
    #[serde(default)]
    pub(crate) then: Vec<String>,
    /// What an outside program does before each later process of the client: shell commands, in the scratch folder.
    #[serde(default)]
    pub(crate) between: Vec<String>,
    /// Further processes of the client, after those of `then`.
    #[serde(default)]
    pub(crate) later: Vec<Later>,
    /// What the user types into the first process, which then runs in a terminal, the prompt among it.
    #[serde(default)]
    pub(crate) terminal: Vec<Typed>,
    /// The shipped skill that the project uses; without it the project's files bring their own.
    #[serde(default)]
    pub(crate) skill: Option<String>,
    /// The skill's mode, `warn` or `block`.
    pub(crate) mode: String,
    /// Whether the guard's relay stands before the MCP server, besides what guards the client.
    #[serde(default)]
    pub(crate) relay: bool,
    /// The project's files, by path.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// Further arguments for the client, by the client's id.
    #[serde(default)]
    pub(crate) client_args: BTreeMap<String, Vec<String>>,
    /// Further variables of the client's environment; an empty value takes a variable away.
    #[serde(default)]
    pub(crate) client_env: BTreeMap<String, String>,
    /// Further arguments for `phasegate init`.
    #[serde(default)]
    pub(crate) init: Vec<String>,
    /// The folder that the client is started in, from the project's root; empty: the root.
    #[serde(default)]
    pub(crate) start_in: String,
    /// Native events that the recording must hold, or else the story did not happen as meant.
    #[serde(default)]
    pub(crate) requires: Vec<String>,
    /// The main conversation.
    pub(crate) turns: Vec<Turn>,
    /// Conversations of subagents, by a word in the prompt that starts them.
    #[serde(default)]
    pub(crate) agents: BTreeMap<String, Vec<Turn>>,
}

/// The main conversation's name. A subagent's is the word that starts it.
pub(crate) const MAIN: &str = "main";

/// The id of a call: its conversation, turn and position.
pub(crate) fn call_id(conversation: &str, turn: usize, position: usize) -> String {
    let name: String = conversation.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("toolu_{name}_t{turn}_{position}")
}

/// One message of the model.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Turn {
    /// What it says.
    pub(crate) text: String,
    /// What it calls, all in one message.
    pub(crate) calls: Vec<Call>,
    /// What an outside program does before the model answers: shell commands, in the scratch folder.
    pub(crate) hand: Vec<String>,
    /// How long the model thinks before it answers, in milliseconds.
    pub(crate) after_ms: u64,
}

/// One call and its required result.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    /// The tool's name in the client.
    pub(crate) tool: String,
    /// Its arguments.
    pub(crate) input: Map<String, Value>,
    /// What the guard must say.
    pub(crate) expect: Expect,
    /// Whether the call runs and fails.
    #[serde(default)]
    pub(crate) fails: bool,
    /// Whether the client itself, or its user, does not let the call run though the guard would.
    #[serde(default)]
    pub(crate) refused: bool,
    /// Whether the user says yes, where the guard has them asked.
    #[serde(default)]
    pub(crate) granted: bool,
    /// Whether the model reads no result: the client is gone before it comes, or the turn ends with the call.
    #[serde(default)]
    pub(crate) lost: bool,
    /// What shows, outside of any protocol, that the call ran.
    #[serde(default)]
    pub(crate) proof: Option<Proof>,
    /// Texts that the model must read in what comes back.
    #[serde(default)]
    pub(crate) reads: Vec<String>,
}

/// What the guard says to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Expect {
    /// Nothing: the call runs.
    Allowed,
    /// The call runs, and the model reads the warning.
    Warned,
    /// The call does not run, and the model reads why.
    Blocked,
    /// The client asks its user; no user answers, so the call does not run.
    Asked,
}

impl Expect {
    /// Whether the guard lets the call run.
    pub(crate) fn passes(self) -> bool {
        matches!(self, Self::Allowed | Self::Warned)
    }
}

impl Call {
    /// A call that shall run, and of which nothing more is asked.
    pub(crate) fn plain(tool: &str, input: Map<String, Value>) -> Self {
        let (fails, refused, granted, lost, proof, reads) = (false, false, false, false, None, Vec::new());
        Self { tool: tool.into(), input, expect: Expect::Allowed, fails, refused, granted, lost, proof, reads }
    }

    /// Whether the call runs.
    pub(crate) fn runs(&self) -> bool {
        (self.expect.passes() || (self.expect == Expect::Asked && self.granted)) && !self.refused
    }
}

/// A trace of the call in the project.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Proof {
    /// A file, relative to the project.
    pub(crate) file: String,
    /// What it holds after the call and not before; without it the file itself is the trace.
    #[serde(default)]
    pub(crate) contains: String,
}

impl Proof {
    /// Whether the trace is there now.
    pub(crate) fn holds(&self, project: &Path) -> bool {
        std::fs::read_to_string(project.join(&self.file)).is_ok_and(|text| text.contains(&self.contains))
    }
}

impl Story {
    /// Reads a story and refuses one that could not fail.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self> {
        let story: Self =
            serde_json::from_str(text).map_err(|error| Failure::new(format!("story `{name}`: {error}")))?;
        let calls = story.calls();
        match calls.iter().find(|(_, call)| !call.runs() && call.reads.is_empty()) {
            Some((_, call)) => {
                Err(Failure::new(format!("story `{name}`: `{}` is stopped and reads nothing", call.tool)))
            }
            None if !calls.iter().any(|(_, call)| call.proof.is_some()) => {
                Err(Failure::new(format!("story `{name}`: no call leaves a trace")))
            }
            None => Ok(story),
        }
    }

    /// Every call of every conversation, with its id.
    pub(crate) fn calls(&self) -> Vec<(String, &Call)> {
        let agents = self.agents.iter().map(|(name, turns)| (name.as_str(), turns));
        let mut calls = Vec::new();
        for (name, turns) in std::iter::once((MAIN, &self.turns)).chain(agents) {
            for (at, turn) in turns.iter().enumerate() {
                calls.extend(turn.calls.iter().enumerate().map(|(position, call)| (call_id(name, at, position), call)));
            }
        }
        calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(call: &str) -> Result<Story> {
        let turns = format!(r#"[{{"calls": [{call}]}}]"#);
        Story::parse(
            "s",
            &format!(r#"{{"title": "t", "prompt": "p", "skill": "s", "mode": "block", "turns": {turns}}}"#),
        )
    }

    #[test]
    fn a_story_that_cannot_fail_is_refused() {
        let stopped = r#"{"tool": "Edit", "input": {}, "expect": "blocked", "proof": {"file": "a"}}"#;
        assert!(with(stopped).unwrap_err().to_string().contains("reads nothing"));
        assert!(
            with(r#"{"tool": "Edit", "input": {}, "expect": "allowed"}"#).unwrap_err().to_string().contains("trace")
        );
        assert!(with(r#"{"tool": "Edit", "input": {}, "expect": "allowed", "proof": {"file": "a"}}"#).is_ok());
        assert!(with(r#"{"tool": "Edit", "input": {}, "expect": "denied"}"#).is_err());
    }
}
