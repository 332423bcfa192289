//! How the clients start MCP servers, so that a server that is started in another way is noticed (rules 4).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use phasegate_core::values::canonical::Sorted;
use phasegate_store::digest::sha256_hex;
use serde_json::Value;

use crate::bounds;
use crate::clients::platforms::PlatformPlaces;
use crate::project::repository::folders_above;

/// Under which keys settings define servers.
pub(crate) const LISTS: [&str; 3] = ["mcpServers", "mcp", "servers"];
/// What says which program a server is and where it is.
pub(crate) const MEANT: [&str; 10] =
    ["command", "args", "env", "environment", "cwd", "url", "serverUrl", "httpUrl", "headers", "transport"];
/// What says nothing of that: a key that is neither here nor there may, such as one that names a helper program.
const MEANS_LITTLE: [&str; 9] =
    ["type", "disabled", "enabled", "timeout", "description", "alwaysAllow", "autoApprove", "trust", "name"];
/// Stands for every server, where settings cannot be read.
pub(crate) const ANY: &str = "*";

/// The servers that the clients' settings define for a project, by the names that tools show, each with the digest of its
/// definitions.
pub fn definitions(platforms: &PlatformPlaces, home: &Path, root: &Path) -> BTreeMap<String, String> {
    let digest = |all: &[Value]| sha256_hex(Sorted(&Value::from(all)).to_string().as_bytes());
    defined(platforms, home, root).iter().map(|(name, all)| (name.clone(), digest(all))).collect()
}

/// What the clients' settings say of each server, in the order of [`MEANT`]; behind it what else they say.
pub(crate) fn defined(platforms: &PlatformPlaces, home: &Path, root: &Path) -> BTreeMap<String, Vec<Value>> {
    let mut found: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let above = folders_above(root);
    for name in platforms.settings.iter().filter(|name| name.ends_with(".json") || name.ends_with(".jsonc")) {
        let files = match name.strip_prefix("~/") {
            Some(below) => vec![home.join(below)],
            None => std::iter::once(root).chain(above.iter().map(PathBuf::as_path)).map(|at| at.join(name)).collect(),
        };
        for text in files.iter().filter_map(|path| bounds::settings(path).ok()) {
            match serde_json::from_str::<Value>(&text) {
                Ok(settings) => collect(&settings, root, &mut found),
                Err(_) => found.entry(ANY.to_owned()).or_default().push(Value::String(text)),
            }
        }
    }
    found
}

fn collect(settings: &Value, root: &Path, found: &mut BTreeMap<String, Vec<Value>>) {
    let own = settings.get("projects").and_then(|projects| projects.get(root.to_str()?));
    for (at, key) in [Some(settings), own].into_iter().flatten().flat_map(|at| LISTS.map(|key| (at, key))) {
        for (name, definition) in at.get(key).and_then(Value::as_object).into_iter().flatten() {
            let meant: Vec<&Value> = MEANT.iter().map(|key| definition.get(key).unwrap_or(&Value::Null)).collect();
            let keys = definition.as_object().into_iter().flatten();
            let rest: serde_json::Map<String, Value> = keys
                .filter(|(key, _)| !MEANT.contains(&key.as_str()) && !MEANS_LITTLE.contains(&key.as_str()))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            if meant.iter().any(|value| !value.is_null()) {
                let rest = if rest.is_empty() { None } else { Some(Value::Object(rest)) };
                found.entry(shown(name)).or_default().push(Value::from_iter(meant.into_iter().cloned().chain(rest)));
            }
        }
    }
}

/// Whether the server is one of these.
pub fn is_among(servers: &BTreeSet<String>, server: &str) -> bool {
    servers.contains(ANY) || servers.contains(&shown(server))
}

/// A server's name as it is a part of its tools' names.
pub(crate) fn shown(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

/// What is told of a server whose definition is not the known one.
pub(crate) fn notice(name: &str, is_new: bool) -> String {
    match (name, is_new) {
        (ANY, _) => "a client's settings cannot be read, so results of MCP servers are no evidence".to_owned(),
        (_, true) => format!("the MCP server `{name}` is new, so its results are no evidence"),
        (_, false) => format!("the MCP server `{name}` is started in another way, so its results are no evidence"),
    }
}
