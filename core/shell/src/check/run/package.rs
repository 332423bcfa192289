//! Programs that read a file, and run what is in it with some options.

use phasegate_core::calls::analysis::Verdict;

use crate::check::command::Command;
use crate::check::network::local_operands;
use crate::finding::Finding;

/// `rpm`, `pandoc`
pub(in crate::check) fn check(command: &Command<'_>) -> Option<Finding> {
    if command.name == "rpm" && command.has(&["V", "verify"]) && command.has(&["p", "package"]) {
        return Some(Finding::new(Verdict::Execute, "the package file has a script that verifies it", command.span));
    }
    let first = command.args.first().filter(|_| command.name == "pandoc");
    if let Some(first) = first.filter(|first| matches!(first.known(), Some("lua" | "server"))) {
        return Some(Finding::new(Verdict::Execute, "`pandoc` runs a program or a server", first.span));
    }
    let cites = command.scan.options.iter().find(|given| given.name == "C" || given.name.starts_with("cite"));
    if let Some(cites) = cites.filter(|_| command.name == "pandoc") {
        return Some(Finding::new(Verdict::Send, "a document can name a list of sources to fetch", cites.span));
    }
    local_operands(command)
}
