//! The lines of the bridge's protocol.

use std::path::PathBuf;
use std::time::Duration;

use phasegate_adapter::{Output, Problem, Reply};
use phasegate_core::{Code, Decision};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::bridge_probe::Probed;
use phasegate_runtime::driver::hook::MAX_FRAME_BYTES;
use phasegate_runtime::project::guarded_projects::Guarded;

/// The version of the protocol: it changes when a line changes its form.
pub const PROTOCOL: u32 = 1;

/// The first line of the plugin.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hello {
    pub(crate) hello: Greeting,
}

/// What a plugin says of itself.
#[derive(Debug, Deserialize)]
pub(crate) struct Greeting {
    /// The version of the protocol.
    pub(crate) protocol: u32,
    /// The platform's id.
    pub(crate) platform: String,
    /// The client's version, where the plugin knows it.
    #[serde(default)]
    pub(crate) client: String,
    /// The folder in which the client works.
    pub(crate) directory: PathBuf,
    /// Where answers go besides that the plugin can read at once.
    #[serde(default)]
    pub(crate) answers: Option<AnswerFile>,
    /// The projects that bridges before this one said are guarded.
    #[serde(default)]
    pub(crate) guarded: Vec<Guarded>,
}

/// A file for answers.
#[derive(Debug, Deserialize)]
pub(crate) struct AnswerFile {
    /// The file; it is there and empty.
    pub(crate) file: PathBuf,
    /// What only the plugin and its bridge know.
    pub(crate) key: String,
}

/// The first line of the bridge.
#[derive(Debug, Serialize)]
pub(crate) struct Welcome {
    hello: Own,
}

#[derive(Debug, Serialize)]
struct Own {
    protocol: u32,
    platform: &'static str,
    version: &'static str,
    deadline_ms: u128,
    largest: u64,
    /// Whether answers are written to the plugin's file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    answers: bool,
    /// Whether the agents of the project register what commands do.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    registers: bool,
}

impl Welcome {
    pub(crate) fn new(platform: &'static str, limit: Duration, answers: bool) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        let (deadline_ms, largest, registers) = (limit.as_millis(), MAX_FRAME_BYTES, false);
        Self { hello: Own { protocol: PROTOCOL, platform, version, deadline_ms, largest, answers, registers } }
    }

    /// The same, where the agents of the project register what commands do.
    pub(crate) fn registering(self, registers: bool) -> Self {
        Self { hello: Own { registers, ..self.hello } }
    }
}

/// A further line of the plugin.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    #[serde(borrow)]
    probe: Option<Vec<&'a RawValue>>,
    ping: Option<u64>,
    #[serde(default)]
    now: bool,
}

/// What a line asks for.
#[derive(Debug)]
pub(crate) enum Request<'a> {
    /// The reply to a frame; `true`: in the plugin's file, too.
    Event(&'a RawValue, bool),
    /// What these frames would be answered.
    Probe(Vec<&'a RawValue>),
    /// A sign of life.
    Ping,
}

/// A problem, and the request that it is about where that is known.
pub(crate) type Unanswerable = (Option<u64>, Problem);

impl<'a> Line<'a> {
    /// What the line asks for, and the number that the answer bears.
    pub(crate) fn request(self) -> Result<(u64, Request<'a>), Unanswerable> {
        match self {
            Self { id: Some(id), event: Some(event), probe: None, ping: None, now } => {
                Ok((id, Request::Event(event, now)))
            }
            Self { id: Some(id), event: None, probe: Some(frames), ping: None, now: false } => {
                Ok((id, Request::Probe(frames)))
            }
            Self { id: None, event: None, probe: None, ping: Some(ping), now: false } => Ok((ping, Request::Ping)),
            Self { id, .. } => Err((id, bad("the line asks for nothing that is known".into()))),
        }
    }
}

/// The line as JSON.
pub(crate) fn parsed<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Unanswerable> {
    /// What can be read of a line that is not understood.
    #[derive(Deserialize)]
    struct Numbered {
        id: u64,
    }
    serde_json::from_slice(bytes).map_err(|error| {
        let id = serde_json::from_slice::<Numbered>(bytes).ok().map(|line| line.id);
        (id, bad(format!("the line is not understood: {error}")))
    })
}

/// A further line of the bridge.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    #[serde(flatten)]
    said: Said,
    /// The project that the frame belongs to, for the next bridge's greeting.
    #[serde(skip_serializing_if = "Option::is_none")]
    guarded: Option<Guarded>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Said {
    Reply(Box<RawValue>),
    Probed(Vec<Probed>),
    Error { code: Code, message: String, text: String },
    Pong(u64),
}

impl Answer {
    /// The reply to a frame: the object that the adapter made, or null where it has nothing to say. A refusal without an
    /// object is one all the same.
    pub(crate) fn reply(id: u64, reply: Reply) -> Self {
        let said = match reply {
            Reply::Nothing => to_raw_value(&()),
            Reply::Json { text, .. } => RawValue::from_string(text),
            Reply::Output(Output { stdout, stderr, status }) => {
                let text = String::from_utf8_lossy(&stdout).trim().to_string();
                match (text.is_empty(), status) {
                    (false, _) => RawValue::from_string(text),
                    (true, 0) => to_raw_value(&()),
                    (true, _) => to_raw_value(&json!({"deny": String::from_utf8_lossy(&stderr).trim()})),
                }
            }
        };
        match said {
            Ok(said) => Self { id: Some(id), said: Said::Reply(said), guarded: None },
            Err(error) => {
                Self::error(Some(id), &Problem::new(Code::Internal, format!("the reply is no JSON: {error}")))
            }
        }
    }

    /// The answers to a probe.
    pub(crate) fn probed(id: u64, answers: Result<Vec<Decision>, Problem>) -> Self {
        match answers {
            Ok(answers) => {
                let said = Said::Probed(answers.into_iter().map(Into::into).collect());
                Self { id: Some(id), said, guarded: None }
            }
            Err(problem) => Self::error(Some(id), &problem),
        }
    }

    pub(crate) fn error(id: Option<u64>, problem: &Problem) -> Self {
        let said = Said::Error { code: problem.code, message: problem.message.clone(), text: problem.text() };
        Self { id, said, guarded: None }
    }

    /// The same, with a project that the plugin is to remember.
    pub(crate) fn guarding(self, guarded: Option<Guarded>) -> Self {
        Self { guarded, ..self }
    }

    pub(crate) fn pong(ping: u64) -> Self {
        Self { id: None, said: Said::Pong(ping), guarded: None }
    }
}

fn bad(message: String) -> Problem {
    Problem::new(Code::BadInput, message)
}
