//! Crashes: after every change of a story, and after every byte of it, with any of what was not synced lost.
//!
//! What was answered must be there again, as far as anything is asked about it later, or the next call is denied.

mod tasks;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use phasegate_core::answers::decision::Effect;
use phasegate_core::state::{Run, Session};
use phasegate_core::{Event, Outcome, State};
use serde_json::{Value, json};

use crate::batch::{Input, Request};
use crate::oneshot::{Oneshot, Sender};
use crate::session_cache::SessionCache;
use phasegate_adapter::FailureMode;
use phasegate_runtime::deadline::{Deadline, LIMIT};
use phasegate_runtime::driver::Driver;
use phasegate_runtime::locations::Locations;
use phasegate_runtime::operate::verify::verify;
use phasegate_runtime::project::Project;
use phasegate_runtime::runtime::Runtime;
use phasegate_store::disk::faulty::{Change, sealed_at, watched};

const SKILL: &str = "skill: work\ndescription: Look first.\nmode: block\nphases:\n  look:\n    allowed: [Read]\n    \
                     forbidden: [Edit]\n    done_when: { ok: Read }\n  ask:\n    allowed: [Grep]\n    forbidden: \
                     [Edit]\n    done_when: { approved: change }\n  change:\n    allowed: [Edit]\n";
const SESSION: &str = "s";

fn start() -> Value {
    json!({"event": "session_start", "source": "startup"})
}

fn skill() -> Value {
    json!({"event": "skill", "name": "work", "by": "human"})
}

fn approve() -> Value {
    json!({"event": "command", "by": "human", "name": "approve", "args": {"name": "change"}})
}

fn call(id: &str, tool: &str) -> Value {
    json!({"event": "tool_call", "id": id, "tool": tool, "input": {"file_path": "a"}})
}

fn result(id: &str) -> Value {
    json!({"event": "tool_result", "id": id, "outcome": "ok"})
}

/// A project with a config, beside which any number of state folders can lie.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self::with(&[("work", SKILL)])
    }

    /// A world with these skills, by name.
    fn with(skills: &[(&str, &str)]) -> Self {
        // In memory where that is possible: nothing here waits for a disk.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let place = folder.path().join("project/.phasegate/skills");
        fs::create_dir_all(&place).unwrap();
        for (name, text) in skills {
            fs::write(place.join(format!("{name}.yaml")), text).unwrap();
        }
        Self { folder }
    }

    fn runtime(&self, state: &str) -> Runtime {
        let [state, user, machine, home] = [state, "user", "machine", "home"].map(|name| self.folder.path().join(name));
        Runtime::new(Locations { state, user, machine, home }, [])
    }

    fn project(&self, runtime: &Runtime) -> Project {
        Project::at(&runtime.locations, &self.folder.path().canonicalize().unwrap().join("project"))
    }

    /// Gives the events one after the other, up to the first that is not answered. The states after those that were.
    fn tell(&self, state: &str, story: &[Value], by: &mut By) -> Vec<State> {
        let runtime = self.runtime(state);
        let mut states = vec![State::default()];
        let slots = match by {
            By::Itself => {
                for event in story {
                    let Ok(mut open) = open(&runtime, &self.project(&runtime)) else { break };
                    match decide(&mut open, event) {
                        Ok(_) => states.push(open.state.clone()),
                        Err(_) => break,
                    }
                }
                return states;
            }
            By::Stays(guard, batch) => {
                let guard = guard.get_or_insert_with(|| {
                    Box::new(SessionCache::new(Arc::new(runtime.clone()), self.project(&runtime)))
                });
                let mut slots = Vec::new();
                for event in story {
                    slots.push(submit(guard, event));
                    if !*batch {
                        guard.finish(None);
                    }
                }
                guard.finish(None);
                slots
            }
        };
        let answers = slots.into_iter().map_while(|slot| slot.try_take().and_then(Result::ok));
        for outcome in answers {
            states.push(outcome.state_after(&states[states.len() - 1]));
        }
        states
    }
}

/// Who decides the events of a story.
enum By {
    /// A transaction of its own decides each.
    Itself,
    /// A guard that stays; `true`: all events that are given at once are one batch.
    Stays(Option<Box<SessionCache>>, bool),
}

