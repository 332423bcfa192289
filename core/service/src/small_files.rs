//! Small files that every event asks for, kept for as long as they are as they were.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use phasegate_adapter::Problem;
use phasegate_core::Policy;

use phasegate_runtime::locations::Locations;
use phasegate_runtime::policies::policy_store::PolicyStore;
use phasegate_runtime::project::{Project, Remembered, kept_root, session_key, session_root_file};
use phasegate_runtime::sessions::loaded::LoadedSession;
use phasegate_store::disk::mark::Mark;
use phasegate_store::journal::Journal;

/// What a file said, and how it was then; `None`: it was not there.
type Seen<T> = (Option<Mark>, T);

/// What is known of a project's small files.
#[derive(Debug, Default)]
pub(crate) struct SmallFiles {
    remembered: Option<Seen<Option<Remembered>>>,
    /// By digest: the file's mark, and the policy as long as a session uses it.
    policies: BTreeMap<String, (Mark, Weak<Policy>)>,
}

/// The current mark of a file; `None` if the file is missing or cannot be read.
fn mark(path: &Path) -> Option<Mark> {
    path.symlink_metadata().ok().map(|data| Mark::of(&data))
}

impl SmallFiles {
    /// As [`Project::remembered`].
    pub(crate) fn remembered(&mut self, project: &Project) -> Result<Option<Remembered>, Problem> {
        let now = mark(&project.memory());
        if let Some((seen, known)) = &self.remembered
            && *seen == now
            && now.is_some()
        {
            return Ok(*known);
        }
        let known = project.remembered()?;
        self.remembered = Some((now, known));
        Ok(known)
    }

    /// The stored policy with this digest, as other sessions hold it, or read anew; `None`: the store must say why not.
    pub(crate) fn policy(&mut self, store: &PolicyStore, version: &str, digest: &str) -> Option<Arc<Policy>> {
        if version.is_empty() {
            return None;
        }
        let now = mark(&store.policy_file(digest)?)?;
        if let Some((seen, known)) = self.policies.get(digest)
            && *seen == now
            && let Some(known) = known.upgrade().filter(|known| known.version == version)
        {
            return Some(known);
        }
        let policy = Arc::new(store.plain(version, digest)?);
        self.policies.retain(|_, (_, known)| known.strong_count() > 0);
        self.policies.insert(digest.to_string(), (now, Arc::downgrade(&policy)));
        Some(policy)
    }

    /// Gives the session the policy that its last record was decided by, where it does not have it, or the file is not
    /// as it was any more. Where that cannot be, it has none, and the transaction asks the store; so it does for skills of
    /// earlier policies, each time.
    pub(crate) fn policy_of(&mut self, store: &PolicyStore, journal: &Journal, own: &mut LoadedSession) {
        let known = self.policy(store, journal.policy(), &own.snapshot.policy_digest);
        let kept = known.is_some() && own.policy.version == journal.policy() && own.policy.earlier.is_empty();
        if !kept {
            own.policy = known.unwrap_or_default();
        }
    }

    /// Lets the session have the policy that others have, if it is the same.
    pub(crate) fn share(&mut self, store: &PolicyStore, own: &mut LoadedSession) {
        let known = self.policies.get(&own.snapshot.policy_digest);
        if known.is_some_and(|(_, known)| std::ptr::eq(known.as_ptr(), Arc::as_ptr(&own.policy))) {
            return;
        }
        if let Some(known) = self.policy(store, &own.policy.version, &own.snapshot.policy_digest)
            && own.policy.earlier.is_empty()
        {
            own.policy = known;
        }
    }
}

/// What is kept of where a session began, for as long as the file is as it was.
#[derive(Debug, Default)]
pub(crate) struct Root(Option<Seen<Option<PathBuf>>>);

impl Root {
    /// As [`kept_root`].
    pub(crate) fn get(&mut self, locations: &Locations, session: &str) -> Result<Option<PathBuf>, Problem> {
        let now = mark(&session_root_file(locations, &session_key(session)));
        if let Some((seen, known)) = &self.0
            && *seen == now
        {
            return Ok(known.clone());
        }
        let known = kept_root(locations, session)?;
        self.0 = Some((now, known.clone()));
        Ok(known)
    }
}
