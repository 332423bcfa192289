//! Adapters: one platform each, and the registry that they are found in.

use crate::capability::Capabilities;
use crate::client::client_record::ClientRecord;
use crate::client::client_shell::ClientShell;
use crate::client::examine::Diagnostics;
use crate::client::install::Installer;
use crate::client::session_lines::SessionLines;
use crate::codec::Codec;

/// One platform.
pub trait Adapter: Send + Sync {
    /// The platform's id, as given to `phasegate hook <id>`: lower case, words joined by hyphens.
    fn id(&self) -> &str;

    /// The platform's name as its makers write it.
    fn name(&self) -> &str;

    /// What the platform can express, and what a decision becomes where it cannot.
    fn capabilities(&self) -> Capabilities;

    /// Whether the platform has a plugin that talks to `phasegate serve`; else it starts a process for every frame.
    fn bridged(&self) -> bool {
        false
    }

    /// Translates its frames.
    fn codec(&self) -> &dyn Codec;

    /// Reads what the client itself records of its sessions; `None` where it keeps nothing that can be compared.
    fn client_record(&self) -> Option<&dyn ClientRecord> {
        None
    }

    /// Reads the files in which the client keeps its sessions; `None` where that is not known.
    fn session_lines(&self) -> Option<&dyn SessionLines> {
        None
    }

    /// How the client gives lines to its shell; `None` where it is told of no shell.
    fn shell(&self) -> Option<&dyn ClientShell> {
        None
    }

    /// Installs phasegate in its settings.
    fn installer(&self) -> &dyn Installer;

    /// Examines an installation.
    fn diagnostics(&self) -> &dyn Diagnostics;
}

/// One entry of the registry: an adapter submits itself with `inventory::submit!`.
pub struct Registered(pub &'static dyn Adapter);

inventory::collect!(Registered);
