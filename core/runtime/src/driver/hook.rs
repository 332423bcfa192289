//! The hook: the bytes of one frame in, one reply out, in time and whatever happens.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use phasegate_adapter::{Adapter, FailureMode, Frame, Problem, Refusal, Reply};
use phasegate_core::Code;

use crate::clients::client_shell::ShellProbe;
use crate::deadline::{Deadline, answer_within, try_within};
use crate::driver::frames::answer;
use crate::driver::open_frame::Opened;
use crate::locations::Locations;
use crate::runtime::Runtime;

/// The largest frame, in bytes.
pub const MAX_FRAME_BYTES: u64 = 32 * 1024 * 1024;
/// How much of a frame that is larger is kept, in bytes, so that the reply can be in its event's form.
const KEPT_HEAD_BYTES: usize = 64 * 1024;
/// How long the failure mode of a project may be looked for after the answer has failed.
const GRACE: Duration = Duration::from_millis(500);

/// What a hook works with.
#[derive(Clone, Debug)]
pub struct Hook {
    /// The folders outside of projects.
    pub locations: Locations,
    /// The environment of the process, for the adapter. A value that is not UTF-8 is given as an empty one, so that it
    /// is not taken for one that is not set.
    pub environment: BTreeMap<String, String>,
    /// A file that audit events are written to, besides the one that settings name; relative to the project.
    pub audit_log: Option<PathBuf>,
    /// What this program can do as a client's shell, where it can be one.
    pub shell_probe: Option<ShellProbe>,
    /// How long the answer may take.
    pub limit: Duration,
    /// Whether `send` ends the process.
    pub ends: bool,
}

impl Hook {
    /// Answers the frame that `input` holds, by calling `send` exactly once. Every way that this can fail ends in the
    /// adapter's own denial, or in its warning where nothing stricter than warn mode is known to apply.
    ///
    /// If the deadline passes, `send` is called on another thread; it should end the process.
    pub fn answer(
        self,
        adapter: &'static dyn Adapter,
        adapters: Vec<&'static dyn Adapter>,
        input: impl Read,
        send: impl FnOnce(Reply) + Send + 'static,
    ) {
        let mut runtime = Runtime::new(self.locations, adapters);
        runtime.audit_log = self.audit_log;
        runtime.ends_with_answer = self.ends;
        runtime.shell_probe = self.shell_probe;
        let answering = Answering { runtime: Arc::new(runtime), adapter, limit: self.limit };
        let held = Held { frame: Arc::default(), environment: Arc::new(Mutex::new(self.environment)) };
        let read = |held: &Held| {
            let (bytes, problem) = read(input);
            held.fill(bytes);
            problem
        };
        answering.answer(&held, read, send);
    }
}

/// What an answer is made with.
struct Answering {
    runtime: Arc<Runtime>,
    adapter: &'static dyn Adapter,
    /// How long it may take.
    limit: Duration,
}

impl Answering {
    /// Answers one frame by calling `send` exactly once: on this thread, or on another one if the deadline passes while
    /// the work goes on. `ready` is called first, within the deadline, and says what is wrong with the frame already.
    fn answer(
        &self,
        held: &Held,
        ready: impl FnOnce(&Held) -> Option<Problem>,
        send: impl FnOnce(Reply) + Send + 'static,
    ) {
        let (adapter, runtime) = (self.adapter, &self.runtime);
        let deadline = Deadline::new(self.limit);
        let late = {
            let (held, runtime) = (held.clone(), Arc::clone(runtime));
            move |problem: Problem| {
                let opened = held.opened();
                let failure_mode = late_failure_mode(Arc::clone(&runtime), adapter, opened.clone());
                answer(&Refusal { problem, failure_mode }, adapter, opened)
            }
        };
        let work = || {
            let problem = ready(held);
            let opened = held.opened();
            match problem {
                Some(problem) => {
                    let failure_mode = runtime.failure_mode_of(adapter, opened);
                    answer(&Refusal { problem, failure_mode }, adapter, opened)
                }
                None => runtime.handle_frame(adapter, opened, &deadline),
            }
        };
        answer_within(self.limit, work, late, send);
    }
}

/// A frame that is read while the deadline runs.
#[derive(Clone)]
struct Held {
    frame: Arc<OnceLock<Opened>>,
    /// It is handed on, not copied: to the frame that was read, else to the one that stands for a frame never read.
    environment: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Held {
    fn fill(&self, bytes: Vec<u8>) {
        self.frame.get_or_init(|| made(bytes, &self.environment));
    }

    fn opened(&self) -> &Opened {
        self.frame.get_or_init(|| made(Vec::new(), &self.environment))
    }
}

fn made(bytes: Vec<u8>, environment: &Mutex<BTreeMap<String, String>>) -> Opened {
    let mut held = environment.lock().unwrap_or_else(PoisonError::into_inner);
    Opened::new(Frame { bytes, environment: std::mem::take(&mut held) })
}

/// The failure mode of a frame whose answer has failed, looked up for a moment.
pub fn late_failure_mode(runtime: Arc<Runtime>, adapter: &'static dyn Adapter, opened: Opened) -> FailureMode {
    try_within(GRACE, move || runtime.failure_mode_of(adapter, &opened)).unwrap_or_default()
}

fn read(input: impl Read) -> (Vec<u8>, Option<Problem>) {
    let mut bytes = Vec::new();
    let bad = |text: String| Some(Problem::new(Code::BadInput, text));
    let result: io::Result<_> = input.take(MAX_FRAME_BYTES + 1).read_to_end(&mut bytes);
    let problem = match result {
        Err(error) => bad(format!("the message could not be read: {error}")),
        Ok(_) if bytes.len() as u64 > MAX_FRAME_BYTES => {
            bytes.truncate(KEPT_HEAD_BYTES);
            let text = format!("the message is larger than {} MiB", MAX_FRAME_BYTES / 1024 / 1024);
            Some(Problem::new(Code::InputTooLarge, text))
        }
        Ok(_) => None,
    };
    (bytes, problem)
}
