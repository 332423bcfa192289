//! What is tried: calls that the policy denies and calls that it allows, phase by phase, found by the engine itself.

use std::collections::BTreeSet;
use std::path::Path;

use phasegate_adapters::drive::Deed;
use phasegate_core::Policy;
use phasegate_core::values::glob::choices;
use phasegate_runtime::operate::replay::{LineError, Options, Replay};
use serde_json::{Value, json};

/// A call to try.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    /// The part of the policy that it is about.
    pub(super) about: String,
    /// What the call does.
    pub(super) deed: Deed,
    /// What shows that it ran.
    pub(super) effect: Effect,
    /// Whether it must run.
    pub(super) runs: bool,
}

/// What shows that a call ran.
#[derive(Clone, Debug)]
pub(super) enum Effect {
    /// A file of the project that was not there before.
    File(String),
    /// The mark in the file that it reads.
    Mark,
    /// The mark is no more in this file.
    NoMark(String),
}

/// The file that is read, which lies in the copy alone, and the mark in it.
pub(super) const MARKED: &str = "phasegate-drill.txt";
/// A file that rules take for one with secrets; it holds the mark alone.
pub(super) const SECRET: &str = ".env.phasegate-drill";
/// A file of the guard's that is edited; it holds the mark alone.
pub(super) const OWN: &str = ".phasegate/phasegate-drill.txt";
/// What nothing else holds.
pub(super) const MARK: &str = "phasegate-drill-mark-7c1f";
/// What holds without a skill.
pub(super) const RULES: &str = "the rules over calls";
/// The most phases of a skill that are tried.
const MAX_PHASES: usize = 4;
/// The most paths that the patterns of a skill give.
const MAX_PATHS: usize = 24;
/// What is written: a line of code in most languages.
const TEXT: &str = "value = 1\n";

impl Trial {
    /// The call, to be read in a table.
    pub(super) fn words(&self) -> String {
        match &self.deed {
            Deed::Write(path, _) => format!("write {path}"),
            Deed::Shell(line) => format!("`{line}`"),
            Deed::Read(path) => format!("read {path}"),
            Deed::Edit { path, .. } => format!("edit {path}"),
        }
    }

    /// A call of which nothing is asked by a skill.
    pub(super) fn plain(about: &str, deed: Deed, file: &str, runs: bool) -> Self {
        Self { about: about.to_owned(), deed, effect: Effect::File(file.to_owned()), runs }
    }
}

/// A line of the shell that leaves a file, and the file.
pub(super) fn touch(name: &str) -> (Deed, String) {
    (Deed::Shell(format!("touch {name}")), name.to_owned())
}

/// A call that writes a file.
pub(super) fn write(path: &str) -> (Deed, String) {
    (Deed::Write(path.to_owned(), TEXT.to_owned()), path.to_owned())
}

/// A skill on its way through its phases.
struct Walk {
    replay: Replay,
    patterns: Vec<String>,
    phases: Vec<String>,
    number: usize,
    trials: Vec<Trial>,
}

/// What is tried of a skill that is in force, or of what holds without one: in each phase a denial of each kind of call, a call that passes, and then the
/// way to the next phase, as far as plain calls lead.
///
/// # Errors
///
/// The skill cannot begin so.
pub(super) fn trials(policy: &Policy, skill: Option<&str>, copy: &Path) -> Result<Vec<Trial>, LineError> {
    let options = Options {
        root: Some(copy.display().to_string()),
        live_files: Some(copy.to_path_buf()),
        skill: skill.map(str::to_owned),
        ..Options::default()
    };
    let phases = skill.and_then(|skill| policy.skill(skill)).map(|skill| json!(skill)).unwrap_or_default();
    let mut walk = Walk {
        replay: Replay::new(policy.clone(), options)?,
        patterns: patterns(&phases),
        phases: Vec::new(),
        number: 0,
        trials: Vec::new(),
    };
    while walk.phases.len() < MAX_PHASES && walk.phase(skill.unwrap_or(RULES))? {}
    Ok(walk.trials)
}

/// What a call would be answered.
struct Answer {
    denied: bool,
    allowed: bool,
    /// The skill that decided, or none.
    skill: String,
    /// The phase before the call, and the one after it.
    phase: String,
    after: String,
}

impl Answer {
    fn about(&self, skill: &str) -> String {
        let skill = if self.skill.is_empty() { skill } else { &self.skill };
        if self.phase.is_empty() { skill.to_owned() } else { format!("{skill}, {}", self.phase) }
    }
}

