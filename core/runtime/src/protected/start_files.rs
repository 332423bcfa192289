//! What starts a client, or the shell in which it runs its lines, before any guard is there.

use std::path::{Path, PathBuf};

/// What shells, sessions of the system and editors read at their start, below the user's home; a folder ends with `/`.
const OF_USER: [&str; 34] = [
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".config/autostart/",
    ".config/environment.d/",
    ".config/fish/conf.d/",
    ".config/fish/config.fish",
    ".config/fish/functions/",
    ".config/nushell/",
    ".config/powershell/",
    ".config/systemd/user/",
    ".config/Code/User/settings.json",
    ".config/Code/User/tasks.json",
    ".kshrc",
    ".local/share/systemd/user/",
    ".mkshrc",
    ".oh-my-zsh/custom/",
    ".pam_environment",
    ".profile",
    ".shrc",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "Library/Application Support/Code/User/settings.json",
    "Library/Application Support/Code/User/tasks.json",
    "Library/LaunchAgents/",
];
/// The same in a project: variables that a shell takes over, and what an editor's terminals are started with.
pub(super) const OF_PROJECT: [&str; 3] = [".envrc", ".vscode/settings.json", ".vscode/tasks.json"];
/// Variables that name a file which a shell reads at its start.
const FILES: [&str; 2] = ["BASH_ENV", "ENV"];
/// The variable that names the folder of the files that zsh reads.
const ZSH_FOLDER: &str = "ZDOTDIR";

/// What lies below the user's home, by the names above and by what the environment says; none without a home.
pub(super) fn of_user(home: &Path) -> Vec<PathBuf> {
    if !home.is_absolute() {
        return Vec::new();
    }
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.starts_with(home));
    let zsh = named(ZSH_FOLDER)
        .into_iter()
        .flat_map(|folder| OF_USER.iter().filter(|name| name.starts_with(".z")).map(move |name| folder.join(name)));
    OF_USER.iter().map(|name| home.join(name)).chain(FILES.iter().filter_map(|name| named(name))).chain(zsh).collect()
}

/// What clients are called in each folder of `PATH`, whether it is there or not: the first one found is started.
pub(super) fn launchers<'n>(names: impl Iterator<Item = &'n str>, folders: &[PathBuf]) -> Vec<PathBuf> {
    let folders: Vec<&PathBuf> = folders.iter().filter(|folder| folder.is_absolute()).collect();
    let in_each = |name: &'n str| folders.iter().map(move |folder| folder.join(name)).collect::<Vec<_>>();
    names.filter(|name| !name.contains('/')).flat_map(in_each).collect()
}
