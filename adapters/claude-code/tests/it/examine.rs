//! What settings mean for the guard: `tests/examine/NAME.json` says which there are, `NAME.golden.txt` what is found.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use phasegate_adapter::{ExamineRequest, InstallRequest, InstallScope, Level};
use phasegate_core::policy::Mode;
use serde::Deserialize;
use serde_json::Value;

use super::cases::{adapter, bless, blessing, entries, mismatch, own};

/// A case.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What it shows.
    #[expect(dead_code, reason = "for the reader")]
    about: String,
    files: BTreeMap<PathBuf, Text>,
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// The level of the worst finding.
    worst: String,
}

/// The text of a settings file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum Text {
    /// As it stands here.
    Is(String),
    /// What `init` writes, with a JSON merge patch applied.
    Init(Value),
}

fn request(existing: BTreeMap<PathBuf, String>) -> InstallRequest {
    InstallRequest {
        project: "/project".into(),
        home: "/home".into(),
        command: "/opt/phasegate".into(),
        mode: Mode::Block,
        scope: InstallScope::Project,
        shell: None,
        existing,
    }
}

fn text(text: &Text) -> String {
    let change = match text {
        Text::Is(text) => return text.clone(),
        Text::Init(change) => change,
    };
    let changes = adapter().installer().install(&request(BTreeMap::new())).unwrap();
    let settings = changes.iter().find(|change| change.path.ends_with("settings.json")).unwrap();
    let mut value: Value = serde_json::from_str(settings.after.as_ref().unwrap()).unwrap();
    merge(&mut value, change);
    serde_json::to_string_pretty(&value).unwrap()
}

fn merge(target: &mut Value, change: &Value) {
    match (target, change) {
        (Value::Object(target), Value::Object(fields)) => {
            for (name, change) in fields {
                if change.is_null() {
                    target.remove(name);
                } else {
                    merge(target.entry(name.clone()).or_insert(Value::Null), change);
                }
            }
        }
        (target, change) => *target = change.clone(),
    }
}

#[test]
fn golden_settings_mean_what_the_cases_say() {
    let mut seen = 0;
    for path in entries(&own("examine")) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if let Some(case) = name.strip_suffix(".golden.txt") {
            assert!(own("examine").join(format!("{case}.json")).exists(), "{name}: no case");
            continue;
        }
        let case: Case = serde_json::from_str(&fs::read_to_string(&path).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let existing = case.files.iter().map(|(path, file)| (path.clone(), text(file))).collect();
        let examined = adapter().diagnostics().examine(&ExamineRequest {
            install: request(existing),
            version: case.version,
            environment: case.environment,
        });
        let mut told = format!("programs: {}\nmanaged: {}\n", examined.programs.join(", "), examined.managed);
        for finding in &examined.findings {
            let _ = writeln!(told, "{}: {}", finding.level.word(), finding.what);
            if let Some(suggestion) = &finding.suggestion {
                let _ = writeln!(told, "  help: {suggestion}");
            }
        }
        let worst = examined.findings.iter().map(|finding| finding.level).max().unwrap_or(Level::Ok);
        assert_eq!(worst.word(), case.worst, "{}: {told}", path.display());
        let golden = path.with_extension("golden.txt");
        if blessing() {
            bless(&golden, &told);
        }
        let wanted = fs::read_to_string(&golden).unwrap_or_default();
        assert!(told == wanted, "{}\nis:\n{told}", mismatch(&golden, "other findings"));
        seen += 1;
    }
    assert!(seen > 10, "{seen} cases");
}

#[test]
fn a_way_to_lose_the_guard_says_what_happens_then() {
    let limits = adapter().diagnostics().limits();
    assert!(!limits.is_empty());
    for limit in limits {
        assert!(limit.way.len() > 20 && limit.then.len() > 20, "{limit:?}");
        assert!(!limit.way.ends_with('.') && !limit.then.ends_with('.'), "{limit:?}");
    }
}
