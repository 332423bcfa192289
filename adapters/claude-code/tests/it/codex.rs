//! Codex CLI: its hooks file, what `init` writes there, and what a person's trust means for it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use phasegate_adapter::{Adapter, Change, ExamineRequest, InstallRequest, InstallScope, Level, PROGRAM};
use phasegate_claude_code::CODEX;
use phasegate_core::policy::Mode;
use serde_json::Value;

const HOOKS: &str = "/project/.codex/hooks.json";
const CONFIG: &str = "/home/.codex/config.toml";

fn request(scope: InstallScope, files: &[(&str, &str)]) -> InstallRequest {
    InstallRequest {
        project: "/project".into(),
        home: "/home".into(),
        command: PROGRAM.into(),
        mode: Mode::Block,
        scope,
        shell: None,
        existing: files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect(),
    }
}

fn installed() -> String {
    let mut changes = CODEX.installer().install(&request(InstallScope::Project, &[])).unwrap();
    assert_eq!((changes.len(), changes[0].path.to_str()), (1, Some(HOOKS)));
    changes.remove(0).after.unwrap()
}

/// The config of a person who trusts the project and these hooks.
fn trust(hooks: &str) -> String {
    let settings: Value = serde_json::from_str(hooks).unwrap();
    let mut config = String::from("[projects.\"/project\"]\ntrust_level = \"trusted\"\n");
    for (place, digest) in CODEX.installer().digests(HOOKS.as_ref(), &settings) {
        let _ = writeln!(config, "[hooks.state.\"{place}\"]\ntrusted_hash = \"{digest}\"");
    }
    config
}

fn problems(files: &[(&str, &str)]) -> Vec<String> {
    let install = request(InstallScope::Project, files);
    let asked = ExamineRequest { install, version: Some("0.171.0".into()), environment: BTreeMap::new() };
    let found = CODEX.diagnostics().examine(&asked).findings;
    found.into_iter().filter(|finding| finding.level == Level::Problem).map(|finding| finding.what).collect()
}

#[test]
fn each_line_denies_with_a_reason_where_the_guard_is_missing() {
    let settings: Value = serde_json::from_str(&installed()).unwrap();
    let line = |event: &str| settings["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let hooks = settings["hooks"].as_object().unwrap();
    assert_eq!(hooks.len(), 9);
    assert!(line("PreToolUse").contains(" hook codex --confirm;"), "{}", line("PreToolUse"));
    assert!(line("PreToolUse").contains("This is denied.\" >&2; exit 2"), "{}", line("PreToolUse"));
    for event in ["Stop", "SubagentStop"] {
        assert!(!line(event).contains("exit 2"), "{}", line(event));
    }
    assert_eq!(settings["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], 3);
}

#[test]
fn it_is_written_once_and_taken_back_whole() {
    let text = installed();
    let again = request(InstallScope::Project, &[(HOOKS, &text), (CONFIG, "model = \"x\"\n")]);
    assert_eq!(CODEX.installer().install(&again), Ok(Vec::new()));
    assert_eq!(CODEX.installer().unguarded(&again), None);
    let undone: Vec<Change> = CODEX.installer().uninstall(&again).unwrap();
    assert_eq!((undone.len(), undone[0].after.as_ref()), (1, None));
    let own = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"./mine\"}]}]}}\n";
    let beside = CODEX.installer().install(&request(InstallScope::User, &[("/home/.codex/hooks.json", own)])).unwrap();
    let after = beside[0].after.clone().unwrap();
    assert!(after.contains("./mine") && beside[0].path.ends_with("hooks.json"), "{after}");
    let back = CODEX.installer().uninstall(&request(InstallScope::User, &[("/home/.codex/hooks.json", &after)]));
    let back: Value = serde_json::from_str(back.unwrap()[0].after.as_ref().unwrap()).unwrap();
    assert_eq!(back, serde_json::from_str::<Value>(own).unwrap());
    assert_eq!(CODEX.installer().install_local(&again), Ok(None));
}

#[test]
fn hooks_that_nobody_trusts_are_a_problem() {
    let text = installed();
    let config = trust(&text);
    assert_eq!(problems(&[(HOOKS, &text), (CONFIG, &config)]), [""; 0]);
    let found = problems(&[(HOOKS, &text)]);
    assert!(found[0].contains("`PreToolUse`") && found[1].contains("nobody trusts the project"), "{found:?}");
    let changed = text.replacen("\"timeout\": 10", "\"timeout\": 11", 1);
    let found = problems(&[(HOOKS, &changed), (CONFIG, &config)]);
    assert!(found.len() == 1 && found[0].contains("for `PreToolUse`: nobody trusts them"), "{found:?}");
    let off = format!("{config}[features]\nhooks = false\n");
    assert!(problems(&[(HOOKS, &text), (CONFIG, &off)])[0].contains("no hook runs"));
    let disabled = config.replacen("trusted_hash", "enabled = false\ntrusted_hash", 1);
    assert_eq!(problems(&[(HOOKS, &text), (CONFIG, &disabled)]).len(), 1);
    assert!(problems(&[(HOOKS, &text), (CONFIG, "= no")])[0].contains("is not TOML"));
}

#[test]
fn a_line_in_both_files_is_told_as_each_is_started() {
    let text = installed();
    let install = request(InstallScope::Project, &[(HOOKS, &text), ("/home/.codex/hooks.json", &text)]);
    let asked = ExamineRequest { install, version: None, environment: BTreeMap::new() };
    let found = CODEX.diagnostics().examine(&asked).findings;
    assert!(found.iter().any(|finding| finding.what.contains("decided twice")), "{found:?}");
}
