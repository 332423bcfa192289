//! Texts that have mistakes: each with its message, in `tests/cases/broken.golden`.

use std::fmt::Write as _;
use std::path::Path;

use phasegate_rules::compile::compile;

use crate::support::schema;

#[test]
fn golden_each_mistake_has_a_message_and_a_place() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> =
        std::fs::read_dir(folder.join("broken")).unwrap().flatten().map(|file| file.path()).collect();
    files.sort();
    let schema = schema();
    let mut found = String::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let compiled = compile(&text, &schema);
        assert!(!compiled.problems.is_empty(), "{name} has no mistake");
        for problem in compiled.problems {
            let kind = if problem.is_warning { "warning" } else { "error" };
            let place = text.get(problem.span.clone()).unwrap_or_default().lines().next().unwrap_or_default();
            let help = problem.help.map(|help| format!(" ({help})")).unwrap_or_default();
            writeln!(found, "{name}: {kind} at `{place}`: {}{help}", problem.message).unwrap();
        }
    }
    let golden = folder.join("broken.golden");
    if std::env::var_os("PHASEGATE_BLESS").is_some() {
        std::fs::write(&golden, &found).unwrap();
    }
    assert_eq!(found, std::fs::read_to_string(&golden).unwrap_or_default());
}
