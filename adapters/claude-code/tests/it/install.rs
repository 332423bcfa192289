//! Settings before and after: `tests/install/NAME/{before.json,after.json}`, with `request.json` for what is asked.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use phasegate_adapter::{Change, InstallRequest, InstallScope, PROGRAM};
use phasegate_core::policy::Mode;
use serde::Deserialize;

use super::cases::{adapter, bless, blessing, entries, mismatch, own};

/// What a case asks for, beside the files.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Asked {
    command: Option<String>,
    user: bool,
    /// The mode is warn, not block.
    warn: bool,
    undo: bool,
    /// Undoing the installation gives back the settings as they were, to the byte.
    keeps_bytes: bool,
    /// The code of the problem that is met instead.
    problem: Option<String>,
}

fn request(asked: &Asked, existing: BTreeMap<PathBuf, String>) -> InstallRequest {
    InstallRequest {
        project: "/project".into(),
        home: "/home".into(),
        command: asked.command.clone().unwrap_or_else(|| PROGRAM.into()),
        mode: if asked.warn { Mode::Warn } else { Mode::Block },
        scope: if asked.user { InstallScope::User } else { InstallScope::Project },
        shell: None,
        existing,
    }
}

fn read(path: &Path) -> Option<String> {
    path.exists().then(|| fs::read_to_string(path).unwrap())
}

fn all_used(folder: &Path) {
    for file in entries(folder) {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let known = ["before.json", "after.json", "request.json"];
        assert!(known.contains(&name.as_str()), "{}: not used", file.display());
    }
}

#[test]
fn golden_settings_change_as_expected() {
    let folders = entries(&own("install"));
    assert!(!folders.is_empty());
    for folder in folders {
        let asked: Asked =
            read(&folder.join("request.json")).map_or_else(Asked::default, |text| serde_json::from_str(&text).unwrap());
        all_used(&folder);
        let path =
            PathBuf::from(if asked.user { "/home/.claude/settings.json" } else { "/project/.claude/settings.json" });
        let before = read(&folder.join("before.json"));
        let existing: BTreeMap<_, _> = before.iter().map(|text| (path.clone(), text.clone())).collect();
        let run = |existing| {
            if asked.undo {
                adapter().installer().uninstall(&request(&asked, existing))
            } else {
                adapter().installer().install(&request(&asked, existing))
            }
        };
        let changes = match (run(existing), &asked.problem) {
            (Err(problem), Some(code)) => {
                assert_eq!(problem.code.id(), code, "{}: {problem}", folder.display());
                continue;
            }
            (Err(problem), None) => panic!("{}: {problem}", folder.display()),
            (Ok(_), Some(code)) => panic!("{}: no problem {code}", folder.display()),
            (Ok(changes), None) => changes,
        };
        let typed = |change: &Change| change.path.ends_with("commands/phasegate.md");
        let (typed, changes): (Vec<_>, Vec<_>) = changes.into_iter().partition(typed);
        assert_eq!(typed.len(), usize::from(!asked.undo), "{}", folder.display());
        let after = match changes.as_slice() {
            [] => before.clone(),
            [change] => {
                assert_eq!((&change.path, &change.before), (&path, &before), "{}", folder.display());
                change.after.clone()
            }
            _ => panic!("{}: one file at most", folder.display()),
        };
        let expected = folder.join("after.json");
        if blessing() {
            match &after {
                Some(text) => bless(&expected, text),
                None if expected.exists() => fs::remove_file(&expected).unwrap(),
                None => {}
            }
        }
        assert_eq!(read(&expected), after, "{}", mismatch(&expected, "other settings"));
        let mut again: BTreeMap<_, _> = after.iter().map(|text| (path.clone(), text.clone())).collect();
        again.extend(typed.iter().filter_map(|change| Some((change.path.clone(), change.after.clone()?))));
        assert_eq!(run(again.clone()), Ok(Vec::new()), "{}: a second time changes nothing", folder.display());
        if asked.keeps_bytes {
            let undone = adapter().installer().uninstall(&request(&asked, again)).unwrap();
            assert_eq!(undone[0].after, before, "{}", folder.display());
            assert_eq!((undone.len(), undone[1].after.as_ref()), (2, None), "{}", folder.display());
        }
    }
}

#[test]
fn a_command_of_the_users_own_stays() {
    let path = PathBuf::from("/project/.claude/commands/phasegate.md");
    let existing = BTreeMap::from([(path, "mine\n".to_owned())]);
    for changes in [
        adapter().installer().install(&request(&Asked::default(), existing.clone())),
        adapter().installer().uninstall(&request(&Asked::default(), existing)),
    ] {
        assert!(changes.unwrap().iter().all(|change| change.path.ends_with("settings.json")));
    }
}

#[test]
fn hooks_switched_off_elsewhere_are_a_problem() {
    let local = PathBuf::from("/project/.claude/settings.local.json");
    let existing = BTreeMap::from([(local, "{\"disableAllHooks\": true}".to_owned())]);
    let problem = adapter().installer().install(&request(&Asked::default(), existing)).unwrap_err();
    assert!(problem.message.contains("settings.local.json"), "{problem}");
}

#[test]
fn the_exec_form_asks_the_client_to_block() {
    use phasegate_claude_code::{CLAUDE_CODE, Form};
    let hook = CLAUDE_CODE.entry("PreToolUse", "/opt/my tools/phasegate", Mode::Block, Form::Exec);
    assert_eq!(
        hook,
        serde_json::json!({
            "type": "command", "command": "/opt/my tools/phasegate", "args": ["hook", "claude-code"], "timeout": 10, "onFailure": "block",
        })
    );
    assert!(
        CLAUDE_CODE.entry("Stop", "phasegate", Mode::Block, Form::Exec).get("onFailure").is_none(),
        "a stop that is blocked goes on for ever"
    );
}
