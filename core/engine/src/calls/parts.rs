//! Parts: the simple commands of a shell line, each as a call that is judged by itself (rules 3.3).

use alloc::borrow::Cow;

use serde_json::json;

use crate::calls::analysis::{Access, CallAnalysis, PathUse, SimpleCommand, UNKNOWN, UNNAMED, Word};
use crate::calls::tool::{Call, EXECUTE, Labels, NETWORK, READ, SHELL, WRITE, shell_labels};
use crate::prelude::*;
use crate::shell::shell_word::shell_word;
use crate::shell::words;

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
    let own = own_labels(labels);
    let mut parts = Vec::new();
    for (number, command) in (0_u32..).zip(&analysis.commands) {
        let paths: Vec<_> = analysis.paths.iter().filter(|path| path.command == Some(number)).cloned().collect();
        if command.transparent && paths.is_empty() && words::is_plain(command) {
            continue;
        }
        let analysis = CallAnalysis {
            commands: alloc::vec![command.clone()],
            paths,
            confinable: analysis.confinable,
            redacted: analysis.redacted.as_ref().map(|before| Box::new(before.of_part(number))),
            ..CallAnalysis::default()
        };
        let labels = labels_of(command, &own);
        parts.push(Part { number, call: Call { analysis, ..call.clone() }, labels });
    }
    parts
}

/// The commands of the tasks that the call starts, each as if it had been typed.
pub(crate) fn of_tasks(call: &Call) -> Vec<Part> {
    let Some(tasks) = &call.analysis.tasks else { return Vec::new() };
    let own = own_labels(&call.tool.labels);
    let part = |(number, command): (u32, &SimpleCommand)| {
        let text = text_of(command);
        let paths = tasks.paths.iter().filter(|path| path.command == Some(number));
        let paths = paths.map(|path| PathUse { command: Some(0), ..path.clone() }).collect();
        let span = (0, u32::try_from(text.len()).unwrap_or(u32::MAX));
        let analysis = CallAnalysis {
            commands: alloc::vec![SimpleCommand { span, ..command.clone() }],
            paths,
            ..CallAnalysis::default()
        };
        let call = Call { analysis, input: json!({"command": text}), ..call.clone() };
        Part { number, call, labels: labels_of(command, &own) }
    };
    (0_u32..).zip(&tasks.commands).filter(|(_, command)| !command.transparent).map(part).collect()
}

/// The call without what its commands write that they do not name: that is doubt for no path, as a program is that nobody can
/// see into. A line with a word that is not known may name any path.
pub(crate) fn naming(call: &Call) -> Cow<'_, Call> {
    let mut call = Cow::Borrowed(call);
    let known = |command: &SimpleCommand| {
        let of = |word: &Word| matches!(word, Word::Known(_));
        command.words.iter().all(of) && command.redirections.iter().all(|(_, word)| of(word))
    };
    let known = call.analysis.commands.iter().all(known);
    let unnamed =
        |path: &PathUse| known && path.command.is_some() && path.access == Access::Write && path.written == UNNAMED;
    if call.analysis.paths.iter().any(unnamed) {
        call.to_mut().analysis.paths.retain(|path| !unnamed(path));
    }
    call
}

/// The call without the paths of its commands that nobody names, or that are known only when it runs.
pub(crate) fn certain(call: &Call) -> Cow<'_, Call> {
    let mut call = Cow::Borrowed(call);
    let doubtful = |path: &PathUse| path.command.is_some() && [UNKNOWN, UNNAMED].contains(&path.written.as_str());
    if call.analysis.paths.iter().any(doubtful) {
        call.to_mut().analysis.paths.retain(|path| !doubtful(path));
    }
    call
}

/// The words of a command as a person types them; a word that is made when it runs is `"$..."`.
pub(crate) fn text_of(command: &SimpleCommand) -> String {
    let word = |word: &Word| if let Word::Known(text) = word { shell_word(text) } else { "\"$...\"".into() };
    let words: Vec<String> = command.words.iter().map(word).collect();
    words.join(" ")
}

/// Those labels of a call that do not follow from what its commands do.
pub(crate) fn own_labels(labels: &Labels) -> Labels {
    labels.iter().filter(|label| !FROM_VERDICT.contains(&label.as_str())).cloned().collect()
}

/// The labels of a command, with these.
pub(crate) fn labels_of(command: &SimpleCommand, own: &Labels) -> Labels {
    let mut labels: Labels = shell_labels(command.verdict).into_iter().chain(own.iter().cloned()).collect();
    if command.network {
        labels.insert(NETWORK.into());
    }
    labels
}
