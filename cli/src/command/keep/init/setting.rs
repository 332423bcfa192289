//! What `init` is asked for, and what it works on.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use phasegate_adapter::{Adapter, Change, InstallRequest, InstallScope, PROGRAM, Parts, Problem, SettingsShell};
use phasegate_core::policy::Mode;
use phasegate_runtime::{Project, Runtime};

use super::shell_file;

use crate::args::{ModeArg, platform_names};
use crate::command::keep::adapters::signs;
use crate::context::Context;
use crate::output::Failure;
use phasegate_runtime::bounds::{self, MAX_SETTINGS_BYTES};

/// The program's name.
const NAME: &str = "phasegate";

/// The arguments of `phasegate init`.
#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// The platforms, as `phasegate adapters` lists them; default: those detected here
    #[arg(value_name = "PLATFORM", value_parser = platform_names(), hide_possible_values = true)]
    pub platforms: Vec<String>,
    /// A skill to use, shipped or the project's own; may be given several times
    #[arg(long = "skill", value_name = "NAME")]
    pub skills: Vec<String>,
    /// A pack of rules that holds, as `phasegate rules packs` lists them; may be given several times
    #[arg(long = "rules", value_name = "PACK")]
    pub rules: Vec<String>,
    /// The mode of the new config; default: `warn`
    #[arg(long)]
    pub mode: Option<ModeArg>,
    /// A server to guard, if the platform lists servers; may be given several times (default: all)
    #[arg(long = "server", value_name = "NAME")]
    pub servers: Vec<String>,
    /// A skill that each session of the guarded servers has in force from its first message on, if the platform lists
    /// servers; may be given several times
    #[arg(long, value_name = "NAME")]
    pub in_force: Vec<String>,
    /// Print a file of the platforms as it would be, for settings elsewhere, and change nothing; without a name the only
    /// file, or the names of several
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        conflicts_with_all = ["undo", "dry_run"]
    )]
    pub print: Option<String>,
    /// Write the user's config and settings instead of the project's
    #[arg(long)]
    pub user: bool,
    /// Write the hooks into the settings of the project that you keep to yourself, not into those that others share
    #[arg(long, conflicts_with_all = ["user", "no_user", "undo", "servers", "in_force"])]
    pub local: bool,
    /// Write the project's settings only; a client that is started outside of the project's root is then not guarded
    #[arg(long, conflicts_with = "user")]
    pub no_user: bool,
    /// Write the machine's settings by which clients load no programs of others into themselves (as an administrator)
    #[arg(long, conflicts_with_all = ["user", "local", "no_user", "skills", "rules", "mode", "servers", "in_force", "print"])]
    pub managed: bool,
    /// Show which files would change and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Show each change as a diff
    #[arg(long, short)]
    pub verbose: bool,
    /// Revert what `init` changed
    #[arg(long, conflicts_with_all = ["skills", "rules", "mode", "servers", "in_force"])]
    pub undo: bool,
}

impl Args {
    /// The parts of a platform's settings that are meant.
    pub(crate) fn parts(&self) -> Parts {
        Parts { servers: self.servers.clone(), in_force: self.in_force.clone() }
    }
}

/// What `init` works on.
#[derive(Clone)]
pub(crate) struct Setting<'a> {
    pub(crate) args: &'a Args,
    pub(crate) context: &'a Context,
    pub(crate) runtime: Runtime,
    pub(crate) project: Project,
    pub(crate) adapters: Vec<&'static dyn Adapter>,
    /// Whose settings are written.
    pub(crate) scope: InstallScope,
    /// What hooks and plugins do where the guard gives no answer.
    pub(crate) mode: Mode,
}

