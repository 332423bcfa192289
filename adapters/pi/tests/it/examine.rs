//! What settings mean for the guard: `tests/examine/NAME.json` says which there are, `NAME.golden.txt` what is found.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use phasegate_adapter::{ExamineRequest, InstallScope, Level};
use phasegate_pi::extension;
use serde::Deserialize;

use super::cases::{adapter, blessing, entries, mismatch, own, request};

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

/// The text of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum Text {
    /// As it stands here.
    Is(String),
    /// The extension, for this program.
    Extension(String),
    /// The extension for this program, with something added.
    Changed(String),
}

fn text(text: &Text) -> String {
    match text {
        Text::Is(text) => text.clone(),
        Text::Extension(command) => extension(command, phasegate_core::policy::Mode::Block),
        Text::Changed(command) => extension(command, phasegate_core::policy::Mode::Block) + "// more\n",
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
            install: request(InstallScope::Project, existing),
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
            fs::write(&golden, &told).unwrap();
        }
        let wanted = fs::read_to_string(&golden).unwrap_or_default();
        assert!(told == wanted, "{}\nis:\n{told}", mismatch(&golden, "other findings"));
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
