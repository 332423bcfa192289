//! What a tool may run of which nothing says what it does: the texts among its arguments that may be lines of a shell.

use phasegate_core::calls::analysis::{MayRun, PathInPart, SimpleCommand, Verdict, Word};
use phasegate_core::shell::shell_word::quoted;
use phasegate_core::{Event, EventKind};
use phasegate_shell::{Table, Trust, judge};
use serde_json::Value;

use crate::analysis::paths::in_part;

/// Arguments that may be a line, or the words of one.
const LINES: [&str; 8] = ["command", "commands", "cmd", "script", "line", "shell", "bash", "argv"];
/// Arguments that may be the words behind a program.
const WORDS: [&str; 2] = ["args", "arguments"];

/// Notes it.
pub(in crate::analysis) fn note(event: &mut Event, table: &Table, trust: &Trust) {
    let EventKind::ToolCall { server: Some(_), input, analysis, .. } = &mut event.kind else { return };
    if analysis.open || analysis.may_run.is_some() {
        return;
    }
    let mut run = MayRun::default();
    for line in lines(input) {
        let judged = judge(&line, table, trust.clone());
        if judged.problem.is_some() {
            continue;
        }
        let start = u32::try_from(run.commands.len()).unwrap_or(u32::MAX);
        let paths = in_part::all(&judged).into_iter().chain(in_part::words(&judged));
        run.paths.extend(paths.map(|path| {
            let number = start.saturating_add(path.command.unwrap_or_default());
            PathInPart { command: Some(number), ..path }
        }));
        run.commands.extend(judged.parts.into_iter().map(|part| part.command));
    }
    if run.commands.is_empty() {
        return;
    }
    // The tool may be a program that is given these words.
    let behind: Vec<SimpleCommand> = run.commands.iter().map(behind_another).collect();
    run.commands.extend(behind);
    analysis.may_run = Some(Box::new(run));
}

fn behind_another(command: &SimpleCommand) -> SimpleCommand {
    let words = [Word::Unknown].into_iter().chain(command.words.iter().cloned()).collect();
    let verdict = Verdict::Unknown;
    SimpleCommand {
        words,
        starts: command.starts.iter().map(|(at, start)| (at.saturating_add(1), start.clone())).collect(),
        verdict,
        global_options: 0,
        unplaced: false,
        led_plainly: false,
        alias: false,
        ..command.clone()
    }
}

/// The texts that may be lines.
fn lines(input: &Value) -> Vec<String> {
    let Some(fields) = input.as_object() else { return Vec::new() };
    let mut lines = Vec::new();
    for value in LINES.iter().filter_map(|name| fields.get(*name)) {
        match value {
            Value::String(text) => lines.push(text.clone()),
            Value::Array(items) => {
                let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                lines.push(joined(&texts));
                lines.extend(texts.into_iter().filter(|text| text.contains(' ')).map(str::to_owned));
            }
            _ => {}
        }
    }
    let words = WORDS.iter().filter_map(|name| fields.get(*name)?.as_array());
    let words: Vec<&str> = words.flatten().filter_map(Value::as_str).collect();
    if !words.is_empty() {
        let behind = joined(&words);
        let programs: Vec<String> = lines.iter().filter(|line| !line.contains(' ')).cloned().collect();
        lines.extend(programs.iter().map(|program| format!("{program} {behind}")));
        lines.push(behind);
    }
    lines.retain(|line| !line.trim().is_empty());
    lines
}

/// Words as a line.
fn joined(words: &[&str]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}
