//! Replies: what goes back to the platform.

use serde::{Deserialize, Serialize};

/// The one reply to a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// Nothing: the platform goes on as it would without a guard.
    #[default]
    Nothing,
    /// A JSON text, for a platform whose plugin talks to `phasegate serve`.
    Json {
        /// The JSON text, without a line break at its end.
        text: String,
        /// Whether the reply denies what the frame asks for.
        denies: bool,
    },
    /// The output of a process, for a platform that starts one for every frame.
    Output(Output),
}

/// The output of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// What goes to standard output, and nothing else does.
    pub stdout: Vec<u8>,
    /// What goes to standard error.
    pub stderr: Vec<u8>,
    /// The exit status.
    pub status: u8,
}

impl Reply {
    /// A reply of JSON. A value that cannot be written becomes the text `?`, which no plugin takes for an answer: each
    /// plugin denies then.
    #[must_use]
    pub fn json(value: &impl Serialize, denies: bool) -> Self {
        let text = serde_json::to_string(value).unwrap_or_else(|_| "?".to_owned());
        Self::Json { text, denies }
    }

    /// The reply as a process gives it: JSON becomes one line of standard output, and a denial has exit status 2.
    #[must_use]
    pub fn into_output(self) -> Output {
        match self {
            Self::Nothing => Output::default(),
            Self::Json { text, denies } => {
                let mut stdout = text.into_bytes();
                stdout.push(b'\n');
                Output { stdout, stderr: Vec::new(), status: if denies { 2 } else { 0 } }
            }
            Self::Output(output) => output,
        }
    }
}
