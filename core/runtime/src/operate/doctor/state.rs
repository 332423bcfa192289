//! The state folder: whose it is, and whether its journals can be believed.

use phasegate_adapter::{Finding, Level};
use phasegate_core::Code;

use crate::operate::verify::verify;
use crate::project::Project;
use crate::runtime::Runtime;

/// What a person does about a finding.
fn remedy(code: Code) -> &'static str {
    match code {
        Code::StateUnreadable | Code::StateMissing | Code::StateVersion => {
            "`phasegate repair` in a terminal lists what is damaged and lets the session go on; `phasegate audit verify` \
             lists all findings"
        }
        _ => "`phasegate audit verify` lists all findings",
    }
}

/// The most findings of the journals that are reported; `phasegate audit verify` reports all.
const MOST: usize = 3;

pub(super) fn examine(runtime: &Runtime, project: &Project, progress: &mut dyn FnMut(u64, u64)) -> Vec<Finding> {
    let folder = &runtime.locations.state;
    if !folder.exists() {
        let what = format!("`{}` does not exist yet; it is made with the first event", folder.display());
        return vec![Finding::new(Level::Note, what)];
    }
    let mut found = vec![match project.check_folders(folder) {
        Ok(()) => Finding::new(Level::Ok, format!("only this user can write to `{}`", folder.display())),
        Err(problem) => Finding::new(Level::Problem, problem.message.clone()).with(problem.remedy()),
    }];
    if std::env::var_os("PHASEGATE_STATE_DIR").is_some_and(|value| !value.is_empty()) {
        let what = "`PHASEGATE_STATE_DIR` is set here: a client that is started without it keeps its state elsewhere";
        found.push(Finding::new(Level::Note, what));
    }
    let report = verify(&runtime.locations, project, progress);
    let records: u64 = report.journals.iter().map(|journal| journal.records).sum();
    if report.fits() {
        let what = format!("{} journals with {records} records are consistent", report.journals.len());
        found.push(Finding::new(Level::Ok, what));
    }
    for finding in report.findings.iter().take(MOST) {
        let record = finding.record.map(|seq| format!(", record {seq}")).unwrap_or_default();
        let what = format!("`{}`{record}: {} [{}]", finding.path.display(), finding.message, finding.code);
        found.push(Finding::new(Level::Problem, what).with(remedy(finding.code)));
    }
    found
}
