//! The client's plugin folder with our plugin in it, and without; and what of the client's own we look at.

use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use phasegate_adapter::{Change, InstallRequest, InstallScope, Problem};
use phasegate_core::Code;
use phasegate_core::policy::Mode;
use serde_json::Value;

use crate::table::{ELSEWHERE, PLUGIN};

/// The plugin as it is shipped, with the name of our program where an installation puts its path.
const SHIM: &str = include_str!("../shim/phasegate.ts");
/// How the plugin's file begins.
const MARK: &str = "// phasegate: the guard's plugin for OpenCode.";
/// How the line begins that says which program the plugin starts.
const COMMAND: &str = "const COMMAND = ";
/// How the line begins that says which version the plugin is.
const VERSION: &str = "const VERSION = ";
/// The line that says what happens without that program, in each mode.
const MODE_BLOCK: &str = "const MODE = \"block\"\n";
const MODE_WARN: &str = "const MODE = \"warn\"\n";

/// The plugin that starts `command`: a path, or a name found through `PATH`. Without that program, `mode` decides.
#[must_use]
pub fn plugin(command: &str, mode: Mode) -> String {
    let line = |line: &str| match line.strip_prefix(COMMAND) {
        Some(_) => format!("{COMMAND}{}\n", Value::from(command)),
        None => format!("{line}\n"),
    };
    let text: String = SHIM.lines().map(line).collect();
    if mode == Mode::Warn { text.replacen(MODE_BLOCK, MODE_WARN, 1) } else { text }
}

/// Whether a text is the plugin to the letter, whatever program it starts.
pub(crate) fn is_whole(text: &str, program: &str) -> bool {
    [Mode::Block, Mode::Warn].into_iter().any(|mode| text == plugin(program, mode))
}

/// Whether a text does not say that it is the plugin of another version, and is not that of this one: it was changed since
/// it was written.
pub(crate) fn is_changed(text: &str) -> bool {
    let version = |text: &str| text.lines().find(|line| line.starts_with(VERSION)).map(str::to_owned);
    started(text).is_none_or(|program| !is_whole(text, &program))
        && version(text).is_none_or(|said| Some(said) == version(SHIM))
}

/// The program that a plugin of ours starts; `None` if the text is none of ours.
pub(crate) fn started(text: &str) -> Option<String> {
    let line = text.starts_with(MARK).then(|| text.lines().find_map(|line| line.strip_prefix(COMMAND)))??;
    serde_json::from_str(line).ok()
}

/// The plugin's file for a project or a user.
fn file(request: &InstallRequest) -> PathBuf {
    match request.scope {
        InstallScope::Project => whole(PLUGIN[0], request),
        InstallScope::User => whole(PLUGIN[1], request),
    }
}

fn whole(place: &str, request: &InstallRequest) -> PathBuf {
    place.strip_prefix("~/").map_or_else(|| request.project.join(place), |below| request.home.join(below))
}

/// The change that puts our plugin in.
pub(crate) fn install(request: &InstallRequest) -> Result<Vec<Change>, Problem> {
    let path = file(request);
    let before = request.existing.get(&path);
    let after = plugin(&request.command, request.mode);
    match before {
        Some(text) if started(text).is_none() => Err(Problem::new(
            Code::ConfigValue,
            format!("`{}` is there and is not phasegate's plugin; give it another name", path.display()),
        )),
        Some(text) if *text == after => Ok(Vec::new()),
        before => Ok(vec![Change { path, before: before.cloned(), after: Some(after) }]),
    }
}

/// The change that takes our plugin out.
pub(crate) fn uninstall(request: &InstallRequest) -> Vec<Change> {
    let path = file(request);
    let ours = request.existing.get(&path).filter(|text| started(text).is_some());
    ours.map(|text| Change { path: path.clone(), before: Some(text.clone()), after: None }).into_iter().collect()
}

/// The plugins of ours that the client would load: each file's path, and the program that it starts where that is known.
pub(crate) fn loaded(request: &InstallRequest) -> Vec<(PathBuf, Option<String>)> {
    let files = PLUGIN.iter().chain(&ELSEWHERE).map(|place| whole(place, request));
    let own = files.filter_map(|path| {
        let program = started(request.existing.get(&path)?)?;
        Some((path, Some(program)))
    });
    let listed = request.existing.iter().filter(|(path, text)| lists_ours(path, text));
    own.chain(listed.map(|(path, _)| (path.clone(), None))).collect()
}

/// Whether settings name our plugin among those that the client loads.
fn lists_ours(path: &Path, text: &str) -> bool {
    let named = |entry: &Value| {
        let name = entry.as_str().or_else(|| entry.get(0)?.as_str());
        name.is_some_and(|name| name.contains("phasegate"))
    };
    let plugins = settings(path, text).and_then(|value| Some(value.get("plugin")?.as_array()?.iter().any(named)));
    plugins.unwrap_or(false)
}

/// What settings say. The client takes comments and trailing commas. `None`: it is no settings file, or cannot be read.
pub(crate) fn settings(path: &Path, text: &str) -> Option<Value> {
    if !path.extension().is_some_and(|kind| kind == "json" || kind == "jsonc") {
        return None;
    }
    CstRootNode::parse(text, &ParseOptions::default()).ok()?.to_serde_value()
}

/// Why the client would not start the guard with what is there.
pub(crate) fn unguarded(request: &InstallRequest) -> Option<String> {
    let found = loaded(request);
    if found.is_empty() {
        return Some("no plugin of phasegate is where the client would load it".to_owned());
    }
    // Each call is decided once, by the first that is loaded: which one that is the client says.
    let changed = |path: &PathBuf| request.existing.get(path).is_some_and(|text| is_changed(text));
    let (path, _) = found.iter().find(|(path, program)| program.is_some() && changed(path))?;
    Some(format!("`{}` is not as `phasegate init` writes it", path.display()))
}

/// Whether a file that changed is one with which the client may start without the guard.
pub(crate) fn matters(file: &str) -> bool {
    let path = Path::new(file);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let parent = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    matches!(name, "opencode.json" | "opencode.jsonc")
        || matches!(parent, "plugin" | "plugins") && name.starts_with("phasegate")
}

#[cfg(test)]
mod tests {
    use phasegate_core::policy::Mode;

    use super::{MARK, MODE_BLOCK, MODE_WARN, SHIM, matters, plugin, started};

    #[test]
    fn the_plugin_starts_the_program_it_is_told_to() {
        assert!(SHIM.starts_with(MARK));
        assert_eq!(started(SHIM).as_deref(), Some("phasegate"));
        let text = plugin("/opt/my \"tools\"/phasegate", Mode::Warn);
        assert!(text.contains(MODE_WARN) && !text.contains(MODE_BLOCK));
        assert_eq!(started(&text).as_deref(), Some("/opt/my \"tools\"/phasegate"));
        assert_eq!(plugin("phasegate", Mode::Block), SHIM);
        assert_eq!(started("export const Other = async () => ({})\n"), None);
    }

    #[test]
    fn settings_and_the_plugin_matter() {
        for file in ["/p/opencode.json", "/p/.opencode/plugin/phasegate.ts", "/h/.config/opencode/opencode.jsonc"] {
            assert!(matters(file), "{file}");
        }
        assert!(!matters("/p/src/plugin.ts") && !matters("/p/.opencode/plugin/other.ts"));
    }
}
