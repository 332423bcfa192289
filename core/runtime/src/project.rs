//! The project: which folder is guarded, and where its state lives.

pub mod paths;
pub mod discover;
pub mod texts;
pub mod strays;
pub(crate) mod project_folders;
pub(crate) mod repository;
pub(crate) mod descendant_projects;
pub mod other_projects;
pub mod guarded_projects;
pub mod misplaced_files;
pub mod first_look;

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use phasegate_adapter::Problem;
use phasegate_core::Code;
use phasegate_core::policy::Mode;
use serde::{Deserialize, Serialize};

use crate::bounds::{self, MAX_PATH_BYTES};
use crate::locations::{CONFIG_FOLDER, Locations};
use crate::project::discover::guards_itself;
use phasegate_store::digest::sha256_hex;
use phasegate_store::disk::ownership::{self, read_own};
use phasegate_store::error::{StoreError, StoreErrorKind};
use phasegate_store::store::Store;

/// How many digits of a digest name a project or a session.
const DIGITS: usize = 32;

/// A project and the folder of its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// The root folder, without links.
    pub root: PathBuf,
    /// Journals and memory of this project; does not exist until it is guarded.
    pub folder: PathBuf,
}

/// What is remembered about a project that was guarded by configs of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remembered {
    /// The strictest mode that was last known.
    pub mode: Mode,
    /// Whether sessions were seen, so that there must be a journal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sessions: bool,
    /// How many records the project's journal had, once one that must not be lost was on the disk: the journal's head,
    /// known outside of it.
    #[serde(default, skip_serializing_if = "phasegate_core::values::is_default")]
    pub records: u64,
    /// Whether the file does not say it, so that the strictest is taken; the next record writes it anew.
    #[serde(skip)]
    pub damaged: bool,
}

impl Remembered {
    /// A project that no session was seen of.
    pub fn new(mode: Mode) -> Self {
        Self { mode, sessions: false, records: 0, damaged: false }
    }
}

impl Project {
    /// The project that `start` lies in: the nearest folder from there upwards that has configs in a `.phasegate` folder,
    /// is remembered as guarded, or is a worktree of a repository whose main folder is; else the nearest one with an empty `.phasegate` folder, else with `.git`, else
    /// `start` itself.
    pub fn find(locations: &Locations, start: &Path) -> Self {
        let start = start.canonicalize().unwrap_or_else(|_| start.to_path_buf());
        let at = |root: &Path| Self::at(locations, root);
        let guarded = |root: &&Path| at(root).is_guarded_anywhere(locations);
        let root = start
            .ancestors()
            .find(guarded)
            .or_else(|| start.ancestors().find(|root| root.join(CONFIG_FOLDER).is_dir()))
            .or_else(|| start.ancestors().find(|root| root.join(".git").exists()))
            .unwrap_or(&start);
        at(root)
    }

    /// The project that a session began in; `None` if that is not known.
    ///
    /// # Errors
    ///
    /// `state-unreadable`: it is kept and cannot be read.
    pub fn of_session(locations: &Locations, session: &str) -> Result<Option<Self>, Problem> {
        Ok(kept_root(locations, session)?.map(|root| Self::at(locations, &root)))
    }

    /// Keeps that a session began in this project.
    ///
    /// # Errors
    ///
    /// `state-not-saved`: the state folder cannot be written.
    pub fn keep_session(&self, store: &dyn Store, locations: &Locations, session: &str) -> Result<(), Problem> {
        Ok(store.replace(&session_root(&locations.state, session), self.root.as_os_str().as_encoded_bytes())?)
    }

    /// The project whose root is this folder, given without links.
    pub fn at(locations: &Locations, root: &Path) -> Self {
        let name = name_of(root.as_os_str().as_encoded_bytes());
        Self { root: root.to_path_buf(), folder: locations.state.join("projects").join(name) }
    }

    /// Whether the project has configs in a `.phasegate` folder of its own or is remembered as guarded.
    pub fn is_guarded(&self) -> bool {
        self.memory().exists() || guards_itself(&self.root)
    }

    /// Whether it has configs in a `.phasegate` folder of its own.
    pub fn has_configs(&self) -> bool {
        guards_itself(&self.root)
    }

    /// Whether it is guarded, or is a worktree of a repository whose main folder is.
    pub fn is_guarded_anywhere(&self, locations: &Locations) -> bool {
        self.is_guarded() || worktree_of(&self.root).is_some_and(|main| Self::at(locations, &main).is_guarded())
    }

    /// The journal of what belongs to the project as a whole.
    pub fn journal(&self) -> PathBuf {
        self.folder.join("project.journal")
    }

