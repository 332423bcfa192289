//! This very program: where it is, and whether `PATH` leads to it by its name.

use std::path::{Path, PathBuf};

use crate::output::Failure;

/// The program's name, as settings that know no folder of the user's name it.
///
/// # Errors
///
/// `PATH` does not lead from this name to this program.
pub(crate) fn find() -> Result<String, Failure> {
    let program = own()?;
    let name = name_of(&program);
    let folder = program.parent().unwrap_or(&program).display();
    let first = first_on_path(&name);
    if first.as_deref().is_some_and(|first| same(first, &program)) {
        return Ok(name);
    }
    let what = match first {
        Some(other) => format!("`PATH` leads from `{name}` to `{}`, not to this program", other.display()),
        None => format!("no folder of `PATH` has `{name}`, so that no client could start it"),
    };
    let help = format!("put `{folder}` first in `PATH`, for clients too, or run the program that `PATH` leads to");
    Err(Failure::new(what).with_help(help))
}

/// The path by which this program is found again also after an upgrade: the one on `PATH` that leads to it, which a manager of
/// packages renews, else the file itself.
///
/// # Errors
///
/// The system does not say where the program is.
pub(crate) fn lasting_path() -> Result<PathBuf, Failure> {
    let program = own()?;
    let file = program.canonicalize().map_err(|error| failed(&error.to_string()))?;
    Ok(first_on_path(&name_of(&program)).filter(|first| same(first, &file)).unwrap_or(file))
}

fn own() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| failed(&error.to_string()))
}

fn failed(text: &str) -> Failure {
    Failure::new(format!("the path of this program cannot be used: {text}"))
}

fn name_of(program: &Path) -> String {
    program.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The first program of this name in `PATH`.
fn first_on_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name).with_extension(std::env::consts::EXE_EXTENSION))
        .find(|path| path.is_file())
}

/// Whether two paths lead to one file.
pub(crate) fn same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| path.canonicalize().ok();
    place(one).is_some() && place(one) == place(other)
}
