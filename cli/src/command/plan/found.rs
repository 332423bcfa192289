//! The plans of a project: the files, and what became of each.

use std::time::{Duration, SystemTime};

use phasegate_core::state::{Run, Status};
use phasegate_core::steps::{Step, StepState};
use phasegate_core::{FactValue, Facts};
use phasegate_runtime::facts::{self, World};
use phasegate_runtime::policy_store::Current;
use phasegate_runtime::sessions::{SessionInfo, sessions};
use phasegate_runtime::{Project, Runtime};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::context::Context;
use crate::output::Failure;

/// How long a plan that nobody answered stays fresh.
const STALE_AFTER: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long a session that carries a plan out may be silent.
const STALLED_AFTER: Duration = Duration::from_secs(30 * 60);

/// A plan.
pub(super) struct Plan {
    /// Its path, relative to the project.
    pub(super) path: String,
    /// What became of it: `draft`, `proposed`, `rejected`, `executing`, `stalled`, `failed`, `completed` or `cancelled`.
    pub(super) status: &'static str,
    /// The first digits of the digest of its content: another content is another version.
    pub(super) version: String,
    /// Whether nobody answered it for a month.
    pub(super) stale: bool,
    /// The session that proposed it or carries it out.
    pub(super) session: Option<String>,
    /// Its steps, or why it has none.
    pub(super) steps: Result<Vec<Step>, String>,
    /// Whether the file is another one than the plan that is carried out.
    pub(super) changed: bool,
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
    /// Whether the run waits for the approval of its plan.
    waits: bool,
}

/// The runs of the session that wait for the approval of an artifact.
fn waiting(runtime: &Runtime, project: &Project, session: &SessionInfo, artifact: &str) -> Vec<String> {
    // A session whose policy is gone waits for nothing that a person could approve.
    let Ok(answer) = runtime.approvals(project, Some(session)) else { return Vec::new() };
    let text = |one: &Value, key: &str| one.get(key).and_then(Value::as_str).map(str::to_owned);
    let gates = answer.get("waiting").and_then(Value::as_array).into_iter().flatten();
    gates.filter(|gate| text(gate, "name").as_deref() == Some(artifact)).filter_map(|gate| text(gate, "run")).collect()
}

/// All plans, by path.
///
/// # Errors
///
/// The project or its journals cannot be read.
pub(super) fn all(context: &Context) -> Result<Vec<Plan>, Failure> {
    let runtime = context.runtime()?;
    let project = context.find_project(&runtime)?;
    let Current::Ready(ready) = runtime.current(&project)? else { return Ok(Vec::new()) };
    let known = sessions(&project)?.known;
    let phases = ready.policy.skills.iter().flat_map(|skill| skill.phases.iter().map(move |phase| (skill, phase)));
    let mut plans: Vec<Plan> = Vec::new();
    for (skill, file) in phases.filter_map(|(skill, phase)| Some((skill, phase.steps.as_deref()?))) {
        let mut told = Facts::new();
        let asked = [file.fact.clone(), file.content.fact.clone()];
        facts::gather(World::of(&project, &ready.policy), &asked, &mut told);
        let mut known_of = |key| match told.remove(key).map(|fact| fact.value) {
            Some(FactValue::Known(Value::Object(files))) => files,
            _ => Map::new(),
        };
        let (files, digests) = (known_of(&file.fact), known_of(&file.content.fact));
        let follows: Vec<Follows<'_>> = known
            .iter()
            .flat_map(|session| {
                let waiting = waiting(&runtime, &project, session, &file.artifact);
                let runs = session.state.project.runs.iter().chain(&session.state.session.runs);
                let runs: Vec<&Run> = runs.filter(|run| run.skill == skill.name).collect();
                let follows = |run: &'_ Run| Follows { run: run.clone(), session, waits: waiting.contains(&run.id) };
                runs.into_iter().rev().map(follows).collect::<Vec<_>>()
            })
            .collect();
        let since = file.content.since;
        let first = skill.phases.first().map(|phase| phase.name.as_str()).unwrap_or_default();
        for (path, told) in files {
            let modified = std::fs::metadata(project.root.join(&path)).and_then(|about| about.modified()).ok();
            let digest = digests.get(&path).and_then(Value::as_str).unwrap_or_default().to_owned();
            plans.push(plan(path, told, &Version { modified, digest }, &Among { follows: &follows, first, since }));
        }
    }
    plans.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(plans)
}