impl Walk {
    /// Tries a phase, and goes on to one that was not tried; whether there is one.
    fn phase(&mut self, skill: &str) -> Result<bool, LineError> {
        let (mut denied, mut passed) = (BTreeSet::new(), false);
        for (deed, effect) in self.candidates() {
            let answer = self.asked(&deed, &mut self.replay.clone())?;
            let trial = |runs| Trial { about: answer.about(skill), deed: deed.clone(), effect, runs };
            if answer.denied && denied.insert(kind(&deed)) {
                self.trials.push(trial(false));
            } else if answer.allowed && answer.after == answer.phase && !passed {
                self.trials.push(trial(true));
                passed = true;
                self.made(&deed)?;
            }
        }
        // What was seen may have completed the phase.
        for (deed, effect) in self.candidates() {
            let answer = self.asked(&deed, &mut self.replay.clone())?;
            if answer.allowed && answer.after != answer.phase && !self.phases.contains(&answer.after) {
                self.made(&deed)?;
                self.trials.push(Trial { about: answer.about(skill), deed, effect, runs: true });
                self.phases.push(answer.after);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A call is made.
    fn made(&mut self, deed: &Deed) -> Result<(), LineError> {
        let mut replay = self.replay.clone();
        self.asked(deed, &mut replay)?;
        self.replay = replay;
        Ok(())
    }

    /// The calls that may be tried here, each with a name of its own.
    fn candidates(&mut self) -> Vec<(Deed, Effect)> {
        self.number += 1;
        let name = format!("phasegate_drill_{}", self.number);
        let general = [format!("{name}.txt"), format!("src/{name}.py"), format!("tests/test_{name}.py")];
        let own = self.patterns.iter().map(|pattern| filled(pattern, &name));
        let files = general.into_iter().chain(own);
        let writes = files.map(|path| write(&path)).map(|(deed, file)| (deed, Effect::File(file)));
        // A line of the shell makes no folder.
        let lines = [format!("{name}_s.txt"), format!("{name}_s.py"), format!("test_{name}_s.py")]
            .map(|file| (Deed::Shell(format!("echo 'value = 1' > {file}")), Effect::File(file)));
        let reads = [MARKED, SECRET].map(|file| [Deed::Read(file.to_owned()), Deed::Shell(format!("cat {file}"))]);
        let reads = reads.into_iter().flatten().map(|deed| (deed, Effect::Mark));
        writes.chain(lines).chain(reads).collect()
    }

    /// What the policy says of a call, whose good end is then told.
    fn asked(&self, deed: &Deed, replay: &mut Replay) -> Result<Answer, LineError> {
        let (tool, input) = match deed {
            Deed::Write(path, text) => ("Write", json!({"file_path": path, "content": text})),
            Deed::Shell(line) => ("Bash", json!({"command": line})),
            Deed::Read(path) => ("Read", json!({"file_path": path})),
            Deed::Edit { path, old, new } => ("Edit", json!({"file_path": path, "old_string": old, "new_string": new})),
        };
        let id = format!("drill-{}-{}", self.number, self.trials.len());
        let call = json!({"event": "tool_call", "id": id, "tool": tool, "input": input});
        let said = replay.line(&call.to_string())?;
        let text = |key: &str| said.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let decision = text("decision");
        if decision != "deny" {
            replay.line(&json!({"event": "tool_result", "id": id, "ok": true}).to_string())?;
        }
        Ok(Answer {
            denied: decision == "deny",
            allowed: decision == "allow",
            skill: text("skill"),
            phase: text("phase_before"),
            after: text("phase"),
        })
    }
}

/// The kind of a call, of which one denial is enough.
fn kind(deed: &Deed) -> u8 {
    match deed {
        Deed::Write(..) => 0,
        Deed::Shell(_) => 1,
        Deed::Read(_) => 2,
        Deed::Edit { .. } => 3,
    }
}

/// The patterns of paths that a skill names, without groups and alternatives.
fn patterns(skill: &Value) -> Vec<String> {
    let mut found = Vec::new();
    gather(skill, &mut found);
    found.sort_by_key(String::len);
    found.dedup();
    found.retain(|pattern| !pattern.starts_with(['/', '~', '!', '.']) && pattern.contains('*'));
    found.truncate(MAX_PATHS);
    found
}

fn gather(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            let own = fields.get("pattern").and_then(Value::as_str);
            found.extend(own.into_iter().flat_map(choices));
            fields.values().for_each(|value| gather(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, found)),
        _ => {}
    }
}

/// A path that a pattern selects.
fn filled(pattern: &str, name: &str) -> String {
    let parts: Vec<String> =
        pattern.split('/').filter(|part| *part != "**").map(|part| part.replace('*', name).replace('?', "x")).collect();
    if pattern.ends_with("**") { format!("{}/{name}", parts.join("/")) } else { parts.join("/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_gives_a_path_that_it_selects() {
        for pattern in ["src/**/*.rs", "docs/**", "**/*.test.ts", "plan-*.md", "a?/*"] {
            let path = filled(pattern, "new");
            assert!(phasegate_core::values::glob::path_fits(pattern, &path), "{pattern}: {path}");
        }
    }
}
