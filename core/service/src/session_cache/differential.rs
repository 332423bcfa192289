//! The same events through a cache guard, through a transaction of its own for each, and through both in turn: the
//! same answers, and the same journals to the byte.

mod frames;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, SystemTime};

use phasegate_adapter::{Adapter, Problem, Refusal};
use phasegate_core::{Event, Outcome};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use crate::batch::{Input, Request};
use crate::oneshot::{Oneshot, Sender};
use crate::session_cache::SessionCache;
use phasegate_runtime::deadline::{Deadline, LIMIT, broken};
use phasegate_runtime::locations::Locations;
use phasegate_runtime::project::Project;
use phasegate_runtime::runtime::Runtime;
use phasegate_store::disk::faulty::at;

const SKILL: &str = "skill: work\ndescription: Look first.\nmode: block\nphases:\n  look:\n    allowed: [Read, look_up]\n    \
                     forbidden: [Edit]\n    done_when: { ok: Read }\n  ask:\n    optional: true\n    allowed: [Grep]\n    \
                     done_when: { approved: change }\n  change:\n    allowed: [Edit]\n    done_when: { ok: Edit }\n    \
                     back: [{ to: look, limit: 2 }]\n";
const SHARED: &str = "skill: plan\ndescription: Plan first.\nmode: block\nscope: project\nphases:\n  plan:\n    allowed: \
                      [Read]\n    done_when: { ok: Read }\n  build:\n    allowed: [Edit, Read]\n";
const MILD: &str = "skill: mild\ndescription: Only reported.\nmode: warn\nphases:\n  one:\n    allowed: [Read]\n    forbidden: \
                    [Grep]\n  two:\n    allowed: [Edit]\n";

/// What is done between the answers of two batches, or makes one.
#[derive(Clone, Debug)]
enum Act {
    /// An event of this session, with its JSON.
    Event(usize, Value),
    /// Another program changes the files of the guard.
    Harm(Harm),
}

#[derive(Clone, Copy, Debug)]
enum Harm {
    /// Bytes are taken from the end of a session's journal.
    Cut(usize, u64),
    /// A session's journal is removed.
    Remove(usize),
    /// A byte in the middle of a session's journal is changed, and its length is as before.
    Change(usize),
    /// The project's journal is removed.
    RemoveProject,
    /// What is remembered of the project is removed.
    Forget,
    /// The stored policies are removed.
    Policies,
    /// The config has another phase from now on.
    Config,
    /// What says where a session began is removed.
    Root(usize),
}

fn id(session: usize) -> String {
    format!("s{session}")
}

struct World {
    top: PathBuf,
    runtime: Arc<Runtime>,
    project: Project,
}

impl World {
    fn new(top: &Path) -> Self {
        Self::of(top, &[])
    }

    fn of(top: &Path, adapters: &[&'static dyn Adapter]) -> Self {
        let skills = top.join("project/.phasegate/skills");
        let _ = fs::remove_dir_all(top.join("state"));
        fs::create_dir_all(&skills).unwrap();
        for (name, text) in [("work", SKILL), ("plan", SHARED), ("mild", MILD)] {
            fs::write(skills.join(format!("{name}.yaml")), text).unwrap();
        }
        let [state, user, machine, home] = ["state", "user", "machine", "home"].map(|name| top.join(name));
        let mut runtime = Runtime::new(Locations { state, user, machine, home }, adapters.iter().copied());
        runtime.now = begun;
        let project = Project::find(&runtime.locations, &top.join("project"));
        Self { top: top.to_path_buf(), runtime: Arc::new(runtime), project }
    }

    fn alone(&self, session: &str, event: Event) -> Result<Outcome, Problem> {
        self.runtime.handle_event(self.project.clone(), session, event).map(Option::unwrap)
    }

    fn harm(&self, harm: Harm) {
        let journal = |session| self.project.session_journal(&id(session));
        match harm {
            Harm::Cut(session, bytes) => {
                if let Ok(file) = fs::OpenOptions::new().write(true).open(journal(session)) {
                    file.set_len(file.metadata().unwrap().len().saturating_sub(bytes)).unwrap();
                }
            }
            Harm::Remove(session) => drop(fs::remove_file(journal(session))),
            Harm::Change(session) => {
                if let Ok(mut bytes) = fs::read(journal(session)) {
                    let middle = bytes.len() / 2;
                    bytes.get_mut(middle).into_iter().for_each(|byte| *byte ^= 1);
                    fs::write(journal(session), bytes).unwrap();
                }
            }
            Harm::RemoveProject => drop(fs::remove_file(self.project.journal())),
            Harm::Forget => drop(fs::remove_file(self.project.memory())),
            Harm::Policies => drop(fs::remove_dir_all(self.top.join("state/compiled"))),
            Harm::Config => {
                let text = format!("{SKILL}  after:\n    allowed: [Write]\n");
                fs::write(self.top.join("project/.phasegate/skills/work.yaml"), text).unwrap();
            }
            Harm::Root(session) => {
                let name = phasegate_runtime::project::session_key(&id(session));
                drop(fs::remove_file(phasegate_runtime::project::session_root_file(&self.runtime.locations, &name)));
            }
        }
    }

    /// Every file of the state but the compiled policies, and what is watched, which has the times of the machine.
    fn files(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.top.join("state")];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
                if path.is_dir() && !["compiled", "effects"].iter().any(|name| path.ends_with(name)) {
                    folders.push(path);
                } else if path.is_file() {
                    let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                    found.insert(path, text.lines().map(without_stamps).collect::<Vec<_>>().join("\n"));
                }
            }
        }
        found
    }
}

