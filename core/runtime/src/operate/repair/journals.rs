//! Sets journals aside and begins others in their place.
//!
//! A crash in between leaves a journal that is missing or too short, which can be repaired again.

use phasegate_adapter::Problem;
use phasegate_core::events::event::By;
use phasegate_core::policy::{Mode, Policy, Scope};
use phasegate_core::state::{Run, Runs, Status};
use phasegate_core::{Change, Code, Durability, State, state};
use phasegate_formats::journal::Entry;
use phasegate_store::aside::{Aside, set_aside};
use phasegate_store::journal::Journal;
use phasegate_store::state::JournalState as _;
use serde_json::{Value, json};

use super::choice::{Choice, Sealed};
use super::damage::{Damage, DamagedSession, Damages};
use crate::deadline::{Deadline, LIMIT};
use crate::policies::policy_store::{Current, summary};
use crate::project::{Project, kept_root, session_root_file};
use crate::runtime::Runtime;
use crate::sessions::snapshot::{
    Checkpoint, ProjectChange, ProjectSnapshot, SessionChange, SessionCheckpoint, SessionSnapshot,
};

/// A session that goes on.
struct Next<'a> {
    session: &'a DamagedSession,
    id: &'a str,
    runs: Vec<Run>,
}

/// The project's journal, locked, and its state.
struct Shared {
    journal: Journal,
    state: ProjectSnapshot,
}

pub(super) fn seal(
    runtime: &Runtime,
    project: &Project,
    damages: &Damages,
    choice: &Choice,
) -> Result<Vec<Sealed>, Problem> {
    let work = Work { runtime, project, choice };
    if *choice == Choice::Keep && !damages.shows_runs() {
        let text = "no skill is known to have been active; say `--run SKILL` or `--no-run`";
        return Err(Problem::new(Code::CommandInvalid, text).with_remedy("`phasegate repair` shows what can be read"));
    }
    let next: Result<Vec<_>, _> = damages.sessions.iter().map(|session| work.next(session)).collect();
    let next = next?;
    let kept = damages.project.as_ref().map(|damage| work.project_runs(damage, next.is_empty())).transpose()?;
    let mut sealed = Vec::new();
    let mut shared = match damages.project.as_ref().zip(kept) {
        Some((damage, runs)) => {
            let (shared, one) = work.seal_project(damages, damage, runs)?;
            sealed.push(one);
            shared
        }
        None => {
            let deadline = Deadline::new(LIMIT);
            let (journal, state) = Journal::open(runtime.store.as_ref(), &project.journal(), &deadline)?;
            Shared { journal, state }
        }
    };
    for one in next {
        sealed.push(work.seal_session(&mut shared, one)?);
    }
    Ok(sealed)
}

struct Work<'a> {
    runtime: &'a Runtime,
    project: &'a Project,
    choice: &'a Choice,
}

