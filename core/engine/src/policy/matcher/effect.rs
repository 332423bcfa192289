//! Matchers by what calls do.

use phasegate_rules::Truth;
use serde_json::Value;

use crate::calls::analysis::{Access, SimpleCommand};
use crate::calls::builtin_tools::is_builtin;
use crate::calls::tool::{BASH, Call, Labels, READ, SHELL, only_reads};
use crate::shell::command_view;
use crate::shell::words::DOES;
use crate::state::redacted_tests::Fit;

/// Whether a call does what a word says: a command of its line by the table of programs, another tool by its labels.
pub(super) fn does(word: &str, call: &Call, labels: &Labels) -> Fit {
    let commands = &call.analysis.commands;
    let Some(Value::String(line)) = call.command() else {
        return of_truth(Truth::of(labels.contains(word)));
    };
    if commands.is_empty() {
        // A sample of the matcher itself. A line that somebody typed has commands.
        if let Some(sample) = line.strip_prefix(DOES).filter(|sample| command_view::WORDS.contains(sample)) {
            return of_truth(Truth::of(sample == word));
        }
        // A line of another shell may be one whose program it names.
        let may_be = || call.tool.name == BASH || command_view::mentions(line, word);
        return match only_reads(labels) {
            true => of_truth(Truth::of(word == READ)),
            false if may_be() => Fit::Doubt,
            false => Fit::No,
        };
    }
    let before = |at: usize| commands.get(..at).unwrap_or_default();
    let each = commands.iter().enumerate().map(|(at, command)| command_view::does(command, before(at), word));
    among(of_truth(each.max().unwrap_or(Truth::No)), call, labels)
}

/// What a fit of one command says of its line: among others it is not exactly this one, and may still be what a list forbids.
pub(super) fn among(best: Fit, call: &Call, labels: &Labels) -> Fit {
    let alone = || call.analysis.commands.len() == 1 && call.analysis.is_its_commands(labels);
    if best == Fit::No || alone() { best } else { best.min(Fit::Doubt) }
}

fn of_truth(truth: Truth) -> Fit {
    match truth {
        Truth::Yes => Fit::Yes,
        Truth::Unknown | Truth::Failed => Fit::Doubt,
        Truth::No => Fit::No,
    }
}

/// Whether one command does what a word says, whatever stands before it in its line.
pub(super) fn does_alone(word: &str, command: &SimpleCommand) -> Fit {
    of_truth(command_view::does(command, &[], word))
}

/// Whether a call names all paths that it reads or writes: a line that was read does, and of those that they read, the tools
/// that hosts bring along.
pub(super) fn tells_paths(call: &Call, labels: &Labels, access: Access) -> bool {
    let own = || call.tool.server.is_none() && !labels.contains(SHELL) && is_builtin(&call.tool.name);
    match access {
        Access::Execute => false,
        Access::Read => !call.analysis.commands.is_empty() || own(),
        Access::Write | Access::Remove => !call.analysis.commands.is_empty(),
    }
}
