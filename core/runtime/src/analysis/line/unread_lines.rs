//! Lines that the judge does not read to their end: what is not read may change anything.

use phasegate_core::calls::analysis::{Guarded, Part};
use phasegate_shell::{Judgement, is_refused, judge};

use crate::analysis::line::Shell;
use crate::analysis::own::guard_files::Place;

impl Place<'_> {
    /// For the line of a shell call. A character that is refused as shells and people read it differently is a letter to
    /// some shells and a blank to others: the line is read both ways.
    pub(in crate::analysis) fn by_shell_line(&self, judged: &Judgement, line: &str, shell: &Shell) -> Vec<Guarded> {
        let mut found = self.by_line(judged, line);
        let Some(problem) = &judged.problem else { return found };
        let mut unread = Some(problem.clone());
        if line.contains(is_refused) {
            let forms = ["_", " "].map(|sign| line.replace(is_refused, sign));
            unread = None;
            for form in &forms {
                let judged = judge(form, &shell.table, shell.trust.clone());
                found.extend(self.by_line(&judged, form));
                unread = unread.or(judged.problem);
            }
        }
        found.extend(unread.map(|problem| Guarded { part: Part::Unread, path: problem.what }));
        found
    }
}