    /// The folder of the sessions' journals.
    pub fn sessions(&self) -> PathBuf {
        self.folder.join("sessions")
    }

    /// The journal of one session.
    pub fn session_journal(&self, session: &str) -> PathBuf {
        self.session_file(&session_key(session))
    }

    /// The journal of the session that this name stands for.
    pub fn session_file(&self, key: &str) -> PathBuf {
        self.sessions().join(format!("{key}.journal"))
    }

    /// Whether the folders of the project's state are the user's alone. `state` is the folder of all state.
    ///
    /// # Errors
    ///
    /// `state-exposed`: one belongs to another user, others can write to it, or it is a link. `state-unreadable`: its
    /// metadata cannot be read.
    pub fn check_folders(&self, state: &Path) -> Result<(), Problem> {
        Ok(ownership::check_folders(state, &[&state.join("projects"), &self.folder, &self.sessions()])?)
    }

    /// The journals of the sessions that are there, by file name.
    pub fn session_journals(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.sessions()).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut paths: Vec<_> = entries.filter(|path| path.extension().is_some_and(|end| end == "journal")).collect();
        paths.sort();
        paths
    }

    /// What is remembered about the project; `None` if it was never guarded by configs of its own.
    ///
    /// A file that is empty or damaged stands for the strictest that it can have said: the project goes on by that.
    ///
    /// # Errors
    ///
    /// `state-unreadable`, `state-exposed`: something is remembered and cannot be opened.
    pub fn remembered(&self) -> Result<Option<Remembered>, Problem> {
        let strictest = Remembered { sessions: true, damaged: true, ..Remembered::new(Mode::Block) };
        let bytes = read_small(&self.memory())?;
        Ok(bytes.map(|bytes| serde_json::from_slice(&bytes).unwrap_or(strictest)))
    }

    /// Remembers that the project is guarded, and how strictly.
    ///
    /// # Errors
    ///
    /// `state-not-saved`: the state folder cannot be written.
    pub fn remember(&self, store: &dyn Store, memory: Remembered) -> Result<(), Problem> {
        let (root, text) = (self.folder.join("root"), self.root.as_os_str().as_encoded_bytes());
        if store.read(&root).ok().flatten().as_deref() != Some(text) {
            store.replace(&root, text)?;
        }
        Ok(store.replace(&self.memory(), &serde_json::to_vec(&memory).unwrap_or_default())?)
    }

    /// The file that remembers that the project is guarded.
    pub fn memory(&self) -> PathBuf {
        self.folder.join("guarded")
    }
}

/// The main folder of the repository that this folder is a worktree of; `None` where it is none.
pub(crate) fn worktree_of(root: &Path) -> Option<PathBuf> {
    let text = bounds::read(&root.join(".git"), MAX_PATH_BYTES as u64).ok()?;
    let own = root.join(text.strip_prefix("gitdir:")?.trim());
    let all = own.parent().filter(|all| all.file_name().is_some_and(|name| name == "worktrees"))?;
    all.parent()?.parent()?.canonicalize().ok()
}

/// The name of a session in file names and checkpoints.
pub fn session_key(session: &str) -> String {
    name_of(session.as_bytes())
}

/// The names that stand for the sessions that began in this project, as far as that is kept.
pub fn kept_sessions(locations: &Locations, project: &Project) -> Vec<String> {
    let entries = std::fs::read_dir(locations.state.join("sessions")).into_iter().flatten().flatten();
    let here = |path: &Path| std::fs::read(path).is_ok_and(|root| path_from(root) == project.root);
    let names = entries.filter(|entry| here(&entry.path())).map(|entry| entry.file_name());
    names.filter_map(|name| name.into_string().ok()).filter(|name| name.len() == DIGITS).collect()
}

/// The root of the project that a session began in; `None` if that is not kept.
///
/// # Errors
///
/// `state-unreadable`, `state-exposed`: it is kept and cannot be read, or may be someone else's.
pub fn kept_root(locations: &Locations, session: &str) -> Result<Option<PathBuf>, Problem> {
    Ok(read_small(&session_root(&locations.state, session))?.map(path_from))
}

/// When the session's first record was written; `None` if that is not kept.
pub(crate) fn session_began(locations: &Locations, session: &str) -> Option<SystemTime> {
    session_root(&locations.state, session).metadata().ok()?.modified().ok()
}

fn read_small(path: &Path) -> Result<Option<Vec<u8>>, Problem> {
    match read_own(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(no_folder(path)),
        Err(error) => Err(StoreError::from_io(StoreErrorKind::Unreadable, path, "cannot be read", &error).into()),
    }
}

