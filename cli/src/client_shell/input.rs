//! What a client gives its shell to run.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use phasegate_adapter::{ClientShell, ShellText};
use phasegate_runtime::clients::client_shell::is_own;

use crate::shell_probe::shell_variables;

/// A text for the shell, and the client that gives it, where that says in a variable which shell it has.
pub(super) struct Given {
    /// `None`: there is none, or it is no Unicode.
    text: Option<String>,
    client: Option<&'static dyn ClientShell>,
    read: Option<ShellText>,
}

impl Given {
    /// By the arguments of the shell: `-c TEXT`, or `-c -l TEXT`.
    pub(super) fn of(args: &[OsString]) -> Self {
        let mut words = args.iter().map(|arg| arg.to_str());
        let commands = words.next() == Some(Some("-c"));
        let text = words.find(|word| *word != Some("-l")).flatten().filter(|_| commands).map(str::to_owned);
        let variables = shell_variables();
        let mut shells = phasegate_adapters::all().into_iter().filter_map(|adapter| adapter.shell());
        let client = shells.find(|shell| {
            let named = std::env::var(shell.variable());
            named.is_ok_and(|named| is_own(&named, &variables))
        });
        let read = client.zip(text.as_deref()).and_then(|(client, text)| client.read(text));
        Self { text, client, read }
    }

    /// Whether the client says in a variable that this is its shell.
    pub(super) fn is_by_variable(&self) -> bool {
        self.client.is_some()
    }

    /// Whether it is this line of an agent.
    pub(super) fn is(&self, line: &str) -> bool {
        match self.client {
            Some(_) => self.read.as_ref().is_some_and(|read| read.line == line),
            None => self.text.as_deref() == Some(line),
        }
    }

    /// Whether the client runs it for itself.
    pub(super) fn is_of_client(&self) -> bool {
        self.client.zip(self.text.as_deref()).is_some_and(|(client, text)| client.is_of_client(text))
    }

    /// The file in which the shell leaves the folder that it ends in.
    pub(super) fn folder_file(&self) -> Option<PathBuf> {
        self.read.as_ref()?.folder_file.clone()
    }

    /// The client's own temporary folders, in which it keeps what runs in the background.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let user = fs::metadata("/proc/self").map(|own| own.uid()).unwrap_or_default();
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let folders = self.client.map(|client| client.folders(&variable, &std::env::temp_dir(), user));
        folders.into_iter().flatten().filter(|folder| folder.is_dir()).collect()
    }
}
