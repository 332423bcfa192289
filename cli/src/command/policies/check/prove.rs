//! `phasegate check --prove`: claims about skills, proven or refuted over all states to which likely calls lead.

use std::collections::BTreeSet;
use std::fs;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use owo_colors::OwoColorize as _;
use phasegate_config::{Claims, Kind, SourceFile, WATCHER, read_claims};
use phasegate_core::evidence::condition::Condition;
use phasegate_core::policy::input::Values;
use phasegate_core::policy::{Phase, Skill};
use phasegate_core::{Policy, values::canonical::Sorted};
use phasegate_runtime::locations::CONFIG_FOLDER;
use phasegate_runtime::operate::likely_calls::{LikelyCall, likely_calls, tells_by_tools_alone};
use phasegate_runtime::operate::machine::{
    Explored, Machine, PROBE, Subject, Watch, begin, lets_through, replay, step, with_id,
};
use phasegate_runtime::operate::replay::LineError;
use serde_json::{Value, json};

use crate::context::Context;
use crate::output::Failure;

/// The most states of a skill that are looked at.
const MAX_STATES: usize = 2_000;

/// What is known of a claim.
pub(super) struct Verdict {
    skill: String,
    claim: String,
    /// `proven`, `refuted` or `open`.
    word: &'static str,
    why: String,
    states: usize,
    /// What shows that it does not hold.
    transcript: Option<Vec<Value>>,
    /// The file that it is saved in.
    saved: Option<String>,
}

/// What is to be proven.
pub(super) struct Asked<'a> {
    pub(super) policy: &'a Policy,
    /// The skill; `None`: all.
    pub(super) skill: Option<&'a str>,
    pub(super) inputs: &'a Values,
    pub(super) files: &'a [SourceFile],
    pub(super) root: &'a Path,
    pub(super) save: Option<&'a Path>,
}

/// Proves or refutes what is claimed of the skills.
///
/// # Errors
///
/// A file of claims has a mistake, or a transcript cannot be saved.
pub(super) fn prove(asked: &Asked<'_>) -> Result<Vec<Verdict>, Failure> {
    let claims = claims(asked.root)?;
    let names = asked.policy.skills.iter().map(|skill| skill.name.as_str());
    let names: Vec<&str> = names.filter(|name| asked.skill.is_none_or(|only| only == *name)).collect();
    if let Some(unknown) = claims.iter().map(|claims| &claims.skill).find(|skill| asked.policy.skill(skill).is_none()) {
        return Err(Failure::new(format!("there are claims about `{unknown}`, and no such skill")));
    }
    let settings: Vec<SourceFile> = asked.files.iter().filter(|file| file.kind == Kind::Settings).cloned().collect();
    let mut all = Vec::new();
    for name in names {
        let own: Vec<&Claims> = claims.iter().filter(|claims| claims.skill == name).collect();
        let mut inputs = own.iter().flat_map(|claims| claims.inputs.clone()).collect::<Values>();
        let known = |input: &str| {
            asked.policy.skill(name).is_some_and(|skill| skill.inputs.iter().any(|one| one.name == input))
        };
        inputs.extend(
            asked.inputs.iter().filter(|(input, _)| known(input)).map(|(name, value)| (name.clone(), value.clone())),
        );
        match Subject::of(asked.policy.clone(), name, &inputs).and_then(|subject| of_skill(&subject, &own, &settings)) {
            Ok(verdicts) => all.extend(verdicts),
            Err(error) => all.push(open(name, "all claims", &error.0, 0)),
        }
    }
    if let Some(folder) = asked.save {
        save(&mut all, folder)?;
    }
    Ok(all)
}

/// The claims in the project's folder of tests.
fn claims(root: &Path) -> Result<Vec<Claims>, Failure> {
    let folder = root.join(CONFIG_FOLDER).join(super::transcripts::FOLDER);
    let mut files: Vec<_> = fs::read_dir(&folder).into_iter().flatten().flatten().map(|one| one.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "yaml"));
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let wrong = |why: String| Failure::new(format!("{}: {why}", path.strip_prefix(root).unwrap_or(path).display()));
        let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        read_claims(&text).map_err(wrong)
    };
    files.iter().map(read).collect()
}

