//! A line that runs so that nothing of it stays.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use phasegate_confine::{Level, Report, Request, run as run_confined, work_base};
use phasegate_runtime::Locations;
use phasegate_runtime::clients::client_shell::{Meeting, Ticket};

use super::input::Given;
use super::say::say;
use crate::confining::{not_kept, overlaid};
use crate::exit::NOT_KEPT;
use crate::output::Output;

/// A line, and what was decided of it.
pub(super) struct Held<'a> {
    pub(super) shell: &'a Path,
    pub(super) args: &'a [OsString],
    pub(super) given: &'a Given,
    pub(super) ticket: &'a Ticket,
    /// The level that works here; `None`: none.
    pub(super) level: Option<&'a str>,
}

impl Held<'_> {
    /// Runs the line.
    ///
    /// # Errors
    ///
    /// Nothing has run, and why.
    pub(super) fn run(&self, locations: &Locations) -> Result<Report, String> {
        let level = self.level.and_then(Level::find).ok_or("no level is known")?;
        let overlaid = overlaid(locations, &self.ticket.root);
        let work = work_base(&overlaid).ok_or("no folder for temporary layers can be used")?;
        let command = std::iter::once(self.shell.as_os_str().to_owned()).chain(self.args.iter().cloned()).collect();
        let keeps = self.ticket.confined.iter().flat_map(|confined| &confined.keeps);
        let request = Request {
            writable: keeps.filter_map(|folder| real_folder(&self.ticket.root, folder)).collect(),
            returned: self.given.folder_file().into_iter().collect(),
            visible: self.given.folders(),
            with_parent: true,
            overlaid,
            ..Request::new(level, command, work)
        };
        run_confined(&request).map_err(|error| error.to_string())
    }

    /// Tells what was not kept, and leaves it for the guard. Gives the exit status.
    pub(super) fn end(&self, report: &Report, meeting: &Meeting) -> u8 {
        if let Some(call) = &self.ticket.call
            && let Err(error) = meeting.report(call, report)
        {
            say(format_args!("what was not kept cannot be noted: {error}"));
        }
        let lost = not_kept(report);
        if lost.is_empty() {
            if report.caches {
                say("this phase only reads, so what was built is not kept");
            }
            return report.status;
        }
        let says = self.ticket.confined.as_ref().map(|how| how.says.as_str()).unwrap_or_default();
        Output { json: false }.note(lost.join("\n"));
        say(says);
        if report.status == 0 { NOT_KEPT } else { report.status }
    }
}

/// The folder of the project, if it is there and no link leads to it: nobody but the phase's own lines says what is kept.
fn real_folder(root: &Path, folder: &str) -> Option<PathBuf> {
    let root = root.canonicalize().ok()?;
    let path = root.join(folder);
    (path.is_dir() && path.canonicalize().is_ok_and(|real| real == path)).then_some(path)
}