/// The runs of the skill whose plan it is.
struct Among<'a> {
    /// The ones of the session that was active last come first, and of those the one that began last.
    follows: &'a [Follows<'a>],
    /// The phase in which a plan is proposed.
    first: &'a str,
    /// The number of the condition under which a run keeps the files that were there when it began.
    since: Option<u32>,
}

impl Among<'_> {
    /// The run that proposes this content of a file: in `research`, in a session that goes on and wrote a plan, and the file
    /// is another one than when the run began.
    fn proposes(&self, path: &str, digest: &str) -> Option<&Follows<'_>> {
        let is_new = |run: &Run| {
            let kept = run.evidence.iter().filter(|one| Some(one.atom) == self.since).max_by_key(|one| one.visit);
            let before = kept.and_then(|one| one.as_of.as_ref()?.get(path)?.as_str());
            before != Some(digest)
        };
        let may = |one: &&Follows<'_>| {
            let live = one.run.status == Status::Active && !one.session.state.session.ended;
            live && one.waits && one.run.phase == self.first && is_new(&one.run)
        };
        self.follows.iter().find(may)
    }
}

/// A file as it is now.
struct Version {
    modified: Option<SystemTime>,
    digest: String,
}

fn plan(path: String, told: Value, file: &Version, among: &Among<'_>) -> Plan {
    let read: Result<Told, String> = match told {
        Value::String(fault) => Err(fault),
        told => serde_json::from_value(told).map_err(|error| error.to_string()),
    };
    let digest = &file.digest;
    let version: String = digest.chars().take(8).collect();
    let carried = among.follows.iter().find(|one| one.run.steps.as_ref().is_some_and(|steps| steps.path == path));
    let proposed = among.proposes(&path, digest);
    let of_digest = |one: &Follows<'_>| one.run.steps.as_ref().is_some_and(|steps| steps.digest == *digest);
    let is_live = |one: &Follows<'_>| one.run.status == Status::Active;
    let rejects = |run: &Run| {
        run.rejected.iter().any(|no| no.content.as_ref().and_then(|files| files.get(&path)) == Some(&json!(digest)))
    };
    let (status, one) = match (carried, proposed) {
        (Some(one), _) if is_live(one) => (executing(one), Some(one)),
        (_, Some(one)) if rejects(&one.run) => ("rejected", Some(one)),
        (_, Some(one)) => ("proposed", Some(one)),
        (Some(one), None) if of_digest(one) && one.run.status == Status::Finished => ("completed", Some(one)),
        (Some(one), None) if of_digest(one) => ("cancelled", Some(one)),
        _ => ("draft", None),
    };
    let old = file.modified.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > STALE_AFTER);
    let live_steps =
        one.and_then(|one| one.run.steps.as_ref()).filter(|_| status != "proposed" && status != "rejected");
    let changed = live_steps.is_some_and(|steps| steps.digest != *digest);
    let steps = match live_steps {
        Some(steps) => Ok(steps.each.clone()),
        None => read.map(|told| told.steps),
    };
    let session = one.map(|one| one.session.id.clone());
    Plan { path, status, version, stale: old && matches!(status, "draft" | "proposed"), session, steps, changed }
}

fn executing(one: &Follows<'_>) -> &'static str {
    let steps = one.run.steps.as_ref();
    if steps.is_some_and(phasegate_core::steps::Steps::have_failed) {
        return "failed";
    }
    let silent = one.session.active.elapsed().is_ok_and(|age| age > STALLED_AFTER);
    if silent || one.session.state.session.ended { "stalled" } else { "executing" }
}

/// What became of a step, in a word.
pub(super) fn word(state: StepState) -> &'static str {
    match state {
        StepState::Open => "open",
        StepState::Begun => "begun",
        StepState::Done => "done",
        StepState::Failed => "failed",
    }
}