fn submit(guard: &mut SessionCache, event: &Value) -> Oneshot {
    let (slot, deadline) = (Oneshot::default(), Deadline::new(LIMIT));
    let (session, answer) = (SESSION.to_string(), Sender(slot.clone()));
    let input = Input::Event(Box::new(timed(event)));
    guard.take(Request { session, input, deadline, answer }, true).unwrap();
    slot
}

fn open<'a>(runtime: &'a Runtime, project: &Project) -> Result<Driver<'a>, FailureMode> {
    let opened = Driver::open(runtime, runtime.store.as_ref(), project.clone(), SESSION, &Deadline::new(LIMIT));
    opened.map_err(|refusal| refusal.failure_mode)?.ok_or(FailureMode::Open)
}

fn decide(driver: &mut Driver<'_>, event: &Value) -> Result<Outcome, FailureMode> {
    driver.decide(timed(event)).map_err(|_| FailureMode::Closed)
}

fn timed(event: &Value) -> Event {
    let mut event = Event::from_value(event.clone()).unwrap();
    // The same length in every run, at any time of day.
    event.time = Some(1_700_000_000_000 + i64::try_from(event.name().len()).unwrap());
    event
}

/// What is left of the files of a story.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Image {
    files: BTreeMap<PathBuf, (Vec<u8>, Option<u32>)>,
    folders: BTreeSet<PathBuf>,
}

impl Image {
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Made(path) => {
                self.files.insert(path.clone(), (Vec::new(), None));
            }
            Change::Written { path, at, bytes } => {
                // Without its name, a file is lost.
                if let Some((content, seal)) = self.files.get_mut(path) {
                    let end = usize::try_from(*at).unwrap() + bytes.len();
                    content.resize(content.len().max(end), 0);
                    content[end - bytes.len()..end].copy_from_slice(bytes);
                    *seal = None;
                }
            }
            Change::Cut(path, length) => {
                if let Some((content, seal)) = self.files.get_mut(path) {
                    content.resize(usize::try_from(*length).unwrap(), 0);
                    *seal = None;
                }
            }
            Change::Stamped(path, time) => {
                if let Some((_, seal)) = self.files.get_mut(path) {
                    *seal = Some(time.duration_since(SystemTime::UNIX_EPOCH).unwrap().subsec_nanos());
                }
            }
            Change::Replaced(path, bytes) => {
                self.files.insert(path.clone(), (bytes.clone(), None));
            }
            Change::Removed(path) => {
                self.files.remove(path);
            }
            Change::Folder(path) => {
                self.folders.insert(path.clone());
            }
            Change::Synced(_) | Change::NamesSynced(_) => {}
        }
    }

    fn write(&self, from: &Path, to: &Path) {
        use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
        let place = |path: &Path| to.join(path.strip_prefix(from).unwrap());
        for folder in &self.folders {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(place(folder)).unwrap();
        }
        for (path, (content, seal)) in &self.files {
            let mut options = fs::OpenOptions::new();
            let mut file = options.write(true).create_new(true).mode(0o600).open(place(path)).unwrap();
            std::io::Write::write_all(&mut file, content).unwrap();
            if let Some(nanoseconds) = seal {
                let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
                file.set_modified(SystemTime::UNIX_EPOCH + Duration::new(now, *nanoseconds)).unwrap();
            }
        }
    }
}

/// The places of the changes that a loss of power can undo.
fn unsynced(changes: &[Change]) -> Vec<usize> {
    let lost = |(at, change): (usize, &Change)| {
        let later = &changes[at + 1..];
        let undone = match change {
            Change::Made(path) => !later.contains(&Change::NamesSynced(path.parent().unwrap().to_path_buf())),
            Change::Written { path, .. } | Change::Cut(path, _) | Change::Stamped(path, _) => {
                !later.contains(&Change::Synced(path.clone()))
            }
            _ => false,
        };
        undone.then_some(at)
    };
    changes.iter().enumerate().filter_map(lost).collect()
}

