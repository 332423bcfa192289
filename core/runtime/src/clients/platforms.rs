//! What the platforms of this build say of their places, collected when it is first asked for.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use phasegate_adapter::{Adapter, ClientProgram, ModuleTable};

/// The platforms of this build.
#[derive(Clone, Default)]
pub struct Platforms {
    adapters: Vec<&'static dyn Adapter>,
    places: OnceLock<PlatformPlaces>,
}

/// The places of all platforms, each list sorted. Paths that begin with `~/` are the user's, absolute ones the machine's,
/// the others the project's.
#[derive(Clone, Debug, Default)]
pub struct PlatformPlaces {
    /// Folders of skills.
    pub skill_folders: Vec<String>,
    /// Settings files, and what else the platforms obey; a folder ends with `/`.
    pub settings: Vec<String>,
    /// Those of them that the clients themselves change while they work.
    pub changed_by_clients: Vec<String>,
    /// The keys of settings that the clients themselves change while they work.
    pub client_keys: Vec<String>,
    /// Folders of skills whose head may have a client start something.
    pub text_skills: Vec<String>,
    /// Folders of commands.
    pub command_folders: Vec<String>,
    /// Folders of agents.
    pub agent_folders: Vec<String>,
    /// The keys of such a head that start nothing.
    pub text_keys: Vec<String>,
    /// Folders of the clients' own in which agents keep notes.
    pub agent_notes: Vec<String>,
    /// Files of a project from which clients take prompts by themselves.
    pub prompt_files: Vec<String>,
    /// The clients' own folders in the user's home.
    pub own_folders: Vec<String>,
    /// The platforms' own programs.
    pub clients: Vec<Client>,
    /// The platforms that load modules into themselves.
    pub loaders: Vec<Loader>,
}

impl PlatformPlaces {
    /// The clients' own folders, in this home.
    pub(crate) fn own_folders_in(&self, home: &Path) -> impl Iterator<Item = PathBuf> {
        self.own_folders.iter().filter_map(|name| Some(home.join(name.strip_prefix("~/")?)))
    }
}

/// A program of a platform.
#[derive(Clone, Copy)]
pub struct Client {
    /// The platform.
    pub adapter: &'static dyn Adapter,
    /// The program.
    pub program: &'static ClientProgram,
}

/// A platform that loads modules into itself.
#[derive(Clone, Copy)]
pub struct Loader {
    /// The platform.
    pub adapter: &'static dyn Adapter,
    /// What is known of its modules.
    pub table: &'static ModuleTable,
}

impl std::fmt::Debug for Loader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.table.fmt(f)
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.program.fmt(f)
    }
}

impl std::fmt::Debug for Platforms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.adapters.iter().map(|adapter| adapter.id())).finish()
    }
}

impl Platforms {
    /// These platforms. Nothing is asked of them yet.
    pub fn new(adapters: impl IntoIterator<Item = &'static dyn Adapter>) -> Self {
        Self { adapters: adapters.into_iter().collect(), places: OnceLock::new() }
    }

    /// The platform with this id.
    pub fn adapter(&self, id: &str) -> Option<&'static dyn Adapter> {
        self.adapters.iter().copied().find(|adapter| adapter.id() == id)
    }

    /// The places of all platforms. A platform is in use where its places exist; those of the others are protected too, by
    /// their paths, and cost one look at the nearest folder that is missing.
    pub fn places(&self) -> &PlatformPlaces {
        self.places.get_or_init(|| {
            let mut all = PlatformPlaces::default();
            for adapter in &self.adapters {
                let programs = adapter.installer().programs().iter();
                all.clients.extend(programs.map(|program| Client { adapter: *adapter, program }));
                let table = adapter.diagnostics().modules();
                all.loaders.extend(table.map(|table| Loader { adapter: *adapter, table }));
                let places = adapter.installer().places();
                all.skill_folders.extend(places.skill_folders.clone());
                all.settings.extend(places.settings);
                all.settings.extend(places.unseen);
                all.changed_by_clients.extend(places.changed_by_client);
                all.client_keys.extend(places.client_keys);
                if !places.text_keys.is_empty() {
                    all.text_skills.extend(places.skill_folders);
                }
                all.command_folders.extend(places.command_folders);
                all.agent_folders.extend(places.agent_folders);
                all.agent_notes.extend(places.agent_notes);
                all.text_keys.extend(places.text_keys);
                all.prompt_files.extend(places.prompt_files);
                all.own_folders.extend(places.signs.into_iter().filter(|sign| sign.starts_with("~/")));
            }
            all.skill_folders.sort_unstable();
            all.skill_folders.dedup();
            all.settings.sort_unstable();
            all.settings.dedup();
            all
        })
    }

    /// The variables in which clients are told their shells.
    pub fn shell_variables(&self) -> Vec<&'static str> {
        let shells = self.adapters.iter().filter_map(|adapter| adapter.shell());
        shells.map(|shell| shell.variable()).filter(|variable| !variable.is_empty()).collect()
    }

    /// The variables in which platforms tell programs which session started them.
    pub fn session_variables(&self) -> Vec<String> {
        self.adapters.iter().flat_map(|adapter| adapter.installer().places().session_variables).collect()
    }
}