type Answers = Vec<Result<Outcome, Problem>>;

/// Gives every event to a transaction of its own.
fn one_by_one(world: &World, acts: &[Act]) -> Answers {
    let mut answers = Vec::new();
    for (at, act) in acts.iter().enumerate() {
        match act {
            Act::Event(session, event) => answers.push(world.alone(&id(*session), timed(event, at))),
            Act::Harm(harm) => world.harm(*harm),
        }
    }
    answers
}

/// When all worlds begin: sessions that were active last week would be at an end.
fn begun() -> i64 {
    static BEGUN: OnceLock<i64> = OnceLock::new();
    *BEGUN.get_or_init(|| {
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap()
    })
}

fn timed(event: &Value, at: usize) -> Event {
    let mut event = Event::from_value(event.clone()).unwrap();
    event.time = Some(begun() + i64::try_from(at).unwrap());
    event
}

/// Gives the events to a cache guard, in batches that end where `ends` says, but for those that another process decides.
fn cache(world: &World, acts: &[Act], ways: &[(bool, bool)]) -> Answers {
    let mut guard = SessionCache::new(Arc::clone(&world.runtime), world.project.clone());
    let mut slots: Vec<Oneshot> = Vec::new();
    for (at, act) in acts.iter().enumerate() {
        let (other, ends) = ways[at % ways.len()];
        match act {
            Act::Event(session, event) if other => {
                guard.finish(None);
                let slot = Oneshot::default();
                let outcome = world.alone(&id(*session), timed(event, at));
                slot.send(outcome.map(|outcome| Some(vec![outcome])).map_err(Refusal::closed));
                slots.push(slot);
            }
            Act::Event(session, event) => {
                let slot = Oneshot::default();
                let answer = Sender(slot.clone());
                let (event, deadline) = (timed(event, at), Deadline::new(LIMIT));
                let input = Input::Event(Box::new(event));
                guard.take(Request { session: id(*session), input, deadline, answer }, true).unwrap();
                slots.push(slot);
                if ends {
                    guard.finish(None);
                }
            }
            Act::Harm(harm) => {
                guard.finish(None);
                world.harm(*harm);
            }
        }
    }
    guard.finish(None);
    slots.into_iter().map(|slot| slot.try_take().unwrap()).collect()
}

fn event() -> impl Strategy<Value = Value> {
    let tool = prop_oneof![
        3 => Just("Read"), 3 => Just("Edit"), 1 => Just("Grep"), 1 => Just("Bash"), 1 => Just("look_up")
    ];
    let call = (0..6_u8, tool).prop_map(|(call, tool)| {
        let input = if tool == "Bash" { json!({"command": "ls -l"}) } else { json!({"file_path": "a", "n": call}) };
        json!({"event": "tool_call", "id": call.to_string(), "tool": tool, "input": input})
    });
    let outcome = prop_oneof![4 => Just("ok"), 1 => Just("failed"), 1 => Just("unknown")];
    let result = (0..6_u8, outcome).prop_map(|(call, outcome)| {
        let result = json!({"event": "tool_result", "id": call.to_string(), "outcome": outcome});
        if outcome == "ok" { merged(result, json!({"exit_code": 0})) } else { result }
    });
    let source = prop_oneof![Just("startup"), Just("resume"), Just("clear"), Just("compact"), Just("fork")];
    let start = source.prop_map(|source| json!({"event": "session_start", "source": source}));
    let skill = prop_oneof![Just("work"), Just("plan"), Just("mild")];
    let skill = skill.prop_map(|skill| json!({"event": "skill", "name": skill, "by": "human"}));
    let command = prop_oneof![
        Just(json!({"event": "command", "by": "human", "name": "approve", "args": {"name": "change"}})),
        Just(json!({"event": "command", "by": "agent", "name": "approve", "args": {"name": "change"}})),
        Just(json!({"event": "command", "by": "human", "name": "deactivate_skill", "args": {"skill_name": "work"}})),
        Just(json!({"event": "command", "by": "agent", "name": "get_skill_phase", "args": {}})),
        Just(json!({"event": "command", "by": "human", "name": "reload", "args": {}})),
        Just(json!({"event": "batch_end"})),
        Just(json!({"event": "session_end"})),
        Just(json!({"event": "prompt", "text": "go on"})),
        Just(json!({"event": "prompt", "text": "/phasegate approve change", "interactive": true})),
    ];
    prop_oneof![8 => call, 6 => result, 1 => start, 2 => skill, 2 => command]
}

