//! The plans of a project: the files, and what became of each.

use std::time::{Duration, SystemTime};

use phasegate_core::policy::steps::{self, Step, StepState, is_meant};
use phasegate_core::state::{Run, Status};
use phasegate_core::{FactKey, FactValue, Facts};
use phasegate_runtime::facts::{self, World};
use phasegate_runtime::operate::step_trial::StepTrial;
use phasegate_runtime::policies::policy_store::Current;
use phasegate_runtime::sessions::{SessionInfo, sessions};
use phasegate_runtime::{Project, Runtime};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::context::Context;
use crate::output::Failure;

/// How long a plan that nobody answered stays fresh.
const STALE_AFTER: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long a session that carries a plan out may be silent.
const STALLED_AFTER: Duration = Duration::from_secs(30 * 60);

/// A plan.
pub(crate) struct Plan {
    /// Its path, relative to the project.
    pub(crate) path: String,
    /// The name of its artifact, which is the name of its approval.
    pub(crate) artifact: String,
    /// What became of it: `draft`, `proposed`, `rejected`, `executing`, `stalled`, `failed`, `completed` or `cancelled`.
    pub(crate) status: &'static str,
    /// The first digits of the digest of its content: another content is another version.
    pub(crate) version: String,
    /// Whether nobody answered it for a month.
    pub(crate) stale: bool,
    /// The session that proposed it or carries it out.
    pub(crate) session: Option<String>,
    /// Its steps, or why it cannot be carried out: each fault.
    pub(crate) steps: Result<Vec<Step>, Vec<String>>,
    /// Whether the file is another one than the plan that is carried out.
    pub(crate) changed: bool,
}

/// A file as the source of the fact tells it.
#[derive(Deserialize)]
struct Told {
    steps: Vec<Step>,
}

/// A run that may have to do with a plan, and its session.
struct Follows<'a> {
    run: Run,
    session: &'a SessionInfo,
    /// The files whose approval the run waits for, with their digests.
    waits: Map<String, Value>,
    /// Whether a person rejected these files.
    rejected: bool,
    /// The files that have not the format which its phase asks for, each with why.
    format_faults: Map<String, Value>,
}

/// What the session waits for under the name of an artifact, and where its runs stand.
struct Stands {
    waiting: Vec<Value>,
    runs: Vec<Value>,
}

impl Stands {
    fn of(runtime: &Runtime, project: &Project, session: &SessionInfo, artifact: &str) -> Self {
        // A session whose policy is gone waits for nothing that a person could approve.
        let answer = runtime.approvals(project, Some(session)).unwrap_or_default();
        let gates = answer.get("waiting").and_then(Value::as_array).into_iter().flatten();
        let waiting = gates.filter(|gate| text(gate, "name") == Some(artifact)).cloned().collect();
        let runs = runtime.runs(project, Some(session)).ok().and_then(|runs| runs.as_array().cloned());
        Self { waiting, runs: runs.unwrap_or_default() }
    }

    /// A run, with what it waits for.
    fn follows<'a>(&self, run: &Run, session: &'a SessionInfo) -> Follows<'a> {
        let of_run = |one: &&Value| text(one, "run") == Some(&run.id);
        let gate = self.waiting.iter().find(of_run);
        let files = gate.and_then(|gate| gate.get("files")).and_then(Value::as_object);
        let rejected = gate.and_then(|gate| gate.get("rejected")) == Some(&Value::Bool(true));
        let faults = self.runs.iter().find(of_run).and_then(|run| run.get("format_faults")?.as_object());
        let (waits, format_faults) = (files.cloned().unwrap_or_default(), faults.cloned().unwrap_or_default());
        Follows { run: run.clone(), session, waits, rejected, format_faults }
    }
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

/// The plans that a person means by this path, else all, by path. The steps of one that waits are tried as calls, and those of
/// the only one that is meant.
///
/// # Errors
///
/// The project, its journals or its plans cannot be read.
pub(crate) fn all(context: &Context, named: Option<&str>) -> Result<Vec<Plan>, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let Current::Ready(ready) = runtime.current(&project)? else { return Ok(Vec::new()) };
    let known = sessions(&project)?.known;
    let phases = ready.policy.skills.iter().flat_map(|skill| skill.phases.iter().map(move |phase| (skill, phase)));
    let trial = StepTrial::new(&runtime, &project.root);
    let mut plans: Vec<Plan> = Vec::new();
    for (skill, file) in phases.filter_map(|(skill, phase)| Some((skill, phase.steps.as_deref()?))) {
        let world = World::of(&project, &ready.policy);
        let mut files = ask(world, &file.content.fact).ok_or_else(|| unlisted(&file.content.text))?;
        files.retain(|path, _| named.is_none_or(|named| is_meant(path, named)));
        let only = files.len() == 1;
        let follows: Vec<Follows<'_>> = known
            .iter()
            .flat_map(|session| {
                let stands = Stands::of(&runtime, &project, session, &file.artifact);
                let runs = session.state.project.runs.iter().chain(&session.state.session.runs);
                let runs: Vec<&Run> = runs.filter(|run| run.skill == skill.name).collect();
                runs.into_iter().rev().map(|run| stands.follows(run, session)).collect::<Vec<_>>()
            })
            .collect();
        let first = skill.phases.first().map(|phase| phase.name.as_str()).unwrap_or_default();
        for (path, digest) in files {
            let modified = std::fs::metadata(project.root.join(&path)).and_then(|about| about.modified()).ok();
            let digest = digest.as_str().unwrap_or_default().to_owned();
            let among = Among { artifact: &file.artifact, follows: &follows, first };
            // Each is asked about alone: what others cost keeps none from being told.
            let key = file.of(&Map::from_iter([(path.clone(), Value::from(digest.as_str()))]));
            let read = |waits: bool| {
                let world = if waits || only { world.trying(&trial) } else { world };
                ask(world, &key).and_then(|mut told| told.remove(&path)).unwrap_or_default()
            };
            plans.push(plan(&path, &read, &Version { modified, digest }, &among));
        }
    }
    plans.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(plans)
}

