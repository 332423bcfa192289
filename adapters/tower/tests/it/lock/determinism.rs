//! The same calls give the same bytes: family F9. The original's scanner reads the text of its functions; here a test
//! reads the files, and another one compares what comes out.

use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use phasegate_tower::{AccessMode, Call, CallOutcome, Guard, Request, ToolLock, ToolLockOptions};
use serde_json::{Map, Value, json};

use super::{Ended, Journal, Lock, Registry, denied, lock, written};

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// What makes two runs differ: a clock, randomness, the order of a hash map, the environment, threads, addresses.
const WORDS: [&str; 16] = [
    "SystemTime",
    "Instant",
    "std::time",
    "tokio::time",
    "rand::",
    "getrandom",
    "Uuid",
    "fresh_id",
    "HashMap",
    "HashSet",
    "RandomState",
    "env::",
    "std::process",
    "ThreadId",
    "thread::",
    "{:p}",
];

/// Where such a word is no danger, and why.
const ALLOWED: [(&str, &str, &str); 4] = [
    ("order.rs", "ThreadId", "it says whose turn it is to tell the listeners, and no event has it"),
    ("order.rs", "thread::", "the same"),
    ("unended.rs", "thread::", "it says whether a panic goes on, and no event has it"),
    ("asking.rs", "fresh_id", "the guard's journal names a call by it, and no event has it"),
];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, found),
            false => found.push(path),
        }
    }
}

/// The files of the stage, and that of the reasons.
fn sources() -> Vec<PathBuf> {
    let mut found = vec![Path::new(CRATE).join("../../core/engine/src/answers/reason.rs")];
    files(&Path::new(CRATE).join("src"), &mut found);
    found.retain(|path| path.extension().is_some_and(|end| end == "rs"));
    found
}

/// The words that a file names outside of comments.
fn named(text: &str) -> Vec<&'static str> {
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    WORDS.into_iter().filter(|word| code.contains(word)).collect()
}

#[test]
fn f9_1_nothing_of_the_stage_names_what_makes_two_runs_differ() {
    let sources = sources();
    assert!(sources.len() >= 10, "{sources:?}");
    let mut needed = Vec::new();
    for path in sources {
        let name = path.file_name().unwrap().to_str().unwrap();
        for word in named(&read_to_string(&path).unwrap()) {
            assert!(ALLOWED.iter().any(|(file, allowed, _)| (*file, *allowed) == (name, word)), "{name}: {word}");
            needed.push((name.to_owned(), word));
        }
    }
    assert_eq!(needed.len(), ALLOWED.len(), "what is allowed is there");
}

#[test]
fn f9_1_a_scanner_that_finds_nothing_would_be_none() {
    let code = "use std::collections::HashMap;\n// SystemTime is named in a comment alone.\nlet at = Instant::now();";
    assert_eq!(named(code), ["Instant", "HashMap"]);
}

/// Arguments of many keys: the order of a hash map would be another one in each run.
fn requests() -> Vec<Request> {
    let keys: Map<String, Value> = (0..40).map(|key| (format!("key {key}"), json!({"b": key, "a": [key]}))).collect();
    let call = |tool: &str| Request::new(Call::new("s", tool).with_input(Value::Object(keys.clone())));
    vec![call("forbidden"), call("look").told_of("old"), call("look").with_access(AccessMode::Readonly), call("spent")]
}

/// All that a stage says of the calls, in bytes.
async fn said(make: impl Fn(ToolLockOptions) -> Lock) -> Vec<String> {
    let journal = Journal::default();
    let (events, denials) = (Arc::clone(&journal), Arc::clone(&journal));
    let options = ToolLockOptions::default()
        .on_event(move |event| events.lock().unwrap().push(event.canonical()))
        .on_deny(move |reason| denials.lock().unwrap().push(reason.to_string()));
    let stage = make(options);
    let mut errors = Vec::new();
    for request in requests() {
        errors.push(json!(denied(&stage, request).await).to_string());
    }
    [written(&journal), errors].concat()
}

fn rejecting(options: ToolLockOptions) -> Lock {
    lock(&Registry::rejects(), options)
}

fn guarded(options: ToolLockOptions) -> Lock {
    let ended: Ended = |_| CallOutcome::Ok;
    ToolLock::new(crate::guard() as Arc<dyn Guard>, options, ended)
}

/// Each run on a thread of its own.
#[test]
fn f9_2_many_runs_of_the_same_calls_give_the_same_bytes() {
    let run = |make: fn(ToolLockOptions) -> Lock| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(said(make))
    };
    for make in [rejecting as fn(ToolLockOptions) -> Lock, guarded] {
        let first = run(make);
        assert_eq!(first.len(), 3 * requests().len());
        let again: Vec<_> = (0..31).map(|_| std::thread::spawn(move || run(make))).collect();
        for thread in again {
            assert_eq!(thread.join().unwrap(), first);
        }
    }
}
