//! Whether the client would start the guard with the settings as they are.

use std::path::Path;

use jsonc_parser::cst::{CstNode, CstObject};
use phasegate_adapter::InstallRequest;
use phasegate_adapter::client::install::STATE_VARIABLES;

use crate::hosts::host::Host;
use crate::settings::entry::{by_client, ours};
use crate::settings::odd_hooks::reject_odd_hooks;
use crate::settings::{Comments, group_of, holds_hooks, parse, reject_switched_off, takes_all};

/// Why the client would not start the guard; `None` where some settings file starts it for every event that must be
/// denied when it fails, and none switches hooks off.
pub(crate) fn unguarded(host: &Host, request: &InstallRequest) -> Option<String> {
    let off = request.existing.iter().find_map(|(path, text)| reject_switched_off(path, text).err());
    if let Some(problem) = off {
        return Some(problem.message);
    }
    let mut own = request.existing.iter().filter(|(path, _)| path.starts_with(&request.project));
    if let Some(why) = own.find_map(|(path, text)| moved_state(path, text)) {
        return Some(why);
    }
    let files = request.existing.iter().filter(|(path, _)| holds_hooks(path));
    let files: Vec<_> = files.map(|(path, text)| missing(host, path, text, &request.command)).collect();
    if files.iter().any(|missing| missing.is_none()) {
        return None;
    }
    // A broken file that names the guard tells more than a file that does not name it.
    files
        .into_iter()
        .flatten()
        .max_by_key(|(ours, _)| *ours)
        .map_or_else(|| Some("no settings file has a hook that runs it".to_string()), |(_, why)| Some(why))
}

/// Why a guard that is started with these settings of a project would know nothing of it: they give it another state.
fn moved_state(path: &Path, text: &str) -> Option<String> {
    let (_, root) = parse(path, text, Comments::Refused).ok()?;
    let settings = root.to_serde_value()?;
    let name = STATE_VARIABLES.iter().find(|name| settings.get("env").is_some_and(|env| env.get(name).is_some()))?;
    Some(format!("`{}` sets `{name}`, so that the guard would have another state", path.display()))
}

/// Whether the settings file starts the guard as for block mode: for an event that must be denied when it fails, the client
/// denies where the guard hangs.
pub(crate) fn demands(host: &Host, path: &Path, text: &str) -> bool {
    if !text.contains("phasegate") {
        return false;
    }
    let Ok((_, root)) = parse(path, text, Comments::Refused) else { return false };
    let Some(hooks) = root.object_value().and_then(|object| object.object_value("hooks")) else { return false };
    let denies = |event: &str| {
        let ours = hooks.array_value(event).map(|groups| ours(host, &groups, "phasegate")).unwrap_or_default();
        ours.iter().filter_map(CstNode::to_serde_value).any(|hook| by_client(&hook))
    };
    host.closed_events().any(denies)
}

/// What keeps one settings file from starting the guard, and for how many events it does.
fn missing(host: &Host, path: &Path, text: &str, command: &str) -> Option<(usize, String)> {
    let hooks = match parse(path, text, Comments::Refused) {
        Err(problem) => return Some((usize::from(text.contains("phasegate")), problem.message)),
        Ok((_, root)) => root.object_value().and_then(|object| object.object_value("hooks")),
    };
    let none = || Some((0, format!("no hook in `{}` runs it", path.display())));
    let Some(hooks) = hooks else { return none() };
    let (there, gone): (Vec<_>, Vec<_>) = host.closed_events().partition(|event| runs(host, &hooks, event, command));
    if let Some(event) = gone.first() {
        let why = format!("no hook in `{}` runs it for every `{event}`", path.display());
        return Some((there.len(), why));
    }
    reject_odd_hooks(host, path, &hooks, command).err().map(|problem| (there.len(), problem.message))
}

/// Whether a hook of ours takes all that happens under this event.
fn runs(host: &Host, hooks: &CstObject, event: &str, command: &str) -> bool {
    let entries = hooks.array_value(event);
    let ours = entries.map(|entries| ours(host, &entries, command)).unwrap_or_default();
    ours.iter().any(|hook| group_of(hook).is_some_and(|group| takes_all(&group)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use phasegate_adapter::{InstallRequest, InstallScope};
    use phasegate_core::policy::Mode;
    use serde_json::{Value, json};

    use super::unguarded as unguarded_on;
    use crate::hosts::claude_code::HOST;
    use crate::settings::install::install;

    fn unguarded(request: &InstallRequest) -> Option<String> {
        unguarded_on(&HOST, request)
    }

    fn request(files: &[(&str, &str)]) -> InstallRequest {
        let existing = files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_string()));
        InstallRequest {
            project: PathBuf::from("/p"),
            home: PathBuf::from("/h"),
            command: "/opt/phasegate".into(),
            mode: Mode::Block,
            scope: InstallScope::Project,
            shell: None,
            existing: existing.collect::<BTreeMap<_, _>>(),
        }
    }

    fn installed() -> String {
        install(&HOST, &request(&[])).unwrap().remove(0).after.unwrap()
    }

    fn edited(edit: impl Fn(&mut Value)) -> String {
        let mut value: Value = serde_json::from_str(&installed()).unwrap();
        edit(&mut value);
        value.to_string()
    }

    #[test]
    fn what_init_writes_stands_wherever_it_is_written() {
        for path in ["/p/.claude/settings.json", "/h/.claude/settings.json", "/p/.claude/settings.local.json"] {
            assert_eq!(unguarded(&request(&[(path, &installed()), ("/p/other.json", "{}")])), None, "{path}");
        }
    }

    #[test]
    fn every_way_to_take_it_away_is_seen() {
        let hook = "/p/.claude/settings.json";
        let local = "/p/.claude/settings.local.json";
        let gone = |files: &[(&str, &str)], says: &str| {
            let why = unguarded(&request(files)).unwrap();
            assert!(why.contains(says), "{why}");
        };
        gone(&[], "no settings file");
        gone(&[(hook, "{}")], "no hook in `/p/.claude/settings.json`");
        gone(&[(hook, "")], "no hook");
        gone(&[(hook, &installed()), (local, r#"{"disableAllHooks": true}"#)], "disableAllHooks");
        gone(&[(hook, &format!("// x\n{}", installed()))], "ignores");
        gone(&[(hook, installed().trim_end().trim_end_matches('}'))], "ignores");
        gone(&[(hook, &edited(|value| value["hooks"]["PreToolUse"] = json!([])))], "`PreToolUse`");
        gone(&[(hook, &edited(|value| value["hooks"]["PreToolUse"][0]["matcher"] = json!("Read")))], "`PreToolUse`");
        gone(&[(hook, &edited(|value| value["hooks"]["ConfigChange"] = json!(null)))], "`ConfigChange`");
        gone(
            &[(hook, &edited(|value| value["hooks"]["Stop"][0]["hooks"][0]["type"] = json!("odd")))],
            "the type `odd`",
        );
        gone(&[(hook, &installed().replace("hook claude-code", "hook claude-code || true #"))], "`PreToolUse`");
    }
}
