//! The bridge: many frames in one process, for plugins that live inside their client (rules 6.4).
//!
//! One line in, one line out; a line is decided as a hook decides its frame, with the same deadline and the same
//! denials. Sessions stay loaded, and lines that wait at the same time are decided as a batch, in their order (rules 8.8).

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read as _, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use phasegate_adapter::{Adapter, Frame, Problem, Refusal, Reply};
use phasegate_core::Code;

use serde_json::value::RawValue;

use crate::batch::Input;
use crate::bridge_answers::Answers;
pub use crate::bridge_lines::PROTOCOL;
use crate::bridge_lines::{self, Answer, Greeting, Hello, Line, Request, Welcome};
use crate::bridge_probe;
use crate::dispatcher::Dispatcher;
use crate::oneshot::Oneshot;
use crate::project_router::ProjectRouter;
use phasegate_runtime::clients::heartbeat::Heartbeat;
use phasegate_runtime::driver::frames::{FrameOutcomes, Framed};
use phasegate_runtime::driver::hook::{MAX_FRAME_BYTES, late_failure_mode};
use phasegate_runtime::policies::policy_store::Current;
use phasegate_runtime::project::Project;
use phasegate_runtime::project::guarded_projects::Guarded;
use phasegate_runtime::runtime::Runtime;

/// The variable in which a plugin tells the programs of its agent which session started them, and in which each frame
/// says it.
pub const SESSION: &str = "PHASEGATE_SESSION";
/// The most requests that may be open at once.
const MAX_OPEN_REQUESTS: usize = 256;

/// What a bridge works with.
pub struct Bridge {
    /// Finds configs and state, and decides by them.
    pub runtime: Runtime,
    /// The platform whose frames come in.
    pub adapter: &'static dyn Adapter,
    /// The environment of the process, as for a hook.
    pub environment: BTreeMap<String, String>,
    /// How long an answer may take.
    pub limit: Duration,
    /// Ends the process: a request has been stuck for twice the limit, so the plugin must start another bridge.
    pub give_up: fn(),
}

/// What the threads share.
struct Shared {
    runtime: Arc<Runtime>,
    adapter: &'static dyn Adapter,
    limit: Duration,
    environment: BTreeMap<String, String>,
    give_up: fn(),
    dispatcher: Dispatcher<ProjectRouter>,
    /// How many frames and probes are not answered.
    open: AtomicUsize,
    out: Mutex<Box<dyn Write + Send>>,
    /// The plugin's file of answers.
    answers: Option<Mutex<Answers>>,
    heartbeat: Heartbeat,
    /// What the plugin was told last of each project's guard.
    told: Mutex<Vec<Guarded>>,
}

impl Bridge {
    /// Answers lines until the input ends, then waits for open answers, for at most the limit.
    ///
    /// # Errors
    ///
    /// `bad-input`: the first line is not a greeting, or is one of another protocol or platform. The bridge has
    /// answered so.
    pub fn serve(self, mut input: impl BufRead, mut out: impl Write + Send + 'static) -> Result<(), Problem> {
        let limit = self.limit;
        let greeting = match read_line(&mut input).and_then(|read| self.greeted(read)) {
            Ok(Some(greeting)) => greeting,
            Ok(None) => return Ok(()),
            Err(problem) => {
                refuse(out, &problem);
                return Err(problem);
            }
        };
        greeting.guarded.iter().cloned().for_each(|guarded| self.runtime.seen.was(guarded));
        let project = Project::find(&self.runtime.locations, &greeting.directory);
        let answers = greeting.answers.as_ref().and_then(Answers::open);
        let registers = registers(&self.runtime, &project);
        say(&mut out, &Welcome::new(self.adapter.id(), limit, answers.is_some()).registering(registers));
        let heartbeat = Heartbeat::begin(self.adapter.id(), &greeting.client, project);
        let runtime = Arc::new(self.runtime);
        let shared = Arc::new(Shared {
            dispatcher: Dispatcher::new(ProjectRouter::new(Arc::clone(&runtime)), limit),
            runtime,
            adapter: self.adapter,
            limit,
            environment: self.environment,
            give_up: self.give_up,
            open: AtomicUsize::new(0),
            out: Mutex::new(Box::new(out)),
            answers: answers.map(Mutex::new),
            heartbeat,
            told: Mutex::new(greeting.guarded),
        });
        loop {
            match read_line(&mut input) {
                Ok(Some(bytes)) => shared.take(&bytes),
                Ok(None) => break,
                Err(problem) => shared.say(&Answer::error(None, &problem)),
            }
        }
        let began = Instant::now();
        while shared.open.load(Ordering::SeqCst) > 0 && began.elapsed() < limit {
            std::thread::sleep(Duration::from_millis(2));
        }
        shared.heartbeat.end();
        Ok(())
    }

