//! One session of the client: the scripted model has it make the calls of a plan, one after another.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use phasegate_adapters::drive::Stage;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use super::fault::Fault;
use super::plan::{Effect, MARK, Trial};
use super::world::{Origin, World};
use crate::scripted::http::{self, Request, Response};
use crate::scripted::messages::{self, Block};
use crate::scripted::responses;

/// What the user types, by which the model knows the conversation.
const PROMPT: &str = "phasegate drill: make the calls of the plan";
/// How long the client may take to begin, and how long a call may take.
const PATIENCE: [Duration; 2] = [Duration::from_secs(90), Duration::from_secs(30)];

/// What came of a call.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// Whether its effect is there.
    pub(super) ran: bool,
    /// What the model read.
    pub(super) read: Option<String>,
}

/// How the client is started.
pub(super) struct Start<'a> {
    /// Its program.
    pub(super) program: &'a Path,
    /// Further arguments.
    pub(super) more: &'a [String],
    /// Whether a person ended the drill.
    pub(super) ended: Arc<AtomicBool>,
}

/// What is played.
#[derive(Default)]
pub(super) struct Script {
    /// The calls.
    pub(super) trials: Vec<Trial>,
    /// What happens to the guard before the calls at these positions.
    pub(super) faults: BTreeMap<usize, Fault>,
}

/// The model.
struct Model {
    calls: Vec<(String, String, Value)>,
    faults: BTreeSet<usize>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    read: BTreeMap<usize, String>,
    /// When something was last asked.
    asked: Option<Instant>,
    /// The position before which a fault is due, and those before which it was made.
    due: Option<usize>,
    done: BTreeSet<usize>,
}

/// Plays; what came of each call, in their order.
pub(super) fn play(world: &World, origin: &Origin<'_>, start: &Start<'_>, script: &Script) -> io::Result<Vec<Seen>> {
    let project = world.path("project");
    let calls = script.trials.iter().enumerate().map(|(at, trial)| {
        let (name, input) = origin.drive.call(&trial.deed, &project);
        (format!("toolu_drill_{at}"), name, input)
    });
    let faults = script.faults.keys().copied().collect();
    let model = Arc::new(Model { calls: calls.collect(), faults, state: Mutex::default() });
    let answering = Arc::clone(&model);
    let port = http::serve(move |request| answering.answer(request))?;
    let home = world.path("home");
    let stage = Stage { project: &project, home: &home, port, prompt: PROMPT };
    for (path, text) in origin.drive.files(&stage) {
        std::fs::create_dir_all(path.parent().unwrap_or(&home))?;
        std::fs::write(path, text)?;
    }
    let mut command = world.command(start.program, origin);
    command.args(start.more);
    origin.drive.start(&stage, &mut command);
    command.stdout(File::create(world.path("out"))?).stderr(File::create(world.path("err"))?).process_group(0);
    let mut child = command.spawn()?;
    let ended = || start.ended.load(Ordering::Relaxed);
    let waited = wait(&mut child, &model, &ended, &mut |at| match script.faults.get(&at) {
        Some(fault) => fault.happen(world, origin),
        None => Ok(()),
    });
    end(&mut child)?;
    waited?;
    let state = model.state();
    let seen = |(at, trial): (usize, &Trial)| {
        let read = state.read.get(&at).cloned();
        let ran = match &trial.effect {
            Effect::File(file) => project.join(file).exists(),
            Effect::Mark => read.as_ref().is_some_and(|read| read.contains(MARK)),
            Effect::NoMark(file) => !std::fs::read_to_string(project.join(file)).unwrap_or_default().contains(MARK),
        };
        Seen { ran, read }
    };
    Ok(script.trials.iter().enumerate().map(seen).collect())
}

/// Waits until every call is answered, the client ends, or it takes too long.
fn wait(
    child: &mut Child,
    model: &Model,
    ended: &dyn Fn() -> bool,
    fault: &mut dyn FnMut(usize) -> io::Result<()>,
) -> io::Result<()> {
    let (started, [begin, call]) = (Instant::now(), PATIENCE);
    loop {
        let (due, all, late) = {
            let state = model.state();
            let late = state.asked.map_or_else(|| started.elapsed() > begin, |asked| asked.elapsed() > call);
            (state.due, state.read.len() == model.calls.len(), late)
        };
        if let Some(at) = due {
            fault(at)?;
            let mut state = model.state();
            state.due = None;
            state.done.insert(at);
            state.asked = Some(Instant::now());
        } else if all || late || ended() || child.try_wait()?.is_some() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Ends the client with all that it started in its group.
fn end(child: &mut Child) -> io::Result<()> {
    if let Some(group) = Pid::from_raw(i32::try_from(child.id()).unwrap_or_default()) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    child.wait().map(drop)
}

impl Model {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers with the first call that has no result yet.
    fn answer(&self, request: &Request) -> Response {
        let json = |value: Value| Response { media_type: "application/json", body: value.to_string() };
        let other = request.path.ends_with("/responses");
        if !other && !request.path.ends_with("/messages") {
            return json(json!({"input_tokens": 1000}));
        }
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let asked = if other { responses::request(&body) } else { body.clone() };
        let has_tools = asked.get("tools").and_then(Value::as_array).is_some_and(|tools| !tools.is_empty());
        let own = has_tools && messages::said_by_user(&asked).contains(PROMPT);
        let block = if own { self.next(&asked) } else { Block::Text("ok".into()) };
        if other { responses::reply(&body, &[block]) } else { messages::reply(&body, &[block]) }
    }

    fn next(&self, asked: &Value) -> Block {
        let given = asked.get("messages").cloned().unwrap_or_default();
        let at = {
            let mut state = self.state();
            state.asked = Some(Instant::now());
            for (at, (id, _, _)) in self.calls.iter().enumerate() {
                if let Some((_, read)) = messages::result(&given, id) {
                    state.read.insert(at, read);
                }
            }
            (0..self.calls.len()).find(|at| !state.read.contains_key(at))
        };
        if let Some(at) = at.filter(|at| self.faults.contains(at)) {
            while !self.state().done.contains(&at) {
                self.state().due = Some(at);
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        let call = at.and_then(|at| self.calls.get(at)).cloned();
        match call {
            Some((id, name, input)) => Block::Call { id, name, input },
            None => Block::Text("done".into()),
        }
    }
}
