//! `phasegate audit verify`: whether every journal of the project can be believed.

use owo_colors::OwoColorize as _;
use phasegate_runtime::operate::record_comparison::compare_records;
use phasegate_runtime::operate::verify::{Finding, Report, Seal, verify};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, to_a_person};
use crate::progress::Progress;

/// The arguments of `phasegate audit verify`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Verifies every journal of the project, holds the clients' own records against them, and reports each fault. Exits with 1 if there is a fault.
///
/// # Errors
///
/// No folder for the state is known.
pub(super) fn run(_: &Args, context: &Context) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let mut bar = Progress::new(context.out, "verify");
    let mut report = verify(&runtime.locations, &project, &mut |done, total| {
        bar.set(done, total);
    });
    bar.clear();
    report.findings.extend(compare_records(&runtime, &project));
    if context.out.json {
        context.out.value(&as_json(&report));
    } else {
        print(context, &report);
    }
    Ok(if report.fits() { Exit::Done } else { Exit::No })
}

fn print(context: &Context, report: &Report) {
    let out = context.out;
    for finding in &report.findings {
        let record = finding.record.map(|seq| format!(", record {seq}")).unwrap_or_default();
        let code = format!("[{}]", finding.code);
        out.line(format_args!("{}{}: {}", "error".red().bold(), code.red(), finding.message));
        out.line(format_args!("  {} `{}`{record}", "in:".cyan(), finding.path.display()));
        out.line(format_args!("  {} {}", "help:".cyan(), to_a_person(finding.code.remedy())));
    }
    for journal in report.journals.iter().filter(|journal| journal.torn > 0) {
        let text = "bytes of an incomplete record at its end; the next record removes them";
        out.line(format_args!("{}: {} {text}", "note".cyan(), journal.torn));
        out.line(format_args!("  {} `{}`", "in:".cyan(), journal.path.display()));
    }
    for seal in &report.seals {
        let whose = seal.session.as_ref().map_or_else(|| "the project".to_string(), |id| format!("session {id}"));
        let said = match seal.skills.join(", ") {
            none if none.is_empty() => "no skill was active".to_string(),
            skills => format!("{skills} was active"),
        };
        let readable = seal.readable;
        out.line(format_args!(
            "{}: a person repaired {whose}, said that {said}; {readable} records could be read",
            "note".cyan()
        ));
        if let Some(path) = &seal.path {
            out.line(format_args!("  {} `{}`", "set aside:".cyan(), path.display()));
        }
    }
    let records: u64 = report.journals.iter().map(|journal| journal.records).sum();
    let verdict = match report.findings.len() {
        0 => "everything fits".green().to_string(),
        1 => "1 problem".red().to_string(),
        many => format!("{many} problems").red().to_string(),
    };
    out.line(format_args!(
        "{} journals, {records} records, {} stored policies checked: {verdict}",
        report.journals.len(),
        report.policies
    ));
}

fn as_json(report: &Report) -> Value {
    let journals: Vec<_> = report
        .journals
        .iter()
        .map(|journal| {
            json!({
                "path": journal.path.display().to_string(),
                "session": journal.session,
                "records": journal.records,
                "head": journal.head,
                "bytes": journal.bytes,
                "torn": journal.torn,
            })
        })
        .collect();
    json!({
        "fits": report.fits(),
        "journals": journals,
        "policies": report.policies,
        "seals": report.seals.iter().map(seal).collect::<Vec<_>>(),
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

fn seal(seal: &Seal) -> Value {
    let path = seal.path.as_ref().map(|path| path.display().to_string());
    json!({"session": seal.session, "path": path, "readable": seal.readable, "said": seal.said, "skills": seal.skills})
}

fn finding(finding: &Finding) -> Value {
    json!({
        "code": finding.code,
        "path": finding.path.display().to_string(),
        "record": finding.record,
        "message": finding.message,
        "suggestion": to_a_person(finding.code.remedy()),
    })
}
