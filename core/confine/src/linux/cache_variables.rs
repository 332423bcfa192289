//! Variables by which programs put their caches elsewhere, for levels without an overlay.

use std::path::Path;
use std::process::Command;

/// A variable, and the folder or the text that it is given.
const VARIABLES: [(&str, &str); 9] = [
    ("XDG_CACHE_HOME", "{}"),
    ("CARGO_TARGET_DIR", "{}/cargo"),
    ("GOCACHE", "{}/go"),
    ("MYPY_CACHE_DIR", "{}/mypy"),
    ("PYTEST_ADDOPTS", "-o cache_dir={}/pytest"),
    ("PYTHONPYCACHEPREFIX", "{}/python"),
    ("RUFF_CACHE_DIR", "{}/ruff"),
    ("npm_config_cache", "{}/npm"),
    ("npm_config_logs_max", "0"),
];

/// Sets those that the person has not set.
pub(super) fn set(command: &mut Command, folder: &Path) {
    let folder = folder.display().to_string();
    for (name, value) in VARIABLES {
        if std::env::var_os(name).is_none() {
            command.env(name, value.replace("{}", &folder));
        }
    }
}
