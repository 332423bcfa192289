//! The effect of a changed config on live sessions (rules 4).

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use phasegate_adapter::Problem;
use phasegate_core::policy::{Mode, Policy, Skill};
use phasegate_core::{Code, State};
use phasegate_shell::Readers;
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::read_last;

use crate::clients::client_texts::Search;
use crate::policies::acceptance::gone;
use crate::policies::policy_store::{Current, KeptSettings, summary};
use crate::project::Project;
use crate::runtime::Runtime;
use crate::sessions::snapshot::SessionSnapshot;
use crate::sessions::{SessionInfo, sessions};

/// A session that was active within this time may still go on.
const LIVE_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// What would change for one session.
#[derive(Clone, Debug, PartialEq)]
pub struct Reload {
    /// The platform's id of the session.
    pub session: String,
    /// Its current policy version; empty if it has none.
    pub from: String,
    /// The policy version that it would go by; empty if no config guards it any more.
    pub to: String,
    /// The names of skills that would apply and do not now.
    pub added: Vec<String>,
    /// The names of skills that would no longer apply.
    pub removed: Vec<String>,
    /// The names of skills that would be others under the same name.
    pub changed: Vec<String>,
    /// The mode that the settings ask for, now and then, where they differ.
    pub mode: Option<(Option<Mode>, Option<Mode>)>,
    /// Where the audit events are also written, now and then, where they differ.
    pub audit_log: Option<(Option<String>, Option<String>)>,
    /// The skills whose live runs keep the version they began with, though it would be another.
    pub kept: Vec<String>,
    /// The commands that would be trusted again to only read.
    pub distrusted: BTreeSet<Readers>,
    /// The MCP servers whose results would be evidence again.
    pub unproven: BTreeSet<String>,
    /// Whether files changed that the client loads texts from.
    pub texts: bool,
}

impl Reload {
    /// Whether the session already uses the current configs.
    pub fn is_empty(&self) -> bool {
        !self.changes_configs() && self.distrusted.is_empty() && self.unproven.is_empty() && !self.texts
    }

    /// Whether the session goes by other configs than those of now.
    pub fn changes_configs(&self) -> bool {
        self.from != self.to || self.mode.is_some() || self.audit_log.is_some()
    }
}

impl Runtime {
    /// What a reload would change, for the session with this id, else for each that has not ended and was active in the
    /// last day: one that is resumed reads the configs anyway. Nothing is changed.
    ///
    /// # Errors
    ///
    /// `policy-invalid`, `policy-missing`: the configs cannot be used. `state-unreadable`, `state-version`: a journal
    /// cannot be read.
    pub fn reloads(&self, project: &Project, session: Option<&str>) -> Result<Vec<Reload>, Problem> {
        let (policy, settings) = match self.offered(project)?.current {
            Current::Ready(ready) => (ready.policy, ready.settings),
            Current::Invalid { diagnostics, .. } => {
                return Err(Problem::new(Code::PolicyInvalid, summary(&diagnostics)));
            }
            Current::Unguarded if project.remembered()?.is_some() => {
                return Err(gone(project));
            }
            Current::Unguarded => (Policy::default(), KeptSettings::default()),
        };
        let recent = |active: SystemTime| active.elapsed().unwrap_or_default() < LIVE_FOR;
        let live = |known: &SessionInfo| !known.state.session.ended && recent(known.active);
        let mut found = Vec::new();
        for known in sessions(project)?.known {
            if session.map_or_else(|| live(&known), |id| id == known.id) {
                found.push(self.reload_of(project, &known, &policy, &settings)?);
            }
        }
        Ok(found)
    }

    fn reload_of(
        &self,
        project: &Project,
        session: &SessionInfo,
        policy: &Policy,
        settings: &KeptSettings,
    ) -> Result<Reload, Problem> {
        let own = read_last::<SessionSnapshot>(&FileStore, &project.session_journal(&session.id))?
            .map(|last| last.state)
            .unwrap_or_default();
        // Of a policy that is gone nothing can be compared: every skill counts as added.
        let before = self.policies.load(&session.policy, &session.policy_digest, &State::default()).unwrap_or_default();
        // A part keeps what the run keeps that it is a part of: nobody ends it by itself.
        let live = session.state.live_runs().filter(|run| run.parent.is_none());
        let kept = live.filter(|run| !self.policies.follows(run, policy.skill(&run.skill)));
        let names = |skills: Vec<&Skill>| skills.into_iter().map(|skill| skill.name.clone()).collect();
        let in_both = policy.skills.iter().filter_map(|skill| Some((skill, before.skill(&skill.name)?)));
        Ok(Reload {
            session: session.id.clone(),
            from: session.policy.clone(),
            to: policy.version.clone(),
            added: names(policy.skills.iter().filter(|skill| before.skill(&skill.name).is_none()).collect()),
            removed: names(before.skills.iter().filter(|skill| policy.skill(&skill.name).is_none()).collect()),
            changed: names(in_both.filter(|(new, old)| new.version != old.version).map(|(new, _)| new).collect()),
            mode: Some((own.settings.mode, settings.mode)).filter(|(now, then)| now != then),
            audit_log: Some((own.settings.audit_log, settings.audit_log.clone())).filter(|(now, then)| now != then),
            kept: kept.map(|run| run.skill.clone()).collect(),
            texts: self.texts_changed(project, &own.texts),
            distrusted: own.distrusted,
            unproven: own.unproven,
        })
    }

    /// Whether the files are others from which a session that knows these places loads texts.
    fn texts_changed(&self, project: &Project, known: &BTreeMap<String, String>) -> bool {
        let (platforms, home, root) = (self.platforms.places(), &self.locations.home, &project.root);
        let now = Search::knowing(platforms, home, root, root, known).stamps(&|_| true);
        now.iter().any(|(name, stamp)| known.get(name).map_or("", String::as_str) != stamp.as_str())
    }
}
