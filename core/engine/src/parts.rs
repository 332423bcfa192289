//! Parts: the simple commands of a shell line, each as a call that is judged by itself (rules 3.3).

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::analysis::CallAnalysis;
use crate::tool::{Call, EXECUTE, Labels, NETWORK, READ, SHELL, WRITE, shell_labels};
use crate::words;

/// The labels that follow from what a command does.
const FROM_VERDICT: [&str; 5] = [READ, WRITE, EXECUTE, NETWORK, SHELL];

/// One simple command of a line as a call.
pub(crate) struct Part {
    /// Its number among the commands of the line.
    pub(crate) number: u32,
    /// The call: the arguments of the whole line, the analysis of this command.
    pub(crate) call: Call,
    /// What the command can do.
    pub(crate) labels: Labels,
}

/// The parts of a line of several commands; none where the call can be judged only as a whole.
///
/// A command that only runs the one inside it is no part of its own.
pub(crate) fn of(call: &Call) -> Vec<Part> {
    let analysis = &call.analysis;
    let labels = &call.tool.labels;
    if analysis.commands.len() < 2 || analysis.open || !analysis.is_its_commands(labels) {
        return Vec::new();
    }
    let own: Labels = labels.iter().filter(|label| !FROM_VERDICT.contains(&label.as_str())).cloned().collect();
    let mut parts = Vec::new();
    for (number, command) in (0_u32..).zip(&analysis.commands) {
        let paths: Vec<_> = analysis.paths.iter().filter(|path| path.command == Some(number)).cloned().collect();
        if command.transparent && paths.is_empty() && words::is_plain(command) {
            continue;
        }
        let analysis = CallAnalysis {
            commands: alloc::vec![command.clone()],
            paths,
            redacted: analysis.redacted.as_ref().map(|before| Box::new(before.of_part(number))),
            ..CallAnalysis::default()
        };
        let mut part: Labels = shell_labels(command.verdict).into_iter().chain(own.iter().cloned()).collect();
        if command.network {
            part.insert(NETWORK.into());
        }
        parts.push(Part { number, call: Call { analysis, ..call.clone() }, labels: part });
    }
    parts
}
