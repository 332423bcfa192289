//! Writes the extension's file to the place where the client looks for it, and removes it.

use std::path::{Path, PathBuf};

use phasegate_adapter::{Change, InstallRequest, InstallScope, Problem};
use phasegate_core::Code;
use phasegate_core::policy::Mode;
use serde_json::Value;

use crate::table::EXTENSION;

/// Where the extension lies below the user's home.
const USER: &str = ".pi/agent/extensions/phasegate.ts";
/// The extension, as it is published.
const SHIM: &str = include_str!("../shim/phasegate.ts");
/// The line that says which program is the guard.
const COMMAND: &str = "const COMMAND = \"phasegate\";";
/// The line that says what happens without that program, in each mode.
const MODE_BLOCK: &str = "const MODE = \"block\";";
const MODE_WARN: &str = "const MODE = \"warn\";";
/// How the line of the program begins, whatever the program.
const COMMAND_START: &str = "const COMMAND = ";
/// The first line of every version of the extension.
const MARK: &str = "// phasegate for Pi:";
/// What the source of the extension's package has in it: a folder, a tarball, a repository or a name.
const PACKAGE: &str = "phasegate";

/// The extension's text, for a guard that `command` starts: an absolute path, or a name found through `PATH`. Without that
/// program, `mode` decides.
#[must_use]
pub fn extension(command: &str, mode: Mode) -> String {
    let line = format!("{COMMAND_START}{};", Value::from(command));
    let text = SHIM.replacen(COMMAND, &line, 1);
    if mode == Mode::Warn { text.replacen(MODE_BLOCK, MODE_WARN, 1) } else { text }
}

/// The change that puts the extension there, or renews it.
pub(crate) fn install(request: &InstallRequest) -> Result<Vec<Change>, Problem> {
    if let Some((path, why)) = switched_off(request) {
        return Err(Problem::new(Code::ConfigValue, format!("`{}` {why}", path.display())));
    }
    let path = place(request, request.scope);
    let before = request.existing.get(&path);
    if before.is_some_and(|text| !text.starts_with(MARK)) {
        let what = format!("`{}` is there and is not phasegate's; move it away first", path.display());
        return Err(Problem::new(Code::ConfigValue, what));
    }
    let after = extension(&request.command, request.mode);
    if before == Some(&after) {
        return Ok(Vec::new());
    }
    Ok(vec![Change { path, before: before.cloned(), after: Some(after) }])
}

/// The change that takes the extension away, whatever version of it is there.
pub(crate) fn uninstall(request: &InstallRequest) -> Vec<Change> {
    let path = place(request, request.scope);
    let before = request.existing.get(&path).filter(|text| text.starts_with(MARK)).cloned();
    before.map(|before| Change { path, before: Some(before), after: None }).into_iter().collect()
}

/// What a user must know after the installation.
pub(crate) fn advice(request: &InstallRequest) -> Vec<String> {
    match request.scope {
        InstallScope::User => Vec::new(),
        InstallScope::Project => vec![
            format!(
                "Pi loads `{EXTENSION}` only once the project is trusted: answer its question in a terminal, or start it with \
                 `--approve`; in print and JSON mode it is otherwise not loaded, and nothing says so"
            ),
            "subagents are clients of their own and are not trusted: `phasegate init pi --user` guards those too"
                .into(),
            format!("once without either: `pi -e {EXTENSION}`"),
        ],
    }
}

/// Why the client would not load the extension; `None` where it would, a project's once it is trusted.
pub(crate) fn unguarded(request: &InstallRequest) -> Option<String> {
    if let Some((path, why)) = switched_off(request) {
        return Some(format!("`{}` {why}", path.display()));
    }
    if !packages(request).is_empty() {
        return None;
    }
    let found: Vec<_> = [InstallScope::Project, InstallScope::User]
        .into_iter()
        .map(|scope| place(request, scope))
        .filter_map(|path| request.existing.get(&path).map(|text| (path, is_whole(text))))
        .collect();
    match found.as_slice() {
        [] => Some("the extension is in no folder that it is loaded from".into()),
        found if found.iter().any(|(_, whole)| *whole) => None,
        found => found.first().map(|(path, _)| format!("`{}` is not as `phasegate init` writes it", path.display())),
    }
}

