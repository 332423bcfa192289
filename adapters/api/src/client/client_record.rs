//! The client's own record of a session: which calls it says ran. The runtime compares it with what the guard decided.

use std::path::PathBuf;
use std::time::Duration;

use phasegate_core::shell::test_report::TestReport;
use serde_json::Value;

use crate::frame::Message;

/// Reads what a client itself keeps of its sessions, beside the frames that its hooks send. It reads no file.
pub trait ClientRecord: Send + Sync {
    /// Where the client records the session of this message; `None` where the message does not say it.
    fn place(&self, message: &Message) -> Option<RecordPlace>;

    /// What one line of such a file says of calls.
    fn read(&self, line: &str) -> Vec<Recorded>;

    /// What the main agent says in one line of the session's own file.
    fn said(&self, _line: &str) -> Option<Said> {
        None
    }

    /// How long after the start of the hook about a call the client writes down the call, and what the agent said before it.
    fn lags(&self) -> Duration {
        Duration::ZERO
    }

    /// The file that says how the call of this message ended before its hook is started, where the client does not tell the
    /// hook itself. A line of it is read by [`ClientRecord::read`].
    fn ends(&self, _message: &Message) -> Option<PathBuf> {
        None
    }

    /// What a message itself says of calls besides the one that it is about.
    fn told(&self, _message: &Message) -> Vec<Recorded> {
        Vec::new()
    }
}

/// The files in which a client records a session. A record is a line; lines are only added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// The file of the session itself.
    pub file: PathBuf,
    /// The folder of the files of its subagents, where they have their own.
    pub folder: Option<PathBuf>,
}

/// What a client's record says of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The platform's id of the call.
    pub call: String,
    /// The canonical name of its tool, where this says it.
    pub tool: Option<String>,
    /// The arguments that the agent gave it, where this says them.
    pub input: Option<Value>,
    /// How it ended; `None` where this says only that it was made.
    pub end: Option<RecordedEnd>,
    /// When it was recorded, as RFC 3339 writes it, where that is said.
    pub at: Option<String>,
}

/// What a client's record has of the agent's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// A finished message, or a part of one that is finished.
    pub text: String,
    /// When it was recorded, as RFC 3339 writes it, where that is said.
    pub at: Option<String>,
}

/// How a call ended, as a client's record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedEnd {
    /// Whether it ran for sure. A call that was refused, or that may not have run, did not.
    pub ran: bool,
    /// Whether the program that it ran succeeded, where the record says so plainly.
    pub passed: Option<bool>,
    /// The program's exit status, where that is known.
    pub exit_code: Option<i64>,
    /// Whether the client starts no hook about this end.
    pub untold: bool,
    /// The reports of tests in what it printed, where the record has the whole of it.
    pub tests: Option<Vec<TestReport>>,
}

impl RecordedEnd {
    /// An end of which nothing is known but whether the call ran.
    #[must_use]
    pub const fn of(ran: bool) -> Self {
        Self { ran, passed: None, exit_code: None, untold: false, tests: None }
    }
}
