//! Calls of an ordinary session, on each client's frames: none is denied while no skill is active, and in the working
//! phase of a shipped skill only those are that its file lists with the reason.

mod call;
mod host;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use phasegate_config::Shipped;
use phasegate_core::Policy;
use phasegate_core::policy::Skill as PolicySkill;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::loading::Loading;
use crate::play::folders::cases;
use crate::play::player::Stage;
use crate::play::session::Answer;
use crate::trial::{Check, Mismatch, Trial};
use call::{Call, Calls};
use host::{Host, Moment};

const FOLDER: &str = "../harmless";
/// What stands for the skills that the project uses.
const SKILLS: &str = "${SKILLS}";
/// How many calls each client makes at least.
const LEAST: usize = 100;

/// `project.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Files {
    files: BTreeMap<String, String>,
}

/// `skills/SKILL.toml`: how a skill gets to its working phase, and what is denied there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Skill {
    /// The phase that the calls lead to.
    phase: String,
    #[serde(default)]
    before: Vec<Call>,
    #[serde(default)]
    denied: Vec<Denied>,
}

/// Calls that are denied for one reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Denied {
    #[serde(rename = "why")]
    _why: String,
    #[serde(default)]
    groups: BTreeSet<String>,
    #[serde(default)]
    calls: BTreeSet<String>,
}

/// The session of a client.
struct Session {
    adapter: String,
    host: Host,
    files: BTreeMap<String, String>,
    calls: Vec<Call>,
}

/// Adds the trials of a client: one without a skill, one for each skill.
pub(crate) fn trials(loading: &mut Loading, adapter: &str) {
    let path = format!("{FOLDER}/hosts/{adapter}.toml");
    if !cases().join(&path).exists() {
        return;
    }
    let Some(host) = read::<Host>(loading, &path) else { return };
    let Some(calls) = read::<Calls>(loading, &format!("{FOLDER}/calls.toml")) else { return };
    let Some(files) = read::<Files>(loading, &format!("{FOLDER}/project.toml")) else { return };
    let session = Arc::new(Session { adapter: adapter.into(), host, files: files.files, calls: calls.all() });
    add(loading, &session, "no-skill", None);
    // No call of every client gives values, so a skill with inputs is not begun here.
    for shipped in phasegate_config::shipped().iter().filter(|shipped| !has_inputs(shipped.name)) {
        let path = format!("{FOLDER}/skills/{}.toml", shipped.name);
        if let Some(skill) = read::<Skill>(loading, &path) {
            add(loading, &session, shipped.name, Some(skill));
        }
    }
}

fn has_inputs(name: &str) -> bool {
    shipped(name).and_then(|policy| policy.skill(name).map(|skill| !skill.inputs.is_empty())).unwrap_or_default()
}

/// The policy of a shipped skill, which is compiled once.
fn shipped(name: &str) -> Option<&'static Policy> {
    static COMPILED: OnceLock<BTreeMap<&str, Policy>> = OnceLock::new();
    let compile = |shipped: &Shipped| Some((shipped.name, phasegate_config::shipped_policy(shipped.name, None)?));
    let compiled = COMPILED.get_or_init(|| phasegate_config::shipped().iter().filter_map(compile).collect());
    compiled.get(name)
}

fn read<T: DeserializeOwned>(loading: &mut Loading, path: &str) -> Option<T> {
    let text = loading.take(path)?;
    toml::from_str(&text).map_err(|error| loading.fails(path, &error)).ok()
}

fn add(loading: &mut Loading, session: &Arc<Session>, name: &str, skill: Option<Skill>) {
    let adapter = &session.adapter;
    let (id, area) = (format!("session/{adapter}/harmless/{name}"), format!("{adapter}/harmless"));
    let adapter = Some(adapter.clone());
    let (session, name) = (Arc::clone(session), name.to_owned());
    let run = Box::new(move || {
        let alarms = skill.as_ref().map_or_else(|| session.free(), |skill| session.within(&name, skill));
        let listed = |call: &&Call| skill.as_ref().is_some_and(|skill| skill.lists(call));
        match alarms {
            Ok(denied) => compare(&session.made(), &denied, listed),
            Err(problem) => vec![Mismatch::broken("harmless", problem)],
        }
    });
    loading.trials.push(Trial { id, check: Check::Session, adapter, area, run });
}