    fn greeted(&self, read: Option<Vec<u8>>) -> Result<Option<Greeting>, Problem> {
        let Some(bytes) = read else { return Ok(None) };
        let Hello { hello } = bridge_lines::parsed(&bytes).map_err(|(_, problem)| problem)?;
        let (platform, own) = (&hello.platform, self.adapter.id());
        let what = if hello.protocol != PROTOCOL {
            format!("the plugin speaks protocol {}, and this program {PROTOCOL}", hello.protocol)
        } else if platform != own {
            format!("the plugin is `{platform}`'s, and this bridge `{own}`'s")
        } else {
            return Ok(Some(hello));
        };
        Err(Problem::new(Code::BadInput, what))
    }
}

/// Whether the project's agents may ever be told to register what commands do: a plugin whose client asks for its tools once,
/// when it starts, has to offer the tool for what a person approves later.
fn registers(runtime: &Runtime, project: &Project) -> bool {
    match runtime.current(project) {
        Ok(Current::Ready(ready)) => !ready.policy.safety.silent,
        Ok(Current::Unguarded | Current::Invalid { .. }) | Err(_) => false,
    }
}

/// Which request is answered, and whether in the plugin's file, too.
#[derive(Clone, Copy)]
struct Asking {
    id: u64,
    now: bool,
}

impl Shared {
    /// Answers a line, or leaves it to the guard's own thread.
    fn take(self: &Arc<Self>, bytes: &[u8]) {
        match bridge_lines::parsed(bytes).and_then(Line::request) {
            Ok((id, Request::Event(event, now))) => self.event(Asking { id, now }, event),
            Ok((id, Request::Probe(frames))) => self.probe(id, &frames),
            Ok((id, Request::Ping)) => self.say(&Answer::pong(id)),
            Err((id, problem)) => self.say(&Answer::error(id, &problem)),
        }
    }

    /// A frame, with its session in the environment.
    fn frame(&self, event: &RawValue) -> Framed {
        let frame = Frame { bytes: event.get().into(), environment: self.environment.clone() };
        Framed::new(self.adapter, frame, SESSION)
    }

    /// Answers a probe when the frames before it are decided.
    fn probe(self: &Arc<Self>, id: u64, frames: &[&RawValue]) {
        let frames: Vec<_> = frames.iter().map(|frame| self.frame(frame).opened).collect();
        let shared = Arc::clone(self);
        self.open.fetch_add(1, Ordering::SeqCst);
        self.dispatcher.run_after(move || {
            let probe = || bridge_probe::probe(&shared.runtime, shared.adapter, &frames);
            let panicked = |_| Err(Problem::new(Code::Internal, "the guard panicked"));
            shared.say(&Answer::probed(id, catch_unwind(AssertUnwindSafe(probe)).unwrap_or_else(panicked)));
            shared.open.fetch_sub(1, Ordering::SeqCst);
        });
    }

    /// Leaves a frame to be decided; the deadline counts from now.
    fn event(self: &Arc<Self>, asking: Asking, event: &RawValue) {
        let framed = Arc::new(self.frame(event));
        if self.open.fetch_add(1, Ordering::SeqCst) >= MAX_OPEN_REQUESTS {
            self.open.fetch_sub(1, Ordering::SeqCst);
            let problem = Problem::new(Code::StateBusy, format!("{MAX_OPEN_REQUESTS} requests are open already"));
            return self
                .say(&Answer::reply(asking.id, self.adapter.codec().refuse(framed.opened.received(), &problem)));
        }
        let own: Arc<OnceLock<Oneshot>> = Arc::default();
        let send = {
            let (shared, framed, own) = (Arc::clone(self), Arc::clone(&framed), Arc::clone(&own));
            move |outcome: FrameOutcomes| shared.answered(asking, &framed, outcome, own.get().cloned())
        };
        let slot = own.get_or_init(|| Oneshot::calling(send));
        let session = framed.session().to_string();
        self.dispatcher.spawn(&session, Input::Frame(framed), slot);
    }