/// What is known of each file.
fn ask(world: World<'_>, key: &FactKey) -> Option<Map<String, Value>> {
    let mut told = Facts::new();
    facts::gather(world, std::slice::from_ref(key), &mut told);
    match told.remove(key)?.value {
        FactValue::Known(Value::Object(files)) => Some(files),
        FactValue::Known(_) | FactValue::Absent | FactValue::Unknown => None,
    }
}

fn unlisted(plans: &str) -> Failure {
    Failure::new(format!("the plans `{plans}` cannot be listed: one cannot be read, or there are too many"))
        .with_help("500 files are the most: move plans that are done to another folder, or remove them")
}

/// The runs of the skill whose plan it is.
struct Among<'a> {
    artifact: &'a str,
    /// The ones of the session that was active last come first, and of those the one that began last.
    follows: &'a [Follows<'a>],
    /// The phase in which a plan is proposed.
    first: &'a str,
}

impl Among<'_> {
    /// The run that proposes this content of a file: in `research`, in a session that goes on, and waiting for its approval.
    fn proposes(&self, path: &str, digest: &str) -> Option<&Follows<'_>> {
        let may = |one: &&Follows<'_>| {
            let live = one.run.status == Status::Active && !one.session.state.session.ended;
            let waits = one.waits.get(path).and_then(Value::as_str) == Some(digest);
            live && waits && one.run.phase == self.first
        };
        self.follows.iter().find(may)
    }
}

impl Among<'_> {
    /// What is wrong with the format of a file, where a run that goes on waits for it.
    fn format_fault(&self, path: &str) -> Option<String> {
        let mut live = self.follows.iter().filter(|one| one.run.status == Status::Active);
        live.find_map(|one| one.format_faults.get(path)?.as_str().map(str::to_owned))
    }
}

/// A file as it is now.
struct Version {
    modified: Option<SystemTime>,
    digest: String,
}

/// The steps that are told of a file, or why it cannot be carried out: each fault.
fn steps_in(told: Value) -> Result<Vec<Step>, Vec<String>> {
    if let Some(faults) = told.as_str().or_else(|| text(&told, "unknown")) {
        return Err(faults.lines().map(str::to_owned).collect());
    }
    match serde_json::from_value::<Told>(told) {
        Ok(Told { steps }) => Some(steps::faults(&steps)).filter(|faults| !faults.is_empty()).map_or(Ok(steps), Err),
        Err(error) => Err(vec![error.to_string()]),
    }
}

/// A plan. `read` tells what its file has for steps, and tries them if it waits.
fn plan(path: &str, read: &dyn Fn(bool) -> Value, file: &Version, among: &Among<'_>) -> Plan {
    let digest = &file.digest;
    let version: String = digest.chars().take(8).collect();
    let carried = among.follows.iter().find(|one| one.run.steps.as_ref().is_some_and(|steps| steps.path == path));
    let proposed = among.proposes(path, digest);
    let of_digest = |one: &Follows<'_>| one.run.steps.as_ref().is_some_and(|steps| steps.digest == *digest);
    let is_live = |one: &Follows<'_>| one.run.status == Status::Active;
    // What is left in prose is the person's, who ended it.
    let is_over = |one: &Follows<'_>| {
        one.run.status == Status::Finished || one.run.steps.as_ref().is_some_and(steps::Steps::calls_are_done)
    };
    let (status, one) = match (carried, proposed) {
        (Some(one), _) if is_live(one) => (executing(one), Some(one)),
        (_, Some(one)) if one.rejected => ("rejected", Some(one)),
        (_, Some(one)) => ("proposed", Some(one)),
        (Some(one), None) if of_digest(one) && is_over(one) => ("completed", Some(one)),
        (Some(one), None) if of_digest(one) => ("cancelled", Some(one)),
        _ => ("draft", None),
    };
    let old = file.modified.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > STALE_AFTER);
    let live_steps =
        one.and_then(|one| one.run.steps.as_ref()).filter(|_| status != "proposed" && status != "rejected");
    let changed = live_steps.is_some_and(|steps| steps.digest != *digest);
    let steps = match live_steps {
        Some(steps) => Ok(steps.each.clone()),
        None => match among.format_fault(path) {
            Some(fault) => Err(vec![format!("its format: {fault}")]),
            None => steps_in(read(matches!(status, "proposed" | "rejected"))),
        },
    };
    let session = one.map(|one| one.session.id.clone());
    let artifact = among.artifact.to_owned();
    Plan {
        path: path.to_owned(),
        artifact,
        status,
        version,
        stale: old && matches!(status, "draft" | "proposed"),
        session,
        steps,
        changed,
    }
}

fn executing(one: &Follows<'_>) -> &'static str {
    let carried = one.run.steps.as_ref();
    if carried.is_some_and(steps::Steps::have_failed) {
        return "failed";
    }
    let silent = one.session.active.elapsed().is_ok_and(|age| age > STALLED_AFTER);
    if silent || one.session.state.session.ended { "stalled" } else { "executing" }
}

/// What became of a step, in a word.
pub(crate) fn word(state: StepState) -> &'static str {
    match state {
        StepState::Open => "open",
        StepState::Begun => "begun",
        StepState::Done => "done",
        StepState::Ran => "ran",
        StepState::Failed => "failed",
    }
}
