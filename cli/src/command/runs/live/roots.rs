//! The runs of a project's sessions that are part of no other, live and ended.

use phasegate_config::find_shipped;
use phasegate_core::policy::Skill;
use phasegate_core::state::{Run, Status};
use phasegate_runtime::policies::policy_store::Current;
use phasegate_runtime::sessions::{SessionInfo, sessions};
use phasegate_runtime::{Project, Runtime};
use serde_json::Value;

use crate::command::runs::control::{in_full, no_session};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// What there is in a project.
pub(crate) struct Roots {
    pub(crate) runtime: Runtime,
    pub(crate) project: Project,
    /// The sessions, those that go on and were active last first.
    pub(crate) sessions: Vec<SessionInfo>,
}

/// A run that is part of no other, and the session that shows it.
#[derive(Clone, Copy)]
pub(crate) struct Root<'a> {
    pub(crate) session: &'a SessionInfo,
    pub(crate) run: &'a Run,
}

impl Roots {
    /// Looks.
    ///
    /// # Errors
    ///
    /// The session is not known, or the journals cannot be listed.
    pub(crate) fn found(context: &Context, session: Option<&String>) -> Result<Self, Failure> {
        let (runtime, project) = context.runtime_and_project()?;
        let mut known = sessions(&project)?.known;
        if let Some(id) = in_full(&project, session)? {
            known.retain(|session| session.id == id);
            if known.is_empty() {
                return Err(no_session(&project, &id));
            }
        }
        known.sort_by_key(|session| session.state.session.ended);
        Ok(Self { runtime, project, sessions: known })
    }

    /// Every root run, of each session the one that began last first. One of the project stands with the first session.
    pub(crate) fn roots(&self) -> Vec<Root<'_>> {
        let mut roots: Vec<Root<'_>> = Vec::new();
        for session in &self.sessions {
            let all = session.state.session.runs.iter().rev().chain(session.state.project.runs.iter().rev());
            for run in all.filter(|run| run.parent.is_none()) {
                let is_seen = |known: &Root<'_>| known.run.id == run.id && run.id.starts_with('p');
                if !roots.iter().any(is_seen) {
                    roots.push(Root { session, run });
                }
            }
        }
        roots
    }

    /// The root run of this skill, or of any: a live one, else the one that ended last.
    ///
    /// # Errors
    ///
    /// There is none.
    pub(crate) fn root(&self, skill: Option<&String>) -> Result<Root<'_>, Failure> {
        let roots = self.roots();
        let fits = |root: &&Root<'_>| skill.is_none_or(|skill| root.run.skill == *skill);
        let is_live = |root: &&Root<'_>| root.run.status == Status::Active;
        // A denial may name a part.
        let has = |root: &&Root<'_>| {
            root.parts(root.run)
                .any(|part| part.status == Status::Active && skill.is_some_and(|skill| part.skill == *skill))
        };
        let live = roots.iter().filter(fits).find(is_live);
        let found = live.or_else(|| roots.iter().filter(is_live).find(has)).or_else(|| roots.iter().find(fits));
        found.copied().ok_or_else(|| self.none(skill.map(String::as_str)))
    }

    /// That there is no run of this skill, or no such skill.
    pub(crate) fn none(&self, skill: Option<&str>) -> Failure {
        let known = skill.is_none_or(|skill| {
            let applies = || match self.runtime.current(&self.project) {
                Ok(Current::Ready(ready)) => ready.policy.skill(skill).is_some(),
                // Where the configs have mistakes, the skill may be one of theirs.
                Ok(Current::Invalid { .. }) | Err(_) => true,
                Ok(Current::Unguarded) => false,
            };
            find_shipped(skill).is_some() || applies()
        });
        if let Some(skill) = skill.filter(|_| !known) {
            return Failure::new(format!("there is no skill `{skill}`"))
                .with_help("`phasegate skill list` lists the skills");
        }
        let named = skill.map(|skill| format!(" of `{skill}`")).unwrap_or_default();
        Failure { exit: Exit::No, ..Failure::new(format!("no session has had a run{named}")) }
            .with_help("`phasegate start NAME` begins one")
    }

    /// The skill that a run follows, with its values; `None` if it is no longer stored.
    pub(crate) fn skill(&self, run: &Run) -> Option<Skill> {
        self.runtime.policies.skill(&run.version)
    }

    /// What is known of a live run besides its state: the answer of `runs`.
    pub(crate) fn answer(&self, root: Root<'_>) -> Option<Value> {
        let runs = self.runtime.runs(&self.project, Some(root.session)).ok()?;
        let is_it = |run: &&Value| run.get("run").and_then(Value::as_str) == Some(root.run.id.as_str());
        runs.as_array()?.iter().find(is_it).cloned()
    }
}

impl<'a> Root<'a> {
    /// The runs that a run's phases consist of or consisted of, in the order in which they began.
    pub(crate) fn parts(self, of: &'a Run) -> impl Iterator<Item = &'a Run> {
        let all = self.session.state.project.runs.iter().chain(&self.session.state.session.runs);
        all.filter(move |run| run.parent.as_ref() == Some(&of.id))
    }
}