fn save(all: &mut [Verdict], folder: &Path) -> Result<(), Failure> {
    for (number, verdict) in all.iter_mut().enumerate() {
        let Some(lines) = &verdict.transcript else { continue };
        let path = folder.join(format!("{}-{}.jsonl", verdict.skill, number + 1));
        let text: String = lines.iter().map(|line| format!("{}\n", Sorted(line))).collect();
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
        written.map_err(|error| Failure::new(format!("`{}` cannot be written: {error}", path.display())))?;
        verdict.saved = Some(path.display().to_string());
    }
    Ok(())
}

fn open(skill: &str, claim: &str, why: &str, states: usize) -> Verdict {
    let (skill, claim, why) = (skill.to_owned(), claim.to_owned(), why.to_owned());
    Verdict { skill, claim, word: "open", why, states, transcript: None, saved: None }
}

fn of_skill(subject: &Subject, claims: &[&Claims], settings: &[SourceFile]) -> Result<Vec<Verdict>, LineError> {
    let skill = &subject.skill;
    let servers: Vec<String> = skill.named_servers().into_iter().map(str::to_owned).collect();
    let claims: Vec<_> = claims.iter().flat_map(|claims| &claims.claims).collect();
    let watcher = |claim: &&phasegate_config::Claim| claim.watcher(PROBE, &servers, settings);
    let watchers: Vec<Result<Skill, String>> = claims.iter().map(watcher).collect();
    let mut skills = vec![skill];
    skills.extend(watchers.iter().flatten());
    let mut calls = likely_calls(&skills);
    calls.retain(|call| call.line.get("tool").and_then(Value::as_str) != Some(PROBE));
    let machine = Machine { skill, calls: &calls, begin: subject.begin.clone() };
    let explored = explore(&machine, subject, None)?;
    let mut all = built_in(&machine, &explored);
    let exercised = why_open(&machine, &explored);
    for (claim, watcher) in claims.iter().zip(&watchers) {
        let watcher = match watcher {
            Ok(watcher) => watcher,
            Err(why) => {
                all.push(open(&skill.name, &claim.text, why, 0));
                continue;
            }
        };
        let (outside, at_end) = (&claim.outside, claim.is_of_end());
        let watch = Watch { skill: watcher, begin: begin(WATCHER, &Values::new()), outside, at_end };
        let found = explore(&machine, subject, Some(&watch))?;
        let states = found.states.len();
        let mut verdict = open(&skill.name, &claim.text, "", states);
        if let Some(mut transcript) = found.objection {
            if let Some(fields) = transcript.last_mut().and_then(Value::as_object_mut).filter(|_| !at_end) {
                fields.insert("expect".into(), json!({"decision": "allow"}));
            }
            (verdict.word, verdict.transcript) = ("refuted", Some(transcript));
        } else if !at_end && !is_about_some(&watch, &calls)? {
            verdict.why = "it is about none of the likely calls".into();
        } else if !found.complete {
            verdict.why = too_many();
        } else if let Some(why) = &exercised {
            verdict.why.clone_from(why);
        } else {
            verdict.word = "proven";
        }
        all.push(verdict);
    }
    Ok(all)
}

