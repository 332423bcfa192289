//! The settings of clients in a project, known by their content: they name hooks and programs that a client starts outside
//! of every call, and variables that these are given (rules 4.12).

use std::collections::BTreeMap;
use std::path::Path;

use phasegate_core::analysis::Part;
use serde_json::Value;

use crate::bounds::{self, MAX_FILE_BYTES};
use crate::effects::digest;
use crate::platforms::PlatformPlaces;
use crate::servers;

/// How the names of settings begin among those of servers and of modules.
const BELOW_ROOT: &str = "./";

/// The settings files of a project by their names below its root, each with the digest of what a client does not itself
/// change there and what no server's definition is. Where nothing is left, there is nothing to know.
pub(crate) fn definitions(platforms: &PlatformPlaces, root: &Path) -> BTreeMap<String, String> {
    let is_own = |name: &&String| {
        !name.starts_with("~/")
            && !name.starts_with('/')
            && !platforms.changed_by_clients.contains(*name)
            && (name.ends_with(".json") || name.ends_with(".jsonc"))
    };
    let without: Vec<String> = platforms.client_keys.iter().cloned().chain(servers::LISTS.map(str::to_owned)).collect();
    let names = platforms.settings.iter().filter(is_own);
    let known = names.filter_map(|name| {
        let text = bounds::read(&root.join(name), MAX_FILE_BYTES).ok()?;
        let says = match serde_json::from_str::<Value>(&text) {
            Ok(Value::Object(keys)) => keys.keys().any(|key| !without.contains(key)),
            _ => true,
        };
        says.then(|| {
            (format!("{BELOW_ROOT}{name}"), digest(text.as_bytes(), Path::new(name), Some(Part::Settings), &without))
        })
    });
    known.collect()
}

/// The name below the project's root of the settings file that this stands for.
pub(crate) fn file(name: &str) -> Option<&str> {
    name.strip_prefix(BELOW_ROOT)
}

/// What is told of settings whose content is not the known one.
pub(crate) fn notice(file: &str, is_new: bool) -> String {
    let what = if is_new { "is new" } else { "was changed" };
    format!("the client's settings `{file}`, which name what it starts, {what}")
}
