//! What an administrator puts on a machine: settings by which only its own mods load, and a mod that sees to it.

use std::path::Path;

use phasegate_adapter::{Change, InstallRequest};
use serde_json::{Value, json};

use crate::hosts::host::Host;

/// The file among the machine's settings; the client reads all of the folder.
const SETTINGS: &str = "managed-settings.d/50-phasegate.json";
/// The mod's text, where `@PROGRAM@` stands for the guard's program.
const GUARD: &str = include_str!("../../managed/guard.jsx");

/// The files, below the machine's folder of the client.
pub(crate) fn changes(host: &Host, request: &InstallRequest) -> Vec<Change> {
    let folder = Path::new(host.managed);
    let market = folder.join("phasegate");
    let settings = json!({
        "pluginConfigs": {"cc-plugin-sec-default@builtin": {"options": {"allowManagedModsOnly": true}}},
        "extraKnownMarketplaces": {"phasegate": {"source": {"source": "directory", "path": market.display().to_string()}}},
        "enabledPlugins": {"phasegate@phasegate": true},
        "prependPlugins": ["phasegate@phasegate"],
    });
    let about = "Keeps mods of others out, and shows the phase of each skill";
    let list = json!({
        "name": "phasegate",
        "owner": {"name": "phasegate"},
        "plugins": [{"name": "phasegate", "source": "./guard", "description": about}],
    });
    let plugin = json!({"name": "phasegate", "version": env!("CARGO_PKG_VERSION"), "description": about});
    let command = request.command.replace('\\', "\\\\").replace('\'', "\\'");
    let files = [
        (folder.join(SETTINGS), text(&settings)),
        (market.join(".claude-plugin/marketplace.json"), text(&list)),
        (market.join("guard/.claude-plugin/plugin.json"), text(&plugin)),
        (market.join("guard/hooks/hooks.json"), text(&json!({"modules": ["./guard.jsx"]}))),
        (market.join("guard/hooks/guard.jsx"), GUARD.replace("@PROGRAM@", &command)),
    ];
    files.into_iter().map(|(path, text)| Change { path, before: None, after: Some(text) }).collect()
}

fn text(value: &Value) -> String {
    format!("{value:#}\n")
}