/// The shipped skills that begin by being asked for only: one that begins by itself is active with the first call that it
/// waits for.
fn asked_for() -> String {
    let names = phasegate_config::shipped().iter().map(|shipped| shipped.name);
    let begins =
        |name: &&str| !shipped(name).is_some_and(|policy| policy.skills.iter().any(PolicySkill::starts_by_itself));
    names.filter(begins).collect::<Vec<_>>().join(", ")
}

/// Both ways: what is denied is listed, and what is listed is denied.
fn compare(calls: &[&Call], denied: &BTreeSet<String>, listed: impl Fn(&&Call) -> bool) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    if calls.len() < LEAST {
        mismatches.push(Mismatch::new("calls", "number", json!(LEAST), json!(calls.len())));
    }
    for call in calls {
        let (wanted, got) = (listed(call), denied.contains(&call.shown()));
        if wanted != got {
            mismatches.push(Mismatch::new(&call.shown(), "denied", json!(wanted), json!(got)));
        }
    }
    mismatches
}

impl Skill {
    fn lists(&self, call: &Call) -> bool {
        let lists = |denied: &Denied| denied.groups.contains(&call.group) || denied.calls.contains(&call.shown());
        self.denied.iter().any(lists)
    }
}

impl Session {
    /// The calls that this client can make.
    fn made(&self) -> Vec<&Call> {
        self.calls.iter().filter(|call| self.host.has(call)).collect()
    }

    /// Plays all calls in one session without a skill. Those that were denied.
    fn free(&self) -> Result<BTreeSet<String>, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut stage = self.stage(folder.path(), &asked_for())?;
        let mut denied = BTreeSet::new();
        for (at, call) in self.made().into_iter().enumerate() {
            if self.asked(&mut stage, call, at)?.stops() {
                denied.insert(call.shown());
            } else {
                self.ended(&mut stage, call, at)?;
            }
        }
        Ok(denied)
    }

    /// Plays each call in the phase of a skill, always from the same state. Those that were denied.
    fn within(&self, name: &str, skill: &Skill) -> Result<BTreeSet<String>, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut stage = self.stage(folder.path(), name)?;
        let mut phase = None;
        for (at, call) in std::iter::once(&Call::skill(name)).chain(&skill.before).enumerate() {
            let at = at + self.calls.len();
            let asked = self.asked(&mut stage, call, at)?;
            if asked.stops() {
                return Err(format!("{}: {}", call.shown(), asked.stdout));
            }
            let ended = self.ended(&mut stage, call, at)?;
            phase = [asked, ended].iter().rev().find_map(Answer::phase).or(phase);
        }
        if phase.as_deref() != Some(skill.phase.as_str()) {
            return Err(format!("the calls lead to the phase {phase:?}"));
        }
        stage.keep()?;
        let mut denied = BTreeSet::new();
        for (at, call) in self.made().into_iter().enumerate() {
            if self.asked(&mut stage, call, at)?.stops() {
                denied.insert(call.shown());
            } else {
                stage.restore()?;
            }
        }
        Ok(denied)
    }

    /// A session of a project that uses these skills.
    fn stage(&self, folder: &Path, skills: &str) -> Result<Stage, String> {
        let files = self.files.iter().map(|(path, text)| (path.clone(), text.replace(SKILLS, skills))).collect();
        let mut stage = Stage::new(&self.host.session(&self.adapter, &files), folder)?;
        stage.play(&self.host.started()?)?;
        Ok(stage)
    }

    fn asked(&self, stage: &mut Stage, call: &Call, at: usize) -> Result<Answer, String> {
        Ok(stage.play(&self.host.frame(call, at, Moment::Asked)?)?.answer)
    }

    fn ended(&self, stage: &mut Stage, call: &Call, at: usize) -> Result<Answer, String> {
        Ok(stage.play(&self.host.frame(call, at, Moment::Ended)?)?.answer)
    }
}