impl Setting<'_> {
    /// The same for the user's settings, on the platforms where an installation for a project goes there too; `None` if
    /// there is none, or nothing is to be written there.
    pub(crate) fn for_user_too(&self) -> Option<Self> {
        let mut adapters = self.adapters.clone();
        adapters.retain(|adapter| adapter.installer().in_both_scopes() || shell_setting(*adapter).is_some());
        let wanted = self.scope == InstallScope::Project && !self.args.no_user && !adapters.is_empty();
        wanted.then(|| Self { adapters, scope: InstallScope::User, ..self.clone() })
    }

    /// Whether the settings that are written are the user's, which stand for all projects: those of the home folder are.
    pub(crate) fn writes_for_the_user(&self) -> bool {
        self.scope == InstallScope::User || self.project.root == self.runtime.locations.home
    }

    /// What an adapter is asked to install or uninstall.
    pub(crate) fn request(&self, adapter: &dyn Adapter) -> Result<InstallRequest, Failure> {
        let mut existing = BTreeMap::new();
        let (places, home) = (adapter.installer().places(), &self.runtime.locations.home);
        let mut paths = places.settings_files(&self.project.root, home);
        paths.extend(places.installed_files(&self.project.root, home));
        paths.extend(shell_setting(adapter).and_then(|shell| shell.given(home)));
        for path in paths {
            if let Some(text) = read(&path)? {
                existing.insert(path, text);
            }
        }
        Ok(InstallRequest {
            project: self.project.root.clone(),
            home: self.runtime.locations.home.clone(),
            command: self.command(adapter),
            mode: self.mode,
            scope: self.scope,
            shell: shell_file::own_shell(&self.runtime.locations),
            existing,
        })
    }

    /// The command that a platform runs: the link at its place, or its name where what is shared can say no more.
    fn command(&self, adapter: &dyn Adapter) -> String {
        let place = || self.runtime.locations.program().map(|path| path.display().to_string());
        match (adapter.installer().by_name(), self.scope) {
            (false, _) => PROGRAM.to_owned(),
            (true, InstallScope::User) => place().unwrap_or_else(|| NAME.to_owned()),
            (true, InstallScope::Project) => NAME.to_owned(),
        }
    }

    /// The changes that put the guard into a platform's settings.
    pub(crate) fn changes(&self, adapter: &dyn Adapter, request: &InstallRequest) -> Result<Vec<Change>, Failure> {
        if !self.args.local || self.scope == InstallScope::User {
            let installer = adapter.installer();
            let own = self.takes_all(adapter).then(|| installer.install_parts(request, &self.args.parts()));
            let shell = shell_setting(adapter).map(|shell| shell.install(request));
            return both(own, shell);
        }
        adapter.installer().install_local(request)?.ok_or_else(|| {
            Failure::new(format!("{} has no settings of the project that one person keeps", adapter.name()))
                .with_help("run `phasegate init` without `--local` for it")
        })
    }

    /// The changes that take the guard out of a platform's settings.
    pub(crate) fn removal(&self, adapter: &dyn Adapter, request: &InstallRequest) -> Result<Vec<Change>, Failure> {
        let own = self.takes_all(adapter).then(|| adapter.installer().uninstall(request));
        both(own, shell_setting(adapter).map(|shell| shell.uninstall(request)))
    }

    /// Whether the settings of this scope take all of an installation, and not the client's shell alone.
    fn takes_all(&self, adapter: &dyn Adapter) -> bool {
        self.scope == InstallScope::Project || self.args.user || adapter.installer().in_both_scopes()
    }

    /// The folder that holds the config.
    pub(crate) fn config_folder(&self) -> PathBuf {
        match self.scope {
            InstallScope::User => self.runtime.locations.user.clone(),
            InstallScope::Project => self.project.root.join(phasegate_runtime::locations::CONFIG_FOLDER),
        }
    }
}

/// The key of the user's settings that names the platform's shell.
fn shell_setting(adapter: &dyn Adapter) -> Option<&SettingsShell> {
    adapter.shell()?.setting()
}

type Found = Option<Result<Vec<Change>, Problem>>;

/// The changes of an installation and those of the client's shell.
fn both(own: Found, shell: Found) -> Result<Vec<Change>, Failure> {
    let mut changes = own.transpose()?.unwrap_or_default();
    changes.extend(shell.transpose()?.unwrap_or_default());
    Ok(changes)
}

/// Whether the platform leaves signs in the project or the user's home.
pub(crate) fn detected(adapter: &dyn Adapter, setting: &Setting<'_>) -> bool {
    !signs(adapter, &setting.project.root, &setting.runtime.locations.home).is_empty()
}

/// The text of a file; `None` if it does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Failure> {
    match bounds::read(path, MAX_SETTINGS_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::new(format!("`{}` cannot be read: {error}", path.display()))),
    }
}