impl Work<'_> {
    /// How a session goes on.
    fn next<'s>(&self, session: &'s DamagedSession) -> Result<Next<'s>, Problem> {
        let Some(id) = session.id.as_deref() else {
            let path = session.damage.path.display();
            return Err(Problem::new(Code::StateMissing, format!("nothing says any more whose journal `{path}` was")));
        };
        let damage = &session.damage;
        let runs = match self.choice {
            Choice::NoRun => Vec::new(),
            Choice::Keep => {
                let before = &damage.state;
                let kept = self.begun_anew(&before.session.runs, &damage.policy, &before.policy_digest)?;
                kept.into_iter().zip(1..).map(|(run, number)| Run { id: format!("r{number}"), ..run }).collect()
            }
            Choice::Run { skill, mode } => {
                let stored = self.runtime.policies.load(&damage.policy, &damage.state.policy_digest, &State::default());
                let run = self.run(skill, *mode, stored.ok(), "r1".to_string())?;
                vec![Run { scope: Scope::Session, ..run }]
            }
        };
        Ok(Next { session, id, runs })
    }

    /// The runs of the project that go on. `alone`: no session is damaged.
    fn project_runs(&self, damage: &Damage<ProjectSnapshot>, alone: bool) -> Result<Vec<Run>, Problem> {
        let project = &damage.state.project;
        match self.choice {
            Choice::NoRun => Ok(Vec::new()),
            Choice::Run { skill, mode } if alone => {
                let run = self.run(skill, *mode, None, format!("p{}", project.runs_begun.saturating_add(1)))?;
                Ok(vec![Run { scope: Scope::Project, ..run }])
            }
            Choice::Keep | Choice::Run { .. } => self.begun_anew(&project.runs, "", ""),
        }
    }

    /// The live ones of these runs, in their first phase.
    fn begun_anew(&self, runs: &Runs, policy: &str, digest: &str) -> Result<Vec<Run>, Problem> {
        let live = || runs.iter().filter(|run| run.status == Status::Active);
        let session = state::Session { runs: live().cloned().collect(), ..state::Session::default() };
        let state = State { session, ..State::default() };
        let policies = &self.runtime.policies;
        let policy = match policy {
            "" => policies.with_earlier(Policy::default(), &state)?,
            version => policies.load(version, digest, &state)?,
        };
        let anew = |run: &Run| {
            let gone =
                || Problem::new(Code::PolicyMissing, format!("the policy of the run of `{}` is gone", run.skill));
            let skill = policy.skill_version(&run.skill, &run.version).ok_or_else(gone)?;
            Ok(Run::begun(skill, run.id.clone(), run.mode, By::Human))
        };
        live().map(anew).collect()
    }

    fn offered(&self) -> Result<Current, Problem> {
        Ok(self.runtime.offered(self.project)?.current)
    }

    /// A run of the skill that the person names.
    fn run(&self, name: &str, mode: Option<Mode>, stored: Option<Policy>, id: String) -> Result<Run, Problem> {
        let policy = match stored.filter(|policy| policy.skill(name).is_some()) {
            Some(policy) => policy,
            // Where the journal that says what was accepted is the damaged one, the person looks at what is there.
            None => match self.runtime.current(self.project).or_else(|_| self.offered())? {
                Current::Ready(ready) => ready.policy,
                Current::Unguarded => Policy::default(),
                Current::Invalid { diagnostics, .. } => {
                    return Err(Problem::new(Code::PolicyInvalid, summary(&diagnostics)));
                }
            },
        };
        let unknown = || {
            let known: Vec<_> = policy.skills.iter().map(|skill| skill.name.as_str()).collect();
            let text = format!("there is no skill `{name}`; skills: [{}]", known.join(", "));
            Problem::new(Code::SkillUnknown, text)
        };
        let skill = policy.skill(name).ok_or_else(unknown)?;
        let mode = mode.unwrap_or(Mode::Warn).max(skill.mode.unwrap_or(Mode::Warn));
        Ok(Run::begun(skill, id, mode, By::Human))
    }

    fn seal_project(
        &self,
        damages: &Damages,
        damage: &Damage<ProjectSnapshot>,
        runs: Vec<Run>,
    ) -> Result<(Shared, Sealed), Problem> {
        let store = self.runtime.store.as_ref();
        // Where it can be locked, nobody writes to it while it is set aside.
        let lock = store.lock(&damage.path, &Deadline::new(LIMIT)).ok();
        let aside = set_aside(&damage.path)?;
        drop(lock);
        let (mut journal, mut state): (_, ProjectSnapshot) = Journal::open(store, &damage.path, &Deadline::new(LIMIT))?;
        let (event, skills) = self.event(None, damage, damage.readable, aside.as_ref(), &runs);
        let project = &damage.state.project;
        let runs_begun = project.runs_begun + runs.len() as u64;
        state.project =
            state::Project { runs: runs.into(), runs_begun, approvals: Default::default(), ..project.clone() };
        state.base = damages.seen.max(damage.state.base + damage.readable);
        state.synced = state.base + 1;
        state.guarded = damage.state.guarded || self.project.remembered()?.is_some();
        state.lost = damage.state.lost;
        (state.accepted, state.strength) = (damage.state.accepted.clone(), damage.state.strength.clone());
        let note = |(session, at): (&String, &Checkpoint)| {
            ProjectChange::Checkpoint(SessionCheckpoint { session: session.clone(), at: at.clone() })
        };
        let changes: Vec<_> = damages.whole.iter().map(note).collect();
        changes.iter().for_each(|change| state.apply(change));
        let entry = Entry { event, changes, ..self.entry() };
        journal.append(&entry, &state, Durability::Synced)?;
        Ok((Shared { journal, state }, Sealed { session: None, aside, skills }))
    }

    fn seal_session(&self, shared: &mut Shared, next: Next<'_>) -> Result<Sealed, Problem> {
        let Next { session, id, runs } = next;
        let (damage, store) = (&session.damage, self.runtime.store.as_ref());
        let aside = set_aside(&damage.path)?;
        let (mut journal, _): (_, SessionSnapshot) = Journal::open(store, &damage.path, &Deadline::new(LIMIT))?;
        let (event, skills) = self.event(Some(id), damage, session.known, aside.as_ref(), &runs);
        let project = shared.state.synced.max(shared.state.base + shared.journal.seq());
        let mut changes = carried_over(&damage.state, id);
        changes.extend(runs.into_iter().map(|run| SessionChange::Engine(Change::RunBegun(Box::new(run)))));
        changes.extend([SessionChange::ProjectSynced(project), SessionChange::Checkpointed(1)]);
        let mut state = SessionSnapshot::default();
        changes.iter().for_each(|change| state.apply(change));
        let entry = Entry {
            event: event.clone(),
            policy: damage.policy.clone(),
            project_seq: Some(project),
            changes,
            ..self.entry()
        };
        journal.append(&entry, &state, Durability::Synced)?;
        if kept_root(&self.runtime.locations, id).is_err() {
            set_aside(&session_root_file(&self.runtime.locations, &session.key))?;
        }
        self.project.keep_session(store, &self.runtime.locations, id)?;
        let at = Checkpoint { seq: journal.seq(), head: journal.head(), time: entry.time };
        let changes = vec![
            ProjectChange::Checkpoint(SessionCheckpoint { session: session.key.clone(), at }),
            ProjectChange::Synced(shared.state.base + shared.journal.seq() + 1),
        ];
        changes.iter().for_each(|change| shared.state.apply(change));
        let entry = Entry { event, changes, policy: shared.journal.policy().to_string(), ..self.entry() };
        shared.journal.append(&entry, &shared.state, Durability::Synced)?;
        Ok(Sealed { session: Some(id.to_string()), aside, skills })
    }

    /// What the records say of it, and the skills of the runs that go on.
    fn event<S>(
        &self,
        session: Option<&str>,
        damage: &Damage<S>,
        known: u64,
        aside: Option<&Aside>,
        runs: &[Run],
    ) -> (Value, Vec<String>) {
        let skills: Vec<String> = runs.iter().map(|run| run.skill.clone()).collect();
        let said = match self.choice {
            Choice::Keep => "keep",
            Choice::Run { .. } => "run",
            Choice::NoRun => "no_run",
        };
        let aside = aside.map(|aside| json!({"file": aside.name, "bytes": aside.bytes, "sha256": aside.sha256}));
        let mut event = json!({
            "event": "sealed",
            "by": By::Human,
            "problem": {"code": damage.problem.code, "message": damage.problem.message},
            "readable": damage.readable,
            "known": known,
            "aside": aside,
            "said": said,
            "skills": skills,
        });
        if let (Some(session), Value::Object(fields)) = (session, &mut event) {
            fields.insert("session".to_string(), Value::from(session));
        }
        (event, skills)
    }

    fn entry<C>(&self) -> Entry<C> {
        Entry { time: (self.runtime.now)(), engine: env!("CARGO_PKG_VERSION").to_string(), ..Entry::default() }
    }
}

/// What a session keeps beside its runs: who it is, who serves it, and the policy that it goes by.
fn carried_over(before: &SessionSnapshot, id: &str) -> Vec<SessionChange> {
    let seen = Change::Seen { session: Some(id.to_string()), permission_mode: before.session.permission_mode.clone() };
    vec![
        SessionChange::Engine(seen),
        SessionChange::Clients(before.clients.clone()),
        SessionChange::Guards(before.guards.clone()),
        SessionChange::Principal(before.principal.clone()),
        SessionChange::Memory(before.memory.clone()),
        SessionChange::Settings(Box::new(before.settings.clone())),
        SessionChange::PolicyDigest(before.policy_digest.clone()),
        SessionChange::Unwired(before.unwired.clone()),
    ]
}
