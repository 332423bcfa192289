//! `phasegate check --tests`: transcripts that say what they expect, played with the configs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use phasegate_core::Policy;
use phasegate_runtime::locations::CONFIG_FOLDER;
use phasegate_runtime::operate::replay::{Options, Replay};
use serde_json::{Value, json};

use crate::output::Failure;

/// The folder of a project's transcripts, in its config folder.
pub(super) const FOLDER: &str = "tests";
/// The parts of an answer of which a transcript names a piece; all others are compared whole.
const TEXTS: [&str; 2] = ["reason", "recovery"];
/// The name of the rule that denied, asked or warned.
const RULE: &str = "rule";
/// Where an answer has that name.
const RULE_NAME: &str = "/admission/rule_name";
/// What only some answers have.
const OTHERS: [&str; 3] = [RULE, "admission", "branches"];

/// What became of one transcript.
pub(in crate::command) struct Played {
    /// The file, relative to the project.
    pub(in crate::command) path: String,
    /// How many lines say what they expect.
    pub(in crate::command) expectations: usize,
    /// What is not as expected: the line, from 1, and what happened.
    pub(in crate::command) mistakes: Vec<Mistake>,
    /// The rules over calls that decided one of its calls.
    pub(in crate::command) rules: BTreeSet<String>,
}

/// A line that did not come out as it says.
pub(in crate::command) struct Mistake {
    pub(in crate::command) line: usize,
    pub(in crate::command) message: String,
}

impl Played {
    pub(in crate::command) fn as_json(&self) -> Value {
        let mistake = |mistake: &Mistake| json!({"line": mistake.line, "message": mistake.message});
        json!({
            "path": self.path,
            "expectations": self.expectations,
            "mistakes": self.mistakes.iter().map(mistake).collect::<Vec<_>>(),
        })
    }
}

/// Plays every transcript of the project.
///
/// # Errors
///
/// There is none, or one cannot be read.
pub(in crate::command) fn play(root: &Path, policy: &Policy) -> Result<Vec<Played>, Failure> {
    let folder = root.join(CONFIG_FOLDER).join(FOLDER);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder).into_iter().flatten().flatten().map(|one| one.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    files.sort();
    if files.is_empty() {
        return Err(Failure::new(format!("there is no transcript in `{}`", folder.display()))
            .with_help("write one as `NAME.jsonl` there, with `expect` in the lines that say what is to happen"));
    }
    files.iter().map(|path| play_one(root, path, policy)).collect()
}

fn play_one(root: &Path, path: &Path, policy: &Policy) -> Result<Played, Failure> {
    let shown = path.strip_prefix(root).unwrap_or(path).display().to_string();
    let text = fs::read_to_string(path).map_err(|error| Failure::new(format!("`{shown}` cannot be read: {error}")))?;
    let mut replay =
        Replay::new(policy.clone(), Options::default()).map_err(|error| Failure::new(error.to_string()))?;
    let mut played = Played { path: shown, expectations: 0, mistakes: Vec::new(), rules: BTreeSet::new() };
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let mut wrong = |message: String| played.mistakes.push(Mistake { line: number, message });
        let output = match replay.line(line) {
            Ok(output) => output,
            Err(error) => {
                wrong(error.to_string());
                break;
            }
        };
        played.rules.extend(output.pointer(RULE_NAME).and_then(Value::as_str).map(str::to_owned));
        let line: Value = serde_json::from_str(line).unwrap_or_default();
        let Some(expect) = line.get("expect") else { continue };
        let Some(fields) = expect.as_object().filter(|fields| !fields.is_empty()) else {
            wrong("`expect` is not an object with what is expected".to_string());
            continue;
        };
        for (key, wanted) in fields {
            if let Some(message) = unknown(key, &output) {
                wrong(message);
            } else if let Some(got) = differs(key, wanted, &output) {
                let why = output.get("reason").and_then(Value::as_str).filter(|_| key == "decision");
                let why = why.map(|why| format!(": {why}")).unwrap_or_default();
                wrong(format!("expected {key} {wanted}, got {got}{why}"));
            }
        }
        played.expectations += 1;
    }
    if played.expectations == 0 && played.mistakes.is_empty() {
        let message = "no line says what it expects, so nothing is tested".to_string();
        played.mistakes.push(Mistake { line: 1, message });
    }
    Ok(played)
}

/// Why no answer has a field of this name.
fn unknown(key: &str, output: &Value) -> Option<String> {
    let fields = output.as_object().into_iter().flat_map(serde_json::Map::keys).map(String::as_str);
    let known: BTreeSet<&str> = fields.chain(OTHERS).collect();
    if known.contains(key) {
        return None;
    }
    let near = known.iter().map(|name| (strsim::damerau_levenshtein(key, name), *name)).min();
    let help = match near.filter(|(edits, _)| *edits <= 2) {
        Some((_, name)) => format!("did you mean `{name}`?"),
        None => format!("an answer has {}", known.into_iter().collect::<Vec<_>>().join(", ")),
    };
    Some(format!("no answer has `{key}`: {help}"))
}

/// What the answer has instead; `None` if it is as expected.
fn differs(key: &str, wanted: &Value, output: &Value) -> Option<Value> {
    let got = if key == RULE { output.pointer(RULE_NAME) } else { output.get(key) };
    let got = got.cloned().unwrap_or_default();
    let holds = match (wanted.as_str(), got.as_str()) {
        (Some(piece), Some(text)) if TEXTS.contains(&key) => text.contains(piece),
        _ => got == *wanted,
    };
    (!holds).then_some(got)
}
