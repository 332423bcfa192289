//! Tables: what is fixed about a platform, written down as constants beside its adapter.

use phasegate_core::calls::analysis::Access;

use crate::capability::Capabilities;
use crate::client::examine::Limit;
use crate::client::install::Places;
use crate::client::program::ClientProgram;

/// A platform as data: where it keeps things, what it calls its tools, and which ways to lose the guard stay open.
#[derive(Debug)]
pub struct Table {
    /// The platform's id, as given to `phasegate hook <id>`.
    pub id: &'static str,
    /// The platform's name as its makers write it.
    pub name: &'static str,
    /// The versions that the adapter was recorded with, newest first.
    pub versions: &'static [&'static str],
    /// The program and its arguments that print the version; empty if there is none.
    pub version_command: &'static [&'static str],
    /// What the platform can express, and what a decision becomes where it cannot.
    pub capabilities: Capabilities,
    /// Where the platform keeps skills and settings.
    pub places: PlaceTable,
    /// The platform's own program, as an agent may run it.
    pub programs: &'static [ClientProgram],
    /// The platform's own tools.
    pub tools: &'static [ToolRow],
    /// The ways to lose the guard that the platform gives no means to close.
    pub limits: &'static [LimitRow],
}

/// The constant form of [`Places`].
#[derive(Clone, Copy, Debug)]
pub struct PlaceTable {
    /// See [`Places::skill_folders`].
    pub skill_folders: &'static [&'static str],
    /// See [`Places::settings`].
    pub settings: &'static [&'static str],
    /// See [`Places::unseen`].
    pub unseen: &'static [&'static str],
    /// See [`Places::changed_by_client`].
    pub changed_by_client: &'static [&'static str],
    /// See [`Places::client_keys`].
    pub client_keys: &'static [&'static str],
    /// See [`Places::agent_folders`].
    pub agent_folders: &'static [&'static str],
    /// See [`Places::command_folders`].
    pub command_folders: &'static [&'static str],
    /// See [`Places::agent_notes`].
    pub agent_notes: &'static [&'static str],
    /// See [`Places::text_keys`].
    pub text_keys: &'static [&'static str],
    /// See [`Places::prompt_files`].
    pub prompt_files: &'static [&'static str],
    /// See [`Places::signs`].
    pub signs: &'static [&'static str],
    /// See [`Places::project_variables`].
    pub project_variables: &'static [&'static str],
    /// See [`Places::session_variables`].
    pub session_variables: &'static [&'static str],
    /// See [`Places::installed`].
    pub installed: &'static [&'static str],
}

/// One of a platform's own tools.
#[derive(Clone, Copy, Debug)]
pub struct ToolRow {
    /// The name that the platform gives it.
    pub native: &'static str,
    /// Its canonical name, which policies use. Of several rows with one canonical name, the first is the name to call
    /// the tool by.
    pub canonical: &'static str,
    /// What the tool does to the paths among its arguments; `None` if it takes none.
    pub access: Option<Access>,
    /// What the tool can do, where the engine's vocabulary does not know its canonical name.
    pub labels: &'static [&'static str],
}

/// The constant form of [`Limit`].
#[derive(Clone, Copy, Debug)]
pub struct LimitRow {
    /// See [`Limit::way`].
    pub way: &'static str,
    /// See [`Limit::then`].
    pub then: &'static str,
    /// See [`Limit::shown`].
    pub shown: &'static [&'static str],
}

impl Table {
    /// The versions, for [`crate::client::examine::Diagnostics::versions`].
    #[must_use]
    pub fn versions(&self) -> Vec<String> {
        owned(self.versions)
    }

    /// The program that prints the version, for [`crate::client::examine::Diagnostics::version_command`].
    #[must_use]
    pub fn version_command(&self) -> Option<Vec<String>> {
        (!self.version_command.is_empty()).then(|| owned(self.version_command))
    }

    /// The places, for [`crate::client::install::Installer::places`].
    #[must_use]
    pub fn places(&self) -> Places {
        let PlaceTable {
            skill_folders,
            settings,
            unseen,
            changed_by_client,
            client_keys,
            agent_folders,
            command_folders,
            agent_notes,
            text_keys,
            prompt_files,
            signs,
            project_variables,
            session_variables,
            installed,
        } = self.places;
        Places {
            skill_folders: owned(skill_folders),
            settings: owned(settings),
            unseen: owned(unseen),
            changed_by_client: owned(changed_by_client),
            client_keys: owned(client_keys),
            agent_folders: owned(agent_folders),
            command_folders: owned(command_folders),
            agent_notes: owned(agent_notes),
            text_keys: owned(text_keys),
            prompt_files: owned(prompt_files),
            signs: owned(signs),
            project_variables: owned(project_variables),
            session_variables: owned(session_variables),
            installed: owned(installed),
        }
    }

    /// The limits, for [`crate::client::examine::Diagnostics::limits`].
    #[must_use]
    pub fn limits(&self) -> Vec<Limit> {
        let limit =
            |row: &LimitRow| Limit { way: row.way.to_owned(), then: row.then.to_owned(), shown: owned(row.shown) };
        self.limits.iter().map(limit).collect()
    }

    /// The row of the tool that the platform calls `native`.
    #[must_use]
    pub fn tool(&self, native: &str) -> Option<&'static ToolRow> {
        self.tools.iter().find(|row| row.native == native)
    }
}

impl LimitRow {
    /// The limit, owned.
    #[must_use]
    pub fn limit(&self) -> Limit {
        Limit { way: self.way.to_owned(), then: self.then.to_owned(), shown: owned(self.shown) }
    }
}

impl PlaceTable {
    /// A platform without any place.
    pub const NONE: Self = Self {
        skill_folders: &[],
        settings: &[],
        unseen: &[],
        changed_by_client: &[],
        client_keys: &[],
        agent_folders: &[],
        command_folders: &[],
        agent_notes: &[],
        text_keys: &[],
        prompt_files: &[],
        signs: &[],
        project_variables: &[],
        session_variables: &[],
        installed: &[],
    };
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
