//! What settings and plugins mean: `tests/examine/NAME.json`, with the findings beside it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use phasegate_adapter::{ExamineRequest, InstallScope};
use phasegate_opencode::plugin;
use serde::Deserialize;
use serde_json::Value;

use super::cases::{adapter, entries, golden, own, request};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[expect(dead_code, reason = "for readers")]
    about: String,
    /// Each file's text; `{"plugin": COMMAND}` stands for what `init` writes, with `change` for a change of it.
    #[serde(default)]
    files: BTreeMap<String, Value>,
    version: Option<String>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// Whether the guard would be gone with them.
    unguarded: bool,
}

fn text(file: &Value) -> String {
    match file {
        Value::String(text) => text.clone(),
        file => {
            let text = plugin(file["plugin"].as_str().unwrap(), phasegate_core::policy::Mode::Block);
            match file["without"].as_str() {
                Some(part) => text.replace(part, ""),
                None => text,
            }
        }
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
        let files = case.files.iter().map(|(path, file)| (path.as_str(), text(file)));
        let install = request(InstallScope::Project, files);
        assert_eq!(adapter().installer().unguarded(&install).is_some(), case.unguarded, "{name}");
        let examined = adapter().diagnostics().examine(&ExamineRequest {
            install,
            version: case.version,
            environment: case.environment,
        });
        let mut told = format!("programs: {}\n", examined.programs.join(", "));
        for finding in &examined.findings {
            let _ = writeln!(told, "{}: {}", finding.level.word(), finding.what);
            if let Some(suggestion) = &finding.suggestion {
                let _ = writeln!(told, "  help: {suggestion}");
            }
        }
        golden(&path.with_extension("golden.txt"), &told);
        seen += 1;
    }
    assert!(seen >= 8, "{seen} cases");
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