/// Every state that a crash can leave after this many changes, of which the last came only so far.
fn images(changes: &[Change], lose: impl Fn(u32, usize) -> bool) -> BTreeMap<Image, bool> {
    let unsynced = unsynced(changes);
    assert!(unsynced.len() < 12, "{} changes are not synced", unsynced.len());
    let mut images = BTreeMap::new();
    for choice in 0..1_u32 << unsynced.len() {
        if !lose(choice, unsynced.len()) {
            continue;
        }
        let dropped =
            |at: usize| unsynced.iter().position(|lost| *lost == at).is_some_and(|bit| choice >> bit & 1 == 1);
        let mut image = Image::default();
        changes.iter().enumerate().filter(|(at, _)| !dropped(*at)).for_each(|(_, change)| image.apply(change));
        let nothing_lost = choice == 0;
        *images.entry(image).or_default() |= nothing_lost;
    }
    images
}

struct Told {
    world: World,
    /// The states after each event, the beginning first.
    states: Vec<State>,
    /// All changes, and how many there were when each event was answered.
    changes: Vec<Change>,
    answered: Vec<usize>,
    /// How many events are answered together.
    together: usize,
    tried: usize,
}

fn tell(story: &[Value], mut by: By) -> Told {
    let world = World::new();
    let (mut changes, mut answered, mut states) = (Vec::new(), vec![0], vec![State::default()]);
    let together = if matches!(by, By::Stays(_, true)) { story.len() } else { 1 };
    for events in story.chunks(together) {
        let (told, made) = watched(None, || world.tell("state", events, &mut by));
        assert_eq!(told.len(), together + 1, "{events:?} are answered");
        states.extend(told.into_iter().skip(1));
        changes.extend(made);
        answered.resize(states.len(), changes.len());
    }
    Told { world, states, changes, answered, together, tried: 0 }
}

impl Told {
    /// Puts the image on the disk and looks what the next call meets.
    fn check(&mut self, image: &Image, whole: bool, done: usize, what: &str) {
        self.tried += 1;
        let name = format!("crash-{}", self.tried);
        let (from, to) = (self.world.folder.path().join("state"), self.world.folder.path().join(&name));
        image.write(&from, &to);
        let answered = self.answered.iter().rposition(|at| *at <= done).unwrap();
        check_after(&self.world, &name, &self.states, answered, self.together, what);
        if whole {
            let runtime = self.world.runtime(&name);
            let report = verify(&runtime.locations, &self.world.project(&runtime), &mut |_, _| {});
            assert!(report.fits(), "{what}: {:#?}", report.findings);
        }
        let _ = fs::remove_dir_all(to);
    }
}

/// What of a session later decisions depend on: its runs but for the tools called in them and what did not count, and what
/// the host is owed.
fn lasting(session: &Session) -> (Vec<Run>, Vec<String>) {
    let runs = session.runs.iter().map(|run| Run { history: Default::default(), uncounted: Vec::new(), ..run.clone() });
    (runs.collect(), session.obligations.iter().map(|obligation| obligation.id.clone()).collect())
}

/// After a crash: what was answered is there, or the next call is denied.
fn check_after(world: &World, name: &str, states: &[State], answered: usize, together: usize, what: &str) {
    let runtime = world.runtime(name);
    let project = world.project(&runtime);
    let mut driver = match open(&runtime, &project) {
        Ok(driver) => driver,
        Err(failure_mode) => {
            let denied = failure_mode == FailureMode::Closed;
            assert!(denied || answered == 0, "{what}: the next call passes unseen ({failure_mode:?})");
            return;
        }
    };
    let found = driver.state.clone();
    let may_be: Vec<_> = states[answered..].iter().take(together + 1).collect();
    let session = may_be.iter().any(|state| lasting(&state.session) == lasting(&found.session));
    let project = may_be.iter().any(|state| state.project == found.project);
    let next = decide(&mut driver, &call("next", "Edit"));
    let passes = next.is_ok_and(|step| step.decision.is_some_and(|decision| decision.effect != Effect::Deny));
    assert!((session && project) || !passes, "{what}: the next call passes and something is lost: {found:#?}");
    if session && project && answered + 1 == states.len() {
        let before = State { session: states[answered].session.clone(), project: found.project.clone() };
        let policy_allows = before.session.runs.iter().any(|run| run.phase == "change");
        assert_eq!(passes, policy_allows, "{what}");
    }
}

/// At every how many bytes a crash is tried: at each where `PHASEGATE_EVERY_BYTE` is set, as `cargo xtask ci` does when what
/// writes has changed.
fn stride() -> usize {
    if std::env::var_os("PHASEGATE_EVERY_BYTE").is_some() { 1 } else { 16 }
}

