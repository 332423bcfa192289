//! `phasegate status` after what happened in a project, as data: one file each in `tests/status/`.
//!
//! `PHASEGATE_BLESS=1` writes what the program prints into the files.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::{Reply, World, reply};

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Case {
    about: String,
    /// Files of the project, by path.
    files: std::collections::BTreeMap<String, Vec<String>>,
    /// What happens, in order.
    steps: Vec<Step>,
    /// The command's arguments.
    args: Vec<String>,
    /// Its exit status.
    #[serde(default, skip_serializing_if = "is_zero")]
    exit: i32,
    /// The lines that it prints.
    prints: Vec<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(exit: &i32) -> bool {
    *exit == 0
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Step {
    /// A session starts.
    Start(String),
    /// A session ends.
    End(String),
    /// A call is decided, and succeeds if it is let through.
    Call { session: String, tool: String, input: Value },
    /// The client sends another message.
    Frame { session: String, event: String, fields: Value },
    /// A person runs the program.
    Run(Vec<String>),
    /// A file appears or changes.
    Write { path: String, text: String },
    /// A file or folder goes.
    Remove(String),
    /// A byte in the journal of the only session changes.
    Damage,
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/status");
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

#[test]
fn golden_it_prints_what_each_case_says() {
    let bless = std::env::var_os("PHASEGATE_BLESS").is_some();
    for path in cases() {
        let mut case: Case = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let printed = play(&case);
        if bless {
            case.prints = printed;
            fs::write(&path, serde_json::to_string_pretty(&case).unwrap() + "\n").unwrap();
        } else {
            assert_eq!(printed, case.prints, "{}: {}", path.display(), case.about);
        }
    }
}

fn play(case: &Case) -> Vec<String> {
    let world = World::unguarded();
    for (path, lines) in &case.files {
        world.write(path, &(lines.join("\n") + "\n"));
    }
    for (number, step) in case.steps.iter().enumerate() {
        let id = format!("t{number}");
        match step {
            Step::Start(session) => drop(world.start(session)),
            Step::End(session) => drop(world.frame(session, "SessionEnd", json!({"reason": "other"}))),
            Step::Call { session, tool, input } => {
                let answer = world.call(session, &id, tool, input.clone());
                if !matches!(reply(&answer), Reply::Denied(_)) {
                    world.ok(session, &id, tool, input.clone());
                }
            }
            Step::Frame { session, event, fields } => drop(world.frame(session, event, fields.clone())),
            Step::Run(args) => drop(world.run(&args.iter().map(String::as_str).collect::<Vec<_>>(), 0)),
            Step::Write { path, text } => world.write(path, text),
            Step::Remove(path) => fs::remove_dir_all(world.root().join(path)).unwrap(),
            Step::Damage => damage(&world),
        }
    }
    let args: Vec<&str> = case.args.iter().map(String::as_str).collect();
    let text = world.run(&args, case.exit);
    let policy = text.split("policy ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap_or("no policy");
    let journals = world.state().canonicalize().map(|state| state.display().to_string());
    let lines = text.lines().map(|line| {
        let line = line.replace(policy, "POLICY").replace(&world.root().display().to_string(), "ROOT");
        match (&journals, line.find("/sessions/")) {
            (Ok(state), Some(end)) => {
                let start = line.find(state.as_str()).unwrap_or(end);
                format!("{}SESSIONS{}", &line[..start], &line[end + "/sessions".len()..])
            }
            _ => line,
        }
    });
    lines.collect()
}

fn damage(world: &World) {
    let folder = world.state_file("project.journal").with_file_name("sessions");
    let mut files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let journal = files.find(|path| path.extension().is_some_and(|end| end == "journal")).unwrap();
    let mut bytes = fs::read(&journal).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(journal, bytes).unwrap();
}
