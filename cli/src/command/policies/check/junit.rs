//! `phasegate check --tests --junit FILE`: what became of the transcripts, as other programs read it.

use std::fs;
use std::path::Path;

use phasegate_config::{Diagnostic, Severity};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::transcripts::{Mistake, Played};
use crate::output::Failure;

/// Writes a report with a test case for each transcript, and one for the configs, whose errors keep all others from being
/// played.
///
/// # Errors
///
/// The file cannot be written.
pub(in crate::command) fn write(path: &Path, played: &[Played], diagnostics: &[Diagnostic]) -> Result<(), Failure> {
    let failed = |error: String| Failure::new(format!("`{}` cannot be written: {error}", path.display()));
    let mut suite = TestSuite::new("phasegate");
    suite.add_test_case(case("configs", "checked", &errors(diagnostics)));
    for Played { path, mistakes, .. } in played {
        let message = |Mistake { line, message }: &Mistake| format!("{path}:{line}: {message}");
        suite.add_test_case(case(path, "transcripts", &mistakes.iter().map(message).collect::<Vec<_>>()));
    }
    let mut report = Report::new("phasegate check --tests");
    report.add_test_suite(suite);
    let text = report.to_string().map_err(|error| failed(error.to_string()))?;
    fs::write(path, text).map_err(|error| failed(error.to_string()))
}

fn errors(diagnostics: &[Diagnostic]) -> Vec<String> {
    let errors = diagnostics.iter().filter(|found| found.severity == Severity::Error);
    errors.map(|found| format!("{}: {}", found.path, found.message)).collect()
}

/// A test case that failed if there are mistakes.
fn case(name: &str, class: &str, mistakes: &[String]) -> TestCase {
    let status = match mistakes.first() {
        None => TestCaseStatus::success(),
        Some(first) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(first.as_str()).set_description(mistakes.join("\n"));
            status
        }
    };
    let mut case = TestCase::new(name, status);
    case.set_classname(class);
    case
}
