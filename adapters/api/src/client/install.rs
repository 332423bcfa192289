//! Installing as data: which files change, and how. The CLI shows, applies and undoes the changes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use phasegate_core::Code;
use phasegate_core::policy::Mode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::client::permission::Permission;
use crate::client::program::ClientProgram;
use crate::problem::Problem;

/// The program that hooks and plugins start, the same words on each machine: a link at one place below every user's home,
/// which `init` makes, so that nothing is looked up by its name. `$HOME/` stands for that home.
pub const PROGRAM: &str = "$HOME/.local/share/phasegate/bin/phasegate";

/// The folder of the files that clients start as their shells, each with the name of the shell that it stands in for.
pub const SHELLS: &str = "$HOME/.local/share/phasegate/shell";

/// The variables that say where the guard's state is, the surest first.
pub const STATE_VARIABLES: [&str; 3] = ["PHASEGATE_STATE_DIR", "XDG_STATE_HOME", "HOME"];

/// The names under which the program is a shell.
pub const SHELL_NAMES: [&str; 2] = ["bash", "zsh"];

/// The file in which the shell is kept that a person gave a client before, in the client's own folder of [`SHELLS`].
pub const GIVEN_SHELL: &str = "given";

/// The variable in which the shell is kept that a person gave a client before.
pub const CHAINED_SHELL: &str = "PHASEGATE_SHELL";

/// What of a program's path lies below the user's home, where the path is written so.
#[must_use]
pub fn below_home(program: &str) -> Option<&str> {
    program.strip_prefix("$HOME/")
}

/// Puts phasegate into a platform's settings, as data. An installer writes nothing: the caller applies the changes.
pub trait Installer: Send + Sync {
    /// Where the platform keeps skills and settings.
    fn places(&self) -> Places;

    /// The platform's own program, as an agent may run it.
    fn programs(&self) -> &'static [ClientProgram] {
        &[]
    }

    /// What a person types right before a skill's name to invoke it.
    fn skill_command(&self) -> &'static str {
        "/"
    }

    /// The changes that make the platform start the guard.
    ///
    /// # Errors
    ///
    /// An existing settings file cannot be parsed, and rewriting it would lose something.
    fn install(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem>;

    /// As [`Installer::install`], for parts of the platform's settings only, such as servers by name.
    ///
    /// # Errors
    ///
    /// As for [`Installer::install`]; the settings have no such part.
    fn install_parts(&self, request: &InstallRequest, parts: &Parts) -> Result<Vec<Change>, Problem> {
        let what = match (parts.servers.first(), parts.in_force.first()) {
            (None, None) => return self.install(request),
            (Some(server), _) => {
                format!("the settings of this platform have no server `{server}` to put the guard before")
            }
            (None, Some(skill)) => format!(
                "the settings of this platform cannot put `{skill}` in force; `phasegate start {skill}` does, for all \
                 sessions of the project"
            ),
        };
        Err(Problem::new(Code::ConfigValue, what))
    }

    /// As [`Installer::install`], into settings of the project that one person keeps to themselves; `None` where the
    /// platform has none.
    ///
    /// # Errors
    ///
    /// As for [`Installer::install`].
    fn install_local(&self, _request: &InstallRequest) -> Result<Option<Vec<Change>>, Problem> {
        Ok(None)
    }

    /// The changes that undo [`Installer::install`] and [`Installer::install_local`]. They remove only what phasegate
    /// added.
    ///
    /// # Errors
    ///
    /// As for [`Installer::install`].
    fn uninstall(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem>;

    /// Whether an installation for a project also goes into the user's settings: the platform loads a project's settings
    /// only where it is started in the project's root, and starts the same hook of several settings once.
    fn in_both_scopes(&self) -> bool {
        false
    }

    /// The folder whose settings a client reads as the project's if it is started in the folder `start` of the project with
    /// this root.
    fn project_folder<'a>(&self, _root: &'a Path, start: &'a Path) -> &'a Path {
        start
    }

    /// Whether what a project shares names the program as `PATH` finds it: the platform's settings know no folder of the
    /// user's.
    fn by_name(&self) -> bool {
        false
    }

    /// Whether what [`Installer::install`] writes depends on [`InstallRequest::mode`].
    fn writes_mode(&self) -> bool {
        false
    }

    /// What the user must know or do after the installation, each as a fragment without a full stop.
    fn advice(&self, _request: &InstallRequest) -> Vec<String> {
        Vec::new()
    }

    /// The hooks of a settings file, where the client starts only those that a person trusts: the name under which the client keeps
    /// that one is trusted, with the digest that it keeps. The settings are the file's value.
    fn digests(&self, _path: &Path, _settings: &Value) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Why the platform would not start the guard with the settings of the request; `None` if it would. The runtime
    /// asks when a session starts and when settings change.
    fn unguarded(&self, request: &InstallRequest) -> Option<String>;

    /// The permissions that a settings file gives, in the file's order; none where the platform has none.
    ///
    /// # Errors
    ///
    /// The file cannot be read as the platform reads it.
    fn permissions(&self, _path: &Path, _text: &str) -> Result<Vec<Permission>, Problem> {
        Ok(Vec::new())
    }

    /// The folders outside of its usual places that the platform loads programs into itself from, as these settings say.
    fn loads_from(&self, _path: &Path, _text: &str) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The files of the machine's own by which the platform loads no programs of others into itself, which an administrator
    /// writes; none where the platform has no such settings. What the files say before is left out.
    fn managed(&self, _request: &InstallRequest) -> Vec<Change> {
        Vec::new()
    }

    /// What an entry of `allowed-tools` in a `SKILL.md` permits; `None` where the platform reads no such list.
    fn allowed_tool(&self, _written: &str) -> Option<Permission> {
        None
    }

    /// The first of these settings files that starts the guard in a form which denies where the guard is not there: what
    /// an installation in block mode writes.
    fn demands_guard<'a>(&self, _settings: &'a BTreeMap<PathBuf, String>) -> Option<&'a Path> {
        None
    }
}