fn crash_everywhere(story: &[Value], by: By) -> Vec<Change> {
    // What a guard that stays writes are the same bytes in other pieces.
    let step = if matches!(by, By::Itself) { stride() } else { 4 * stride() };
    let mut told = tell(story, by);
    let changes = told.changes.clone();
    for done in 1..=changes.len() {
        for (image, whole) in images(&changes[..done], |_, _| true) {
            told.check(&image, whole, done, &format!("after {done} changes, {:?}", changes.get(done)));
        }
        let Some(Change::Written { path, at, bytes }) = changes.get(done) else { continue };
        for k in (1..bytes.len()).step_by(step) {
            let mut torn = changes[..done].to_vec();
            torn.push(Change::Written { path: path.clone(), at: *at, bytes: bytes[..k].to_vec() });
            // All of what was not synced is there; for some bytes also: only what was cut short is.
            let lose = |choice: u32, bits: usize| {
                choice == 0 || (k % (2 * step).max(16) == 1 && choice == (1 << (bits - 1)) - 1)
            };
            for (image, whole) in images(&torn, lose) {
                // What is torn is cut off: the rest is the same for every byte.
                told.check(
                    &image,
                    whole && k % (4 * step).max(32) == 1,
                    done,
                    &format!("after {done} changes and {k} bytes of `{}`", path.display()),
                );
            }
        }
    }
    assert!(told.tried * step > 1000, "only {} crashes were tried", told.tried);
    changes
}

#[test]
fn after_any_crash_a_run_that_began_and_an_approval_are_there_or_the_next_call_is_denied() {
    crash_everywhere(&[start(), skill(), approve()], By::Itself);
}

#[test]
fn after_any_crash_evidence_is_there_or_the_next_call_is_denied() {
    crash_everywhere(&[start(), skill(), call("1", "Read"), result("1")], By::Itself);
}

#[test]
fn after_any_crash_of_a_guard_that_stays_what_it_answered_is_there_or_the_next_call_is_denied() {
    let stories = [vec![start(), skill(), approve()], vec![start(), skill(), call("1", "Read"), result("1")]];
    for story in stories {
        crash_everywhere(&story, By::Stays(None, false));
        crash_everywhere(&story, By::Stays(None, true));
    }
}

#[test]
fn after_any_crash_while_journals_are_sealed_in_parts_nothing_is_lost_either() {
    let story = [start(), skill(), call("1", "Read"), result("1")];
    sealed_at(1500, || {
        for by in [By::Itself, By::Stays(None, false)] {
            let changes = crash_everywhere(&story, by);
            let is_part = |path: &Path| path.extension().is_some_and(|end| end == "1");
            assert!(changes.iter().any(|change| matches!(change, Change::Replaced(path, _) if is_part(path))));
        }
    });
}

/// The bytes after which the disk is full: each of a journal's, and some of a small file's.
fn places(changes: &[Change]) -> Vec<u64> {
    let (mut places, mut so_far) = (Vec::new(), 0);
    for change in changes {
        let (length, step) = match change {
            Change::Written { bytes, .. } => (bytes.len(), 1),
            Change::Replaced(_, bytes) => (bytes.len(), 101),
            _ => continue,
        };
        places.extend((0..length as u64).step_by(step).map(|k| so_far + k));
        so_far += length as u64;
    }
    places
}

fn fill_everywhere(by: impl Fn() -> By, step: usize) {
    let story = [start(), skill(), call("1", "Read")];
    let told = tell(&story, by());
    for room in places(&told.changes).into_iter().step_by(step) {
        let name = format!("full-{room}");
        let (states, _) = watched(Some(room), || told.world.tell(&name, &story, &mut by()));
        assert!(states.len() <= story.len(), "an event that could not be written was answered");
        check_after(
            &told.world,
            &name,
            told.states.as_slice(),
            states.len() - 1,
            told.together,
            &format!("full after {room} bytes"),
        );
        fs::remove_dir_all(told.world.folder.path().join(&name)).unwrap();
    }
}

#[test]
fn a_disk_that_is_full_after_any_byte_loses_nothing_that_was_answered() {
    fill_everywhere(|| By::Itself, stride());
}

#[test]
fn nor_does_it_in_a_guard_that_stays() {
    fill_everywhere(|| By::Stays(None, false), 7);
    fill_everywhere(|| By::Stays(None, true), 7);
}