fn merged(mut one: Value, other: Value) -> Value {
    one.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
    one
}

fn harm() -> impl Strategy<Value = Harm> {
    let session = 0..3_usize;
    prop_oneof![
        (session.clone(), 1..400_u64).prop_map(|(session, bytes)| Harm::Cut(session, bytes)),
        session.clone().prop_map(Harm::Remove),
        session.clone().prop_map(Harm::Change),
        session.prop_map(Harm::Root),
        Just(Harm::RemoveProject),
        Just(Harm::Forget),
        Just(Harm::Policies),
        Just(Harm::Config),
    ]
}

fn acts(with_harm: bool) -> impl Strategy<Value = Vec<Act>> {
    let events = (0..3_usize, event()).prop_map(|(session, event)| Act::Event(session, event));
    let act =
        if with_harm { prop_oneof![12 => events, 1 => harm().prop_map(Act::Harm)].boxed() } else { events.boxed() };
    let begun = |session| Act::Event(session, json!({"event": "session_start", "source": "startup"}));
    let skill = |session| Act::Event(session, json!({"event": "skill", "name": "work", "by": "human"}));
    prop::collection::vec(act, 1..60).prop_map(move |acts| {
        let mut all = vec![begun(0), skill(0), begun(1), skill(1)];
        all.extend(acts);
        all
    })
}

/// In memory where that is possible: nothing here waits for a disk.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

/// Which of two sessions was active last hangs on the second: it is the same for all.
fn soon() -> SystemTime {
    SystemTime::now() + Duration::from_secs(1)
}

fn compare(acts: &[Act], ways: &[(bool, bool)]) {
    let folder = folder();
    let top = folder.path().canonicalize().unwrap();
    let world = World::new(&top);
    let (wanted, files) = at(soon(), || (one_by_one(&world, acts), world.files()));
    let world = World::new(&top);
    let found = at(soon(), || cache(&world, acts, ways));
    for (at, (wanted, found)) in wanted.iter().zip(&found).enumerate() {
        assert_eq!(found, wanted, "answer {at}");
    }
    same_files(&world, &files);
}

/// A record without what the times of the files that are watched are part of: their stamps, and the hashes of records.
fn without_stamps(line: &str) -> String {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                ["head", "back", "prev", "watch"].iter().for_each(|name| drop(fields.remove(*name)));
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => {
                items.retain(|item| item.get("watch").is_none());
                items.iter_mut().for_each(strip);
            }
            _ => {}
        }
    }
    let record = line.split_once(' ').and_then(|(_, record)| serde_json::from_str(record).ok());
    let Some(mut record) = record else {
        // One that was damaged is compared as it is, but for the same.
        let text = line.split_once(' ').map_or(line, |(_, text)| text);
        let Some((before, rest)) = text.split_once("{\"watch\":") else { return line.to_owned() };
        return before.to_owned() + rest.split_once("}}").map_or("", |(_, after)| after);
    };
    strip(&mut record);
    record.to_string()
}

/// What the world's state holds now is what it held when all was done one by one.
fn same_files(world: &World, files: &BTreeMap<PathBuf, String>) {
    let now = world.files();
    assert_eq!(now.keys().collect::<Vec<_>>(), files.keys().collect::<Vec<_>>());
    for (path, text) in files {
        let (wanted, found): (Vec<_>, Vec<_>) = (text.lines().collect(), now[path].lines().collect());
        for (at, (wanted, found)) in wanted.iter().zip(&found).enumerate() {
            assert_eq!(found, wanted, "record {} of {}", at + 1, path.display());
        }
        assert_eq!(found.len(), wanted.len(), "{}", path.display());
    }
}

// The same stories each time; others with `PROPTEST_RNG_SEED`, and more of them with `PROPTEST_CASES`.
proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 400, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn a_resident_guard_decides_and_records_as_a_process_for_each_event(
        acts in acts(false), ways in prop::collection::vec((prop::bool::weighted(0.25), any::<bool>()), 1..20),
    ) {
        compare(&acts, &ways);
    }

    #[test]
    fn what_is_done_to_the_state_of_a_running_guard_is_noticed_as_a_new_process_would(
        acts in acts(true), ways in prop::collection::vec((prop::bool::weighted(0.25), any::<bool>()), 1..20),
    ) {
        compare(&acts, &ways);
    }
}