fn explore(machine: &Machine<'_>, subject: &Subject, watch: Option<&Watch<'_>>) -> Result<Explored, LineError> {
    let shown = std::io::stderr().is_terminal();
    let found = machine.explore(&subject.policy, watch, MAX_STATES, &mut |found| {
        if shown && found.states.len().is_multiple_of(20) {
            let _ = write!(std::io::stderr(), "\r{}: {} states ", machine.skill.name, found.states.len());
        }
        false
    });
    if shown {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
    found
}

/// Whether the watcher objects to one of the calls, before anything has happened.
fn is_about_some(watch: &Watch<'_>, calls: &[LikelyCall]) -> Result<bool, LineError> {
    let mut begun = replay(&Policy { skills: vec![watch.skill.clone()], ..Policy::default() })?;
    step(&mut begun, &watch.begin)?;
    for call in calls {
        if !lets_through(&step(&mut begun.clone(), &with_id(&call.line, 0))?) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn too_many() -> String {
    format!("it has more than {MAX_STATES} states")
}

/// The phases that were not reached.
fn unreached<'s>(machine: &Machine<'s>, found: &Explored) -> Vec<&'s str> {
    let reached: BTreeSet<&str> = found.states.iter().filter_map(|state| state.phase.as_deref()).collect();
    let names = machine.skill.phases.iter().map(|phase| phase.name.as_str());
    names.filter(|name| !reached.contains(name)).collect()
}

/// Why nothing follows from what the likely calls do not lead to; `None`: they stand for all calls.
fn why_open(machine: &Machine<'_>, found: &Explored) -> Option<String> {
    let mut tells = tells_by_tools_alone(machine.skill);
    machine.skill.phases.iter().flat_map(Phase::conditions).for_each(|condition| {
        condition.each_leaf(&mut |leaf| {
            tells &= !matches!(leaf, Condition::Fact(_) | Condition::Says(_) | Condition::Artifact(_));
        });
    });
    let missed = unreached(machine, found);
    (!tells && !missed.is_empty()).then(|| format!("no likely call leads to phase {}", missed.join(", ")))
}

/// What is claimed of every skill.
fn built_in(machine: &Machine<'_>, found: &Explored) -> Vec<Verdict> {
    let states = found.states.len();
    let open_why = why_open(machine, found).or_else(|| (!found.complete).then(too_many));
    let verdict = |claim: &str, broken: Option<(String, Option<Vec<Value>>)>, known: bool| {
        let mut verdict = open(&machine.skill.name, claim, open_why.as_deref().unwrap_or_default(), states);
        match (broken, &open_why) {
            (None, _) if known || open_why.is_none() => (verdict.word, verdict.why) = ("proven", String::new()),
            (Some((why, transcript)), None) => {
                (verdict.word, verdict.why, verdict.transcript) = ("refuted", why, transcript);
            }
            _ => {}
        }
        verdict
    };
    let missed = unreached(machine, found);
    let missed_why = (!missed.is_empty()).then(|| (format!("nothing leads to phase {}", missed.join(", ")), None));
    let last = |name: &str| machine.skill.phases.iter().any(|phase| phase.name == name && phase.next.is_empty());
    let at_end = |at: &usize| found.states.get(*at).is_some_and(|state| state.phase.as_deref().is_none_or(last));
    let good = found.leading_to((0..states).filter(at_end));
    let dead = (0..states).find(|at| !good.contains(at)).map(|at| {
        let phase = found.states.get(at).and_then(|state| state.phase.clone()).unwrap_or_default();
        (format!("nothing leads on from phase {phase}"), Some(found.transcript(at, &machine.begin)))
    });
    let waits = machine.calls.iter().enumerate().find_map(|(number, call)| {
        let open = found.leading_to(found.passes.iter().filter(|way| way.to == number).map(|way| way.from));
        let stuck = found.waiting.iter().find(|way| way.to == number && !open.contains(&way.from))?;
        let mut lines = found.transcript(stuck.from, &machine.begin);
        lines.push(with_id(&call.line, lines.len()));
        Some((format!("`{}` belongs to a later phase and never gets through", call.name), Some(lines)))
    });
    let reached_all = missed.is_empty();
    vec![
        verdict("every phase can be reached", missed_why, reached_all),
        verdict("no phase is a dead end", dead, false),
        verdict("each call that has to wait gets through", waits, false),
    ]
}

impl Verdict {
    pub(super) fn is_refuted(&self) -> bool {
        self.word == "refuted"
    }

    pub(super) fn as_json(&self) -> Value {
        json!({
            "skill": self.skill, "claim": self.claim, "verdict": self.word, "why": self.why, "states": self.states,
            "transcript": self.transcript, "saved": self.saved,
        })
    }
}

/// Prints the verdicts by skill.
pub(super) fn print(all: &[Verdict], context: &Context) {
    let mut last = "";
    for verdict in all {
        if verdict.skill != last {
            let states = if verdict.states == 1 { "state" } else { "states" };
            context.out.line(format_args!("{}: {} {states}", verdict.skill.bold(), verdict.states));
        }
        last = &verdict.skill;
        let why = if verdict.why.is_empty() { String::new() } else { format!(": {}", verdict.why) };
        context.out.line(format_args!("  {:7}  {}{why}", verdict.word, verdict.claim));
        let lines = verdict.transcript.iter().flatten();
        for line in lines {
            if let Some(call) = crate::command::policies::replay::call(line) {
                context.out.line(format_args!("         {call}"));
            } else if let Some(end) = line.get("ok").filter(|ok| **ok == json!(false)) {
                context.out.line(format_args!("             fails (ok: {end})"));
            }
        }
        if let Some(path) = &verdict.saved {
            context.out.line(format_args!("           saved in {path}"));
        }
    }
}
