//! The command that platforms shall run: this very program.

use std::path::Path;

use crate::output::Failure;

/// The program's name where `PATH` leads to this very program, else its absolute path.
pub(crate) fn find() -> Result<String, Failure> {
    let failed = |text: String| Failure::new(format!("the path of this program cannot be used: {text}"));
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let name = program.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    if !name.is_empty() && leads_to(name, &program) {
        return Ok(name.to_string());
    }
    program.to_str().map(str::to_string).ok_or_else(|| failed("it is not UTF-8".to_string()))
}

/// Whether the first program of this name in `PATH` is `program`.
fn leads_to(name: &str, program: &Path) -> bool {
    let Some(folders) = std::env::var_os("PATH") else { return false };
    let first = std::env::split_paths(&folders)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name).with_extension(std::env::consts::EXE_EXTENSION))
        .find(|path| path.is_file());
    let same = |path: &Path| path.canonicalize().ok();
    first.is_some_and(|first| same(&first).is_some() && same(&first) == same(program))
}
