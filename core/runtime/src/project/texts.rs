//! The texts of configs, as they are stored under their digest.

use std::path::PathBuf;

use phasegate_adapter::Problem;
use phasegate_config::{Kind, Level, SourceFile, names_permissions};
use phasegate_store::digest::sha256_hex;
use phasegate_store::disk::ownership::{is_own, read_own};
use phasegate_store::store::Store;
use serde::{Deserialize, Serialize};

use crate::locations::Locations;
use crate::project::discover::Found;

/// The file that names the user's texts, which are those of every project.
const USER: &str = "user";
/// No texts, as they are stored.
const EMPTY: &[u8] = b"[]";

/// The digests of the texts that decide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// Of the project's: the same on every machine.
    pub project: String,
    /// Of the user's, and of those of the machine that the user could change.
    pub user: String,
}

/// Whose texts are accepted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Project,
    User,
    /// Another user wrote them, whom no agent of this one can act for.
    Administrator,
}

/// Texts that decide.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// Their digests.
    pub accepted: Accepted,
    /// The project's, as they are stored.
    project: Vec<u8>,
    /// The user's.
    user: Vec<u8>,
}

impl Texts {
    pub(crate) fn of(found: &Found) -> Self {
        let (project, user) = (stored(found, Part::Project), stored(found, Part::User));
        Self { accepted: Accepted { project: sha256_hex(&project), user: sha256_hex(&user) }, project, user }
    }

    /// Keeps the texts, before anything names them.
    ///
    /// # Errors
    ///
    /// `state-not-saved`: they cannot be written.
    pub fn keep(&self, locations: &Locations, store: &dyn Store) -> Result<(), Problem> {
        let Accepted { project, user } = &self.accepted;
        for (digest, bytes) in [(project, &self.project), (user, &self.user)] {
            let path = file(locations, digest);
            if store.read(&path).ok().flatten().as_ref() != Some(bytes) {
                store.replace(&path, bytes)?;
            }
        }
        let pointer = file(locations, USER);
        let known = store.read(&pointer).ok().flatten();
        // Until the user has configs there is nothing to keep them by.
        if known.as_deref() != Some(user.as_bytes()) && (known.is_some() || self.user != EMPTY) {
            store.replace(&pointer, user.as_bytes())?;
        }
        Ok(())
    }
}

/// The digest of the user's texts that were accepted, in whatever project; `None` if that is not kept.
pub(crate) fn of_user(locations: &Locations) -> Option<String> {
    let digest = String::from_utf8(read_own(&file(locations, USER)).ok()?).ok()?;
    (digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(digest)
}

/// Whether this is the digest of no texts at all.
pub(crate) fn is_of_none(digest: &str) -> bool {
    sha256_hex(EMPTY) == digest
}

/// The texts with this digest; `None` if they are gone or were changed.
pub(crate) fn read(locations: &Locations, digest: &str) -> Option<Vec<SourceFile>> {
    if is_of_none(digest) {
        return Some(Vec::new());
    }
    let bytes = read_own(&file(locations, digest)).ok().filter(|bytes| sha256_hex(bytes) == digest)?;
    serde_json::from_slice(&bytes).ok()
}

fn file(locations: &Locations, name: &str) -> PathBuf {
    locations.state.join("accepted").join(name)
}

pub(crate) fn part_of(file: &SourceFile) -> Part {
    match file.level {
        Level::Project => Part::Project,
        Level::Machine if !is_own(file.path.as_ref()) => Part::Administrator,
        Level::User | Level::Machine => Part::User,
    }
}

/// The texts of a part that mean anything to the guard.
fn stored(found: &Found, part: Part) -> Vec<u8> {
    let means = |file: &&SourceFile| file.kind != Kind::SkillMd || names_permissions(&file.text);
    let texts: Vec<_> = found.files.iter().filter(|file| part_of(file) == part).filter(means).collect();
    serde_json::to_vec(&texts).unwrap_or_default()
}
