//! Shells, `eval` and `trap`: a text that is run as a line.

use phasegate_core::analysis::Verdict;

use super::command::{Command, script};
use crate::field::Field;
use crate::finding::Finding;
use crate::walk::Walk;

/// `sh`, `bash`; `watch`
pub(super) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    if command.name == "watch" {
        return joined(walk, command, &command.scan.operands);
    }
    if command.has(&["version", "help"]) || (command.has(&["n"]) && !command.has(&["c"])) {
        return None;
    }
    let first = command.scan.operands.first();
    if command.has(&["c"]) {
        let field = first?;
        let Some(text) = script(field) else { return command.doubt(field, "the script") };
        let (_, finding) = walk.isolate(|walk| walk.subshell_text(&text, field.span));
        return Some(finding);
    }
    if let Some(file) = first.filter(|file| file.known() != Some("-")) {
        walk.touch(file, phasegate_core::analysis::Access::Execute);
        return Some(Finding::new(Verdict::Execute, format!("`{}` runs a script file", command.name), file.span));
    }
    match walk.stdin.take() {
        Some(text) => {
            let (_, finding) = walk.isolate(|walk| walk.subshell_text(&text, command.span));
            Some(finding)
        }
        None => Some(Finding::new(Verdict::Execute, format!("`{}` runs what it reads", command.name), command.span)),
    }
}

/// `eval`
pub(super) fn eval(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let text = match text_of(command.args) {
        Ok(text) => text,
        Err(field) => {
            walk.scope.forget_all();
            return command.doubt(field, "the text");
        }
    };
    let (_, finding) = walk.isolate(|walk| walk.text(&text, command.span));
    Some(finding)
}

/// `trap`
pub(super) fn trap(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    if command.has(&["l", "p", "P"]) {
        return None;
    }
    let field = command.scan.operands.first()?;
    let Some(text) = script(field) else { return command.doubt(field, "the action") };
    if text == "-" || (command.scan.operands.len() == 1) {
        return None;
    }
    let (_, finding) = walk.isolate(|walk| walk.subshell_text(&text, field.span));
    Some(finding)
}

fn joined(walk: &mut Walk<'_>, command: &Command<'_>, operands: &[&Field]) -> Option<Finding> {
    let owned: Vec<Field> = operands.iter().map(|field| (*field).clone()).collect();
    match text_of(&owned) {
        Ok(text) => {
            let (_, finding) = walk.isolate(|walk| walk.subshell_text(&text, command.span));
            Some(finding)
        }
        Err(field) => command.doubt(field, "the command"),
    }
}

/// The words of a text that is run, joined as the shell joins them.
fn text_of(fields: &[Field]) -> Result<String, &Field> {
    let mut text = String::new();
    for field in fields {
        let Some(word) = script(field).filter(|_| !field.many) else { return Err(field) };
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&word);
    }
    Ok(text)
}