/// Where a platform keeps what matters to the guard. Paths that begin with `~/` are below the user's home.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// Folders whose subfolders hold a `SKILL.md`, relative to the project or the user's home.
    pub skill_folders: Vec<String>,
    /// Settings files that can switch the guard off; those that begin with `/` are the machine's.
    pub settings: Vec<String>,
    /// Other files, and folders if they end with `/`, that the platform obeys or runs without asking the guard. They are
    /// protected as settings are. A name `*` stands for any one name.
    pub unseen: Vec<String>,
    /// Those of these files and folders that the client itself changes while it works, so that a change of them says nothing.
    pub changed_by_client: Vec<String>,
    /// The keys of its settings that the client itself changes while it works.
    pub client_keys: Vec<String>,
    /// Folders of agents, each a text (`*.md`) at any depth.
    pub agent_folders: Vec<String>,
    /// Folders of commands, each a text (`*.md`) at any depth.
    pub command_folders: Vec<String>,
    /// Folders in the client's own in which its agents keep notes, by lines too. A name `*` stands for any one name.
    pub agent_notes: Vec<String>,
    /// The keys in the head of such a text, and of a skill's, that start nothing; every other key may have the client start
    /// something once it loads the text. None: no head has it start anything.
    pub text_keys: Vec<String>,
    /// Files of a project from which the client takes prompts by itself, and sends them like a person's.
    pub prompt_files: Vec<String>,
    /// Files and folders whose presence in a project or home shows that the platform is used there.
    pub signs: Vec<String>,
    /// Environment variables that name the project's folder, first choice first; they do not follow `cd`.
    pub project_variables: Vec<String>,
    /// Environment variables that tell the programs the platform starts, hooks and the agent's, which session they
    /// belong to.
    pub session_variables: Vec<String>,
    /// Files other than settings that [`Installer::install`] may write.
    pub installed: Vec<String>,
}

impl Places {
    /// The settings files of a project and of the user with this home folder, whether they exist or not.
    #[must_use]
    pub fn settings_files(&self, project: &Path, home: &Path) -> Vec<PathBuf> {
        files(&self.settings, project, home)
    }

    /// The project's own settings files among them.
    #[must_use]
    pub fn own_settings_files(&self, project: &Path) -> Vec<PathBuf> {
        let own = self.settings.iter().filter(|name| !name.starts_with("~/") && !name.starts_with('/'));
        own.map(|name| project.join(name)).collect()
    }

    /// Where the platform looks for the `SKILL.md` of a skill, first choice first; empty where it knows no such files. Files
    /// of the user are under `home`.
    #[must_use]
    pub fn skill_files(&self, skill: &str, project: &Path, home: &Path) -> Vec<PathBuf> {
        let folders = files(&self.skill_folders, project, home);
        folders.into_iter().map(|folder| folder.join(skill).join("SKILL.md")).collect()
    }

    /// The files other than settings that an installation in this project or for this user may write.
    #[must_use]
    pub fn installed_files(&self, project: &Path, home: &Path) -> Vec<PathBuf> {
        files(&self.installed, project, home)
    }
}

fn files(names: &[String], project: &Path, home: &Path) -> Vec<PathBuf> {
    let whole = |name: &String| name.strip_prefix("~/").map_or_else(|| project.join(name), |below| home.join(below));
    names.iter().map(whole).collect()
}

/// The parts of a platform's settings that are meant, and what is particular to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The servers before which the guard is put; none: all.
    pub servers: Vec<String>,
    /// The skills that each session of these servers has in force; none: as it is.
    pub in_force: Vec<String>,
}

/// What an installation is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallRequest {
    /// The project's root folder.
    pub project: PathBuf,
    /// The user's home folder.
    pub home: PathBuf,
    /// The command that runs phasegate: [`PROGRAM`], an absolute path, or a name found through `PATH`.
    pub command: String,
    /// What happens where that command cannot be run or gives no answer: in block mode what the agent does is denied.
    pub mode: Mode,
    /// Whose settings are changed.
    pub scope: InstallScope,
    /// The program that is to be the client's shell, where a client takes one: a file in [`SHELLS`].
    pub shell: Option<PathBuf>,
    /// The settings files that exist, with their present text.
    pub existing: BTreeMap<PathBuf, String>,
}

/// Whose settings are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallScope {
    /// The project's, shared by all who work on it.
    Project,
    /// The user's, for every project.
    User,
}

/// One file's change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The absolute path of the file.
    pub path: PathBuf,
    /// Its text before; `None` if it does not exist.
    pub before: Option<String>,
    /// Its text after; `None` removes it.
    pub after: Option<String>,
}