/// Whether a text is the extension to the letter, whatever program it starts.
pub(crate) fn is_whole(text: &str) -> bool {
    let modes = [Mode::Block, Mode::Warn];
    command_of(text).is_some_and(|command| modes.into_iter().any(|mode| extension(&command, mode) == text))
}

/// The program that an extension's text starts.
pub(crate) fn command_of(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(COMMAND_START))?;
    serde_json::from_str(line.strip_suffix(';')?).ok()
}

pub(crate) fn place(request: &InstallRequest, scope: InstallScope) -> PathBuf {
    match scope {
        InstallScope::Project => request.project.join(EXTENSION),
        InstallScope::User => request.home.join(USER),
    }
}

/// The settings that are JSON, with what they say.
pub(crate) fn settings(request: &InstallRequest) -> impl Iterator<Item = (&Path, Value)> {
    let files = request.existing.iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "json"));
    files.filter_map(|(path, text)| Some((path.as_path(), serde_json::from_str(text).ok()?)))
}

/// The texts of a list in settings; of an entry that is an object, its source.
fn entries(settings: &Value, key: &str) -> Vec<String> {
    let list = settings.get(key).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|entry| entry.as_str().or_else(|| entry.get("source")?.as_str()).map(str::to_owned)).collect()
}

/// Settings that keep the extension from being loaded.
pub(crate) fn switched_off(request: &InstallRequest) -> Option<(PathBuf, String)> {
    settings(request).find_map(|(path, value)| {
        let out = |entry: &String| entry.starts_with(['!', '-']) && may_mean(entry.get(1..).unwrap_or_default());
        let entry = entries(&value, "extensions").into_iter().find(out)?;
        Some((path.to_path_buf(), format!("has `{entry}` among `extensions`, so the client does not load it")))
    })
}

/// Whether a pattern that leaves extensions out may mean ours.
fn may_mean(pattern: &str) -> bool {
    let name = pattern.rsplit('/').next().unwrap_or(pattern);
    let (before, after) = name.split_once('*').unwrap_or((name, ""));
    let whole = "phasegate.ts";
    let fits =
        |text: &str| text.starts_with(before) && (!name.contains('*') || text.ends_with(after.trim_start_matches('*')));
    if name.contains(['?', '[', '{', '(']) || name == "**" {
        return true;
    }
    if name.contains('*') { fits(whole) } else { name == whole || name == "extensions" }
}

/// The settings that name our package.
pub(crate) fn packages(request: &InstallRequest) -> Vec<PathBuf> {
    let names = |source: &String| source.contains(PACKAGE);
    let found = settings(request).filter(|(_, value)| entries(value, "packages").iter().any(names));
    found.map(|(path, _)| path.to_path_buf()).collect()
}

#[cfg(test)]
mod tests {
    use phasegate_core::policy::Mode;

    use super::{COMMAND, MARK, SHIM, command_of, extension, is_whole, may_mean};

    #[test]
    fn the_extension_names_its_program_in_one_line() {
        assert_eq!(SHIM.matches(COMMAND).count(), 1);
        assert!(SHIM.starts_with(MARK));
        for command in ["phasegate", "/opt/it's \"here\"/phasegate", "C:\\tools\\phasegate.exe"] {
            let text = extension(command, Mode::Warn);
            assert_ne!(text, extension(command, Mode::Block));
            assert_eq!((command_of(&text).as_deref(), is_whole(&text)), (Some(command), true));
        }
        assert!(!is_whole(&extension("phasegate", Mode::Block).replace("deny", "allow")));
        assert!(!is_whole(""));
    }

    #[test]
    fn patterns_that_leave_it_out_are_seen() {
        for pattern in
            ["phasegate.ts", "extensions/phasegate.ts", "*.ts", "extensions/*", "**", "phase*", "phasegate.t?"]
        {
            assert!(may_mean(pattern), "{pattern}");
        }
        for pattern in ["legacy.ts", "extensions/legacy*", "*.js"] {
            assert!(!may_mean(pattern), "{pattern}");
        }
    }
}
