//! Lists before and after: `tests/install/NAME/{before.json,after.json}`, with `request.json` for what is asked.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use phasegate_adapter::{Diagnostics, ExamineRequest, InstallRequest, InstallScope, Installer, Level, Parts};
use phasegate_mcp::Mcp;
use serde::Deserialize;

/// What a case asks for, beside the list.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Asked {
    command: String,
    /// The list's place; below the project where it is relative.
    file: PathBuf,
    user: bool,
    servers: Vec<String>,
    in_force: Vec<String>,
    /// Undoing gives back the list as it was, but for blanks.
    restores: bool,
    /// The code of the problem that is met instead.
    problem: Option<String>,
}

impl Default for Asked {
    fn default() -> Self {
        Self {
            command: "phasegate".into(),
            file: ".mcp.json".into(),
            user: false,
            servers: Vec::new(),
            in_force: Vec::new(),
            restores: true,
            problem: None,
        }
    }
}

fn request(asked: &Asked, text: Option<&str>) -> InstallRequest {
    let path = Path::new("/project").join(&asked.file);
    InstallRequest {
        project: "/project".into(),
        home: "/home".into(),
        command: asked.command.clone(),
        mode: phasegate_core::policy::Mode::Block,
        scope: if asked.user { InstallScope::User } else { InstallScope::Project },
        shell: None,
        existing: text.map(|text| (path, text.to_owned())).into_iter().collect::<BTreeMap<_, _>>(),
    }
}

fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/install");
    let mut folders: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    assert!(!folders.is_empty());
    folders
}

fn read(path: &Path) -> Option<String> {
    path.exists().then(|| fs::read_to_string(path).unwrap())
}

fn asked(folder: &Path) -> Asked {
    read(&folder.join("request.json")).map_or_else(Asked::default, |text| serde_json::from_str(&text).unwrap())
}

#[test]
fn golden_lists_change_as_expected() {
    for folder in folders() {
        let (asked, name) = (asked(&folder), folder.display());
        let before = read(&folder.join("before.json"));
        let parts = Parts { servers: asked.servers.clone(), in_force: asked.in_force.clone() };
        let changes = match (Mcp.install_parts(&request(&asked, before.as_deref()), &parts), &asked.problem) {
            (Err(problem), Some(code)) => {
                assert_eq!(problem.code.id(), code, "{name}: {problem}");
                assert!(!folder.join("after.json").exists(), "{name}: not used");
                continue;
            }
            (Err(problem), None) => panic!("{name}: {problem}"),
            (Ok(_), Some(code)) => panic!("{name}: no problem {code}"),
            (Ok(changes), None) => changes,
        };
        assert!(changes.len() <= 1, "{name}");
        let after = changes.first().map_or_else(|| before.clone(), |change| change.after.clone());
        let expected = folder.join("after.json");
        if std::env::var_os("PHASEGATE_BLESS").is_some_and(|value| value == "1") {
            fs::write(&expected, after.as_ref().unwrap()).unwrap();
        }
        assert_eq!(read(&expected), after, "{name}: PHASEGATE_BLESS=1 cargo test -p phasegate-mcp accepts it");
        let again = request(&asked, after.as_deref());
        assert_eq!(Mcp.install_parts(&again, &parts), Ok(Vec::new()), "{name}: a second time changes nothing");
        let undone = Mcp.uninstall(&again).unwrap();
        let undone = undone.first().map_or_else(|| after.clone(), |change| change.after.clone());
        let left = undone.unwrap();
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        if asked.restores {
            assert_eq!(bare(&left), bare(before.as_deref().unwrap_or_default()), "{name}");
        }
        assert!(!left.contains("\"proxy\""), "{name}: {left}");
    }
}

#[test]
fn who_runs_unguarded_is_said() {
    for folder in folders() {
        let (asked, name) = (asked(&folder), folder.display());
        let Some(before) = read(&folder.join("before.json")).filter(|_| asked.problem.is_none()) else { continue };
        let warnings = |text: &str| {
            let request =
                ExamineRequest { install: request(&asked, Some(text)), version: None, environment: BTreeMap::new() };
            let findings = Mcp.examine(&request).findings;
            assert!(!findings.is_empty(), "{name}");
            findings.iter().filter(|finding| finding.level == Level::Warning).count()
        };
        let after = read(&folder.join("after.json")).unwrap();
        let left = usize::from(name.to_string().ends_with("sse-is-left"));
        if asked.servers.is_empty() {
            assert_eq!(warnings(&after), left, "{name}");
            assert_eq!(Mcp.unguarded(&request(&asked, Some(&after))), None, "{name}");
        }
        if before != after && !before.contains("\"proxy\"") {
            assert!(warnings(&before) > warnings(&after), "{name}");
            let why = Mcp.unguarded(&request(&asked, Some(&before))).unwrap();
            assert!(why.contains("none of the"), "{name}: {why}");
        }
    }
}

#[test]
fn what_cannot_be_read_is_a_problem_and_unguarded() {
    let broken = request(&Asked::default(), Some("{"));
    assert!(Mcp.unguarded(&broken).is_some());
    let examined = Mcp.examine(&ExamineRequest { install: broken, version: None, environment: BTreeMap::new() });
    assert_eq!(examined.findings[0].level, Level::Problem);
}
