//! The files that clients start as their shells, below each user's home.

use std::io;
use std::path::{Path, PathBuf};

use phasegate_adapter::SHELLS;
use phasegate_runtime::Locations;
use phasegate_runtime::clients::client_shell::{NAMES, script, settings_script};

use crate::shell_probe::shell_variables;

/// The file that is a client's shell on this machine, by the name of the user's own; `None` where there is none.
pub(super) fn own_shell(locations: &Locations) -> Option<PathBuf> {
    let own = std::env::var_os("SHELL").map(PathBuf::from);
    let name = NAMES.into_iter().find(|name| own.as_deref().and_then(Path::file_name).is_some_and(|own| own == *name));
    shells(locations).into_iter().map(|shell| shell.at).find(|shell| shell.ends_with(name.unwrap_or(NAMES[0])))
}

/// A file that is a client's shell.
pub(super) struct Shell {
    pub(super) at: PathBuf,
    pub(super) text: String,
}

/// The files that are clients' shells.
pub(super) fn shells(locations: &Locations) -> Vec<Shell> {
    let folder = locations.program_file(SHELLS).filter(|folder| cfg!(unix) && folder.is_absolute());
    let Some(folder) = folder else { return Vec::new() };
    let variables = shell_variables();
    let by_variable = NAMES.map(|name| Shell { at: folder.join(name), text: script(name, &variables) });
    let adapters = phasegate_adapters::all();
    let settings = adapters.iter().filter_map(|adapter| adapter.shell()?.setting());
    let by_settings = settings.flat_map(|setting| {
        let at = |name: &str| folder.join(setting.client).join(name);
        NAMES.map(|name| Shell { at: at(name), text: settings_script(name, &variables) })
    });
    by_variable.into_iter().chain(by_settings).collect()
}

impl Shell {
    /// Writes the file in one step, so that a client starts the one before or this one.
    pub(super) fn write(&self) -> io::Result<()> {
        let beside = beside(&self.at)?;
        std::fs::write(&beside, &self.text)?;
        #[cfg(unix)]
        std::fs::set_permissions(&beside, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        std::fs::rename(beside, &self.at)
    }
}

/// A free name beside a file, in a folder that is there.
pub(super) fn beside(at: &Path) -> io::Result<PathBuf> {
    at.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    let beside = at.with_extension(format!("{}.new", std::process::id()));
    let _ = std::fs::remove_file(&beside);
    Ok(beside)
}