    /// Answers a frame. A late answer is made on a thread on which no other frame waits.
    fn answered(self: &Arc<Self>, asking: Asking, framed: &Arc<Framed>, outcome: FrameOutcomes, slot: Option<Oneshot>) {
        match outcome {
            Err(refusal) if refusal.problem.code == Code::Deadline => {
                let (shared, late, problem) = (Arc::clone(self), Arc::clone(framed), refusal.problem.clone());
                let started = Builder::new().name("late".to_string()).spawn(move || {
                    let (runtime, opened) = (Arc::clone(&shared.runtime), late.opened.clone());
                    let failure_mode = late_failure_mode(runtime, shared.adapter, opened);
                    shared.reply(asking, late.refuse(&Refusal { problem, failure_mode }), None);
                    shared.give_up_on(slot);
                });
                if started.is_err() {
                    self.reply(asking, framed.refuse(&refusal), None);
                }
            }
            outcome => {
                let reply = framed.reply(&self.runtime, outcome);
                self.reply(asking, reply, self.news(framed));
                self.heartbeat.beat();
            }
        }
    }

    /// What the plugin was not yet told of the guard of the frame's project.
    fn news(&self, framed: &Framed) -> Option<Guarded> {
        let guarded = self.runtime.seen.guarded(&framed.project()?.root)?;
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.contains(&guarded) {
            return None;
        }
        told.retain(|known| known.root != guarded.root);
        told.push(guarded.clone());
        Some(guarded)
    }

    fn reply(&self, asking: Asking, reply: Reply, guarded: Option<Guarded>) {
        let answer = Answer::reply(asking.id, reply).guarding(guarded);
        if let Some(answers) = self.answers.as_ref().filter(|_| asking.now) {
            let text = serde_json::to_string(&answer).unwrap_or_default();
            answers.lock().unwrap_or_else(PoisonError::into_inner).add(&text);
        }
        self.say(&answer);
        self.open.fetch_sub(1, Ordering::SeqCst);
    }

    /// No client waits for this work any longer. If it never ends, later frames never end either, so the process must
    /// end.
    fn give_up_on(&self, slot: Option<Oneshot>) {
        std::thread::sleep(self.limit);
        if !slot.is_some_and(|slot| slot.is_finished()) {
            (self.give_up)();
        }
    }

    fn say(&self, answer: &impl serde::Serialize) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        say(&mut *out, answer);
    }
}

/// Says in the protocol's form, in place of a greeting, why there will be no bridge.
pub fn refuse(mut out: impl Write, problem: &Problem) {
    say(&mut out, &Answer::error(None, problem));
}

/// Writes one line. A plugin that is gone reads none, and its end closes the input as well.
fn say(out: &mut (impl Write + ?Sized), answer: &impl serde::Serialize) {
    let mut line = serde_json::to_vec(answer).unwrap_or_default();
    line.push(b'\n');
    let _ = out.write_all(&line).and_then(|()| out.flush());
}

/// The next line, without its end; `None` where there is none. Of one that is too long nothing is kept.
fn read_line(input: &mut impl BufRead) -> Result<Option<Vec<u8>>, Problem> {
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let Ok(read) = input.by_ref().take(MAX_FRAME_BYTES + 1).read_until(b'\n', &mut bytes) else { return Ok(None) };
        if read == 0 {
            return Ok(None);
        }
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        } else if read as u64 > MAX_FRAME_BYTES {
            // Where the rest cannot be read, the next line will not be there.
            let _ = skip_line(input);
            let text = format!("the line is longer than {} MiB", MAX_FRAME_BYTES / 1024 / 1024);
            return Err(Problem::new(Code::InputTooLarge, text));
        }
        if !bytes.trim_ascii().is_empty() {
            return Ok(Some(bytes));
        }
    }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let held = input.fill_buf()?;
        if held.is_empty() {
            return Ok(());
        }
        let (end, length) = match held.iter().position(|byte| *byte == b'\n') {
            Some(at) => (true, at + 1),
            None => (false, held.len()),
        };
        input.consume(length);
        if end {
            return Ok(());
        }
    }
}
