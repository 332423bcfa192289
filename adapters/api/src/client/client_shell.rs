//! How a client gives its shell the lines of its agent.

use std::path::{Path, PathBuf};

use crate::client::settings_shell::SettingsShell;

/// Reads what a client gives its shell.
pub trait ClientShell: Send + Sync {
    /// The environment variable by which the client is told its shell, and which its hooks see; empty where only its settings
    /// name the shell.
    fn variable(&self) -> &'static str;

    /// The environment variable that has the client read its user's settings in another folder than usual; empty: none does.
    fn folder_variable(&self) -> &'static str {
        ""
    }

    /// The key of the user's settings that names the shell, where no variable does.
    fn setting(&self) -> Option<&SettingsShell> {
        None
    }

    /// The agent's line within a text that the shell is to run; `None` where that is in no known form.
    fn read(&self, text: &str) -> Option<ShellText>;

    /// Whether the client itself has the shell run the text, for no line of an agent.
    fn is_of_client(&self, text: &str) -> bool;

    /// The shell that a file of the client's settings names.
    fn named(&self, settings: &str) -> Option<String>;

    /// Whether the client runs lines in a sandbox of its own, by a file of its settings. Then they cannot be held in another.
    fn is_sandboxed(&self, settings: &str) -> bool;

    /// The folders below the temporary one in which the client keeps files while a line runs, for the user with this id.
    fn folders(&self, variable: &dyn Fn(&str) -> Option<PathBuf>, temporary: &Path, user: u32) -> Vec<PathBuf>;
}

/// A text for a shell, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellText {
    /// The agent's line.
    pub line: String,
    /// The file in which the shell leaves the folder that it ends in.
    pub folder_file: Option<PathBuf>,
}

/// Such a client gives its shell the line as it is.
impl ClientShell for SettingsShell {
    fn variable(&self) -> &'static str {
        ""
    }

    fn setting(&self) -> Option<&SettingsShell> {
        Some(self)
    }

    fn read(&self, text: &str) -> Option<ShellText> {
        Some(ShellText { line: text.to_owned(), folder_file: None })
    }

    fn is_of_client(&self, _text: &str) -> bool {
        false
    }

    fn named(&self, settings: &str) -> Option<String> {
        self.named(settings)
    }

    fn is_sandboxed(&self, _settings: &str) -> bool {
        false
    }

    fn folders(&self, _variable: &dyn Fn(&str) -> Option<PathBuf>, _temporary: &Path, _user: u32) -> Vec<PathBuf> {
        Vec::new()
    }
}