/// The problem with a file that lies below something that is no folder.
fn no_folder(path: &Path) -> Problem {
    let found = path.ancestors().skip(1).find(|above| above.exists()).unwrap_or(path).display();
    let text = format!("`{found}` is no folder, and the state lies below it");
    Problem::new(Code::StateUnreadable, text).with_remedy(format!("ask the user to move `{found}` away"))
}

/// The projects that anything is kept about. The root of one that was never guarded by configs of its own is empty.
pub fn every_project(locations: &Locations) -> Vec<Project> {
    let entries = std::fs::read_dir(locations.state.join("projects")).into_iter().flatten().flatten();
    let mut folders: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    let root = |folder: &Path| read_own(&folder.join("root")).map(path_from).unwrap_or_default();
    folders.into_iter().map(|folder| Project { root: root(&folder), folder }).collect()
}

/// The file that keeps the root of the project that a session began in.
fn session_root(state: &Path, session: &str) -> PathBuf {
    state.join("sessions").join(session_key(session))
}

/// As [`session_root`], by the name that stands for the session.
pub fn session_root_file(locations: &Locations, key: &str) -> PathBuf {
    locations.state.join("sessions").join(key)
}

#[cfg(unix)]
fn path_from(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

#[cfg(not(unix))]
fn path_from(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

fn name_of(bytes: &[u8]) -> String {
    sha256_hex(bytes).chars().take(DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use phasegate_store::file_store::FileStore;

    #[test]
    fn the_nearest_guarded_folder_is_the_project_also_after_its_config_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let locations = Locations {
            state: top.join("state"),
            user: top.join("user"),
            machine: top.join("machine"),
            home: top.clone(),
        };
        let (outer, inner) = (top.join("outer"), top.join("outer/inner"));
        std::fs::create_dir_all(inner.join(".git")).unwrap();
        assert_eq!(Project::find(&locations, &inner).root, inner);
        std::fs::create_dir_all(outer.join(CONFIG_FOLDER)).unwrap();
        let project = Project::find(&locations, &inner);
        assert_eq!((&project.root, project.remembered()), (&outer, Ok(None)));
        project.remember(&FileStore, Remembered::new(Mode::Block)).unwrap();
        std::fs::remove_dir(outer.join(CONFIG_FOLDER)).unwrap();
        let again = Project::find(&locations, &inner);
        assert_eq!((again.root.clone(), again.remembered()), (outer, Ok(Some(Remembered::new(Mode::Block)))));
        std::fs::create_dir_all(inner.join(CONFIG_FOLDER).join("skills")).unwrap();
        assert_eq!(
            Project::find(&locations, &inner).root,
            again.root,
            "a nearer folder without a config hides nothing"
        );
        std::fs::write(inner.join(CONFIG_FOLDER).join("config.yaml"), "mode: warn\n").unwrap();
        assert_eq!(Project::find(&locations, &inner).root, inner);
        std::fs::remove_dir_all(inner.join(CONFIG_FOLDER)).unwrap();
        crate::sessions::integrity::forget(&again).unwrap();
        assert_eq!(Project::find(&locations, &inner).root, inner);
    }

    #[test]
    fn a_worktree_is_guarded_as_its_repository_is() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let locations =
            Locations { state: top.join("s"), user: top.join("u"), machine: top.join("m"), home: top.clone() };
        let (main, tree) = (top.join("main"), top.join("tree"));
        for path in [main.join(".git/worktrees/tree"), main.join(CONFIG_FOLDER), tree.join("src")] {
            std::fs::create_dir_all(path).unwrap();
        }
        std::fs::write(tree.join(".git"), format!("gitdir: {}/.git/worktrees/tree\n", main.display())).unwrap();
        assert!(!Project::at(&locations, &tree).is_guarded_anywhere(&locations));
        std::fs::write(main.join(CONFIG_FOLDER).join("config.yaml"), "mode: warn\n").unwrap();
        assert_eq!(Project::find(&locations, &tree.join("src")).root, tree);
        // A module of a repository is none of its worktrees.
        std::fs::write(tree.join(".git"), format!("gitdir: {}/.git/modules/tree\n", main.display())).unwrap();
        assert!(!Project::at(&locations, &tree).is_guarded_anywhere(&locations));
    }

    #[test]
    fn a_session_is_known_by_the_project_it_began_in() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().to_path_buf();
        let locations =
            Locations { state: top.join("state"), user: top.join("u"), machine: top.join("m"), home: top.clone() };
        assert_eq!(Project::of_session(&locations, "s"), Ok(None));
        let project = Project::at(&locations, &top.join("p"));
        project.keep_session(&FileStore, &locations, "s").unwrap();
        assert_eq!(Project::of_session(&locations, "s"), Ok(Some(project)));
    }
}
