//! The settings of clients in a project, known by their content: they name hooks and programs that a client starts outside
//! of every call, and variables that these are given (rules 4.12).

use std::collections::BTreeMap;
use std::path::Path;

use phasegate_core::calls::analysis::Part;
use serde_json::Value;

use crate::bounds;
use crate::clients::platforms::PlatformPlaces;
use crate::clients::servers;
use crate::effects::digest;
use crate::project::repository::folders_read;

/// How the names of settings begin among those of servers and of modules.
pub(crate) const BELOW_ROOT: &str = "./";
/// The name of what a repository has `git` start.
pub(crate) const REPOSITORY: &str = "./.git/config";

/// The settings files that a client which is started in the folder `from` of a project reads there and above it in its
/// repository, by their names below the root. Each has the digest of what a client does not itself change there and what no
/// server's definition is. Where nothing is left, there is nothing to know; what cannot be read may say anything.
pub(crate) fn definitions(platforms: &PlatformPlaces, root: &Path, from: &Path) -> BTreeMap<String, String> {
    let is_own = |name: &&String| {
        !name.starts_with("~/")
            && !name.starts_with('/')
            && !platforms.changed_by_clients.contains(*name)
            && (name.ends_with(".json") || name.ends_with(".jsonc"))
    };
    let without: Vec<String> = platforms.client_keys.iter().cloned().chain(servers::LISTS.map(str::to_owned)).collect();
    let folders = folders_read(from, root);
    let files =
        folders.iter().flat_map(|folder| platforms.settings.iter().filter(is_own).map(move |name| folder.join(name)));
    let known = files.filter(|path| path.symlink_metadata().is_ok()).filter_map(|path| {
        let text = bounds::settings(&path).unwrap_or_default();
        let says = match serde_json::from_str::<Value>(&text) {
            Ok(Value::Object(keys)) => keys.keys().any(|key| !without.contains(key)),
            _ => true,
        };
        let name = format!("{BELOW_ROOT}{}", path.strip_prefix(root).unwrap_or(&path).display());
        says.then(|| (name, digest(text.as_bytes(), &path, Some(Part::Settings), &without)))
    });
    known.collect()
}

/// The file that a name stands for: its path below the project's root, or with `~/` before it.
pub(crate) fn file(name: &str) -> Option<&str> {
    name.strip_prefix(BELOW_ROOT).or_else(|| name.starts_with("~/").then_some(name))
}

/// What is told of settings whose content is not the known one.
pub(crate) fn notice(file: &str, is_new: bool) -> String {
    let what = if is_new { "is new" } else { "was changed" };
    if file == REPOSITORY.trim_start_matches(BELOW_ROOT) {
        return format!("what `{file}`, the hooks and your own configuration have `git` start {what}");
    }
    format!("the client's settings `{file}`, which name what it starts, {what}")
}
