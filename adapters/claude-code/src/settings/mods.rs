//! Mods: plugins whose modules the client loads into itself. They see every call before hooks do, and can answer it.

use std::path::{Path, PathBuf};

use phasegate_adapter::ModuleTable;
use serde_json::Value;

use crate::settings::{Comments, parse};

/// What the client loads into itself.
pub(crate) static MODS: ModuleTable = ModuleTable {
    word: "mod",
    roots: &[
        ".claude/skills",
        "~/.claude/skills",
        "~/.claude/dev-mods",
        "~/.claude/plugins",
        "~/.claude/cowork_plugins",
    ],
    key: "modules",
    manifest: ".claude-plugin/plugin.json",
    ends: &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"],
    events: &["tool.", "classic.", "process.", "fs.", "plugin.register"],
    check: &["claude", "plugin", "validate"],
    answers: " hooks: ",
};

/// The key of settings that names marketplaces.
const MARKETPLACES: &str = "extraKnownMarketplaces";

/// Where a marketplace that is a project names its plugins, and where these have their modules.
const PARTS: [&str; 6] = [".claude-plugin", "hooks", "*/.claude-plugin", "*/hooks", "*/*/.claude-plugin", "*/*/hooks"];

/// The folders that settings name as marketplaces: plugins load from there, and mods with them. Settings that cannot be read
/// name none, as for the client.
pub(crate) fn marketplaces(path: &Path, text: &str) -> Vec<PathBuf> {
    if !text.contains(MARKETPLACES) {
        return Vec::new();
    }
    let value =
        parse(path, text, Comments::Refused).ok().and_then(|(_, root)| root.to_serde_value()).unwrap_or_default();
    let named = value.get(MARKETPLACES).and_then(Value::as_object).into_iter().flatten();
    let folder = |(_, market): (&String, &Value)| {
        let source = market.get("source")?;
        let path = source.get("path").and_then(Value::as_str).map(PathBuf::from)?;
        let kind = source.get("source").and_then(Value::as_str)?;
        let folder = match kind {
            "directory" => path,
            // The marketplace's file lies in a folder of its own, below that of the plugins.
            "file" => path.parent().and_then(Path::parent)?.to_path_buf(),
            _ => return None,
        };
        folder.is_absolute().then_some(folder)
    };
    // A project may be a marketplace itself: of it, what names and holds modules.
    let places = |folder: PathBuf| {
        if path.starts_with(&folder) { PARTS.iter().map(|part| folder.join(part)).collect() } else { vec![folder] }
    };
    named.filter_map(folder).flat_map(places).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marketplace_is_a_folder_with_an_absolute_path() {
        let text = serde_json::json!({MARKETPLACES: {
            "a": {"source": {"source": "directory", "path": "/m/a"}},
            "b": {"source": {"source": "directory", "path": "relative"}},
            "c": {"source": {"source": "github", "repo": "o/r"}},
            "d": {"source": {"source": "file", "path": "/m/d/.claude-plugin/marketplace.json"}},
        }});
        let found = marketplaces(Path::new("settings.json"), &text.to_string());
        assert_eq!(found, [PathBuf::from("/m/a"), PathBuf::from("/m/d")]);
        let own = marketplaces(Path::new("/m/a/.claude/settings.json"), &text.to_string());
        assert!(own.contains(&PathBuf::from("/m/a/*/*/hooks")) && !own.contains(&PathBuf::from("/m/a")), "{own:?}");
        assert_eq!(marketplaces(Path::new("settings.json"), "{\"extraKnownMarketplaces\": "), Vec::<PathBuf>::new());
    }
}
