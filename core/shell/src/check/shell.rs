//! Shells, `eval` and `trap`: a text that is run as a line.

use phasegate_core::analysis::{Access, Verdict};

use super::command::{Command, script};
use crate::field::{Bit, Field};
use crate::finding::Finding;
use crate::judge::said::is_stream;
use crate::parse::Dialect;
use crate::tree::Span;
use crate::walk::Walk;

/// Settings that `-o` may switch on.
const SETTINGS: [&str; 6] = ["errexit", "nounset", "pipefail", "xtrace", "noglob", "noclobber"];

/// `sh`, `bash`; `watch`
pub(super) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    if command.name == "watch" {
        return joined(walk, command, &command.scan.operands);
    }
    // Not every shell has these options, and one without them runs what follows.
    if command.has(&["version", "help"]) && command.args.len() == 1 {
        return None;
    }
    // A `+` switches an option off again, wherever it stands before the script.
    let switch = |field: &&Field| field.start().starts_with('+') || field.start().is_empty() && field.known().is_none();
    let settings = command.values(&["o"]).filter(|value| !value.known().is_some_and(|name| SETTINGS.contains(&name)));
    let operands = command.scan.operands.as_slice();
    if let Some(odd) = settings.chain(operands.iter().take(1).copied().filter(switch)).next() {
        walk.listens |= odd.bits.contains(&Bit::Any);
        return command.doubt(odd, "an option");
    }
    if command.has(&["n"]) && !command.has(&["c"]) {
        return None;
    }
    if command.has(&["c"]) {
        let Some((field, parameters)) = operands.split_first() else {
            walk.listens |= command.args.iter().any(|field| field.bits.contains(&Bit::Any));
            return None;
        };
        let Some(text) = script(field) else {
            walk.listens |= field.bits.contains(&Bit::Any);
            return command.doubt(field, "the script");
        };
        return Some(run(walk, command, &text, field.span, parameters));
    }
    let stream = |file: &Field| command.has(&["s"]) || file.known().is_some_and(|path| path == "-" || is_stream(path));
    if let Some(file) = operands.first().filter(|file| !stream(file)) {
        walk.touch(file, Access::Execute);
        return Some(Finding::new(Verdict::Execute, format!("`{}` runs a script file", command.name), file.span));
    }
    match walk.stdin.take() {
        Some(text) => Some(run(walk, command, &text, command.span, &[])),
        None => {
            walk.listens = true;
            Some(Finding::new(Verdict::Execute, format!("`{}` runs what it reads", command.name), command.span))
        }
    }
}

/// What runs its standard input as a line later (`at`), or a file as a part of this line, which may be that input.
pub(super) fn fed(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let sources = matches!(command.name, "source" | ".");
    let stream = command.args.first().is_some_and(|file| file.known().is_none_or(may_be_stream));
    walk.listens |= !sources || stream;
    if sources && stream {
        walk.scope.lose_folder();
    }
    None
}

/// Whether what a path gives may be said by the line itself: a place of the system that stands for an input.
fn may_be_stream(path: &str) -> bool {
    is_stream(path) || path == "-" || path.contains("/dev/") || path.contains("/proc/")
}

/// Reads a script as the shell of that name does.
fn run(walk: &mut Walk<'_>, command: &Command<'_>, text: &str, span: Span, parameters: &[&Field]) -> Finding {
    let dialect = match command.name {
        "bash" | "rbash" => Dialect::Bash,
        "sh" | "dash" | "ash" => Dialect::Posix,
        other if !is_common(text) => {
            let because = format!("the script is for `{other}`, whose grammar is not read");
            return Finding::new(Verdict::Unknown, because, span);
        }
        _ => Dialect::Foreign,
    };
    let outer = std::mem::replace(&mut walk.dialect, dialect);
    let fed = walk.sources.fed.clone();
    parameters.iter().for_each(|parameter| walk.sources.fed.add(parameter.to_pattern()));
    let (_, finding) = walk.isolate(|walk| walk.subshell_text(text, span, parameters));
    walk.sources.fed = fed;
    walk.dialect = outer;
    finding
}

/// Whether every shell reads a text alike: plain words and texts in single quotes, one after another.
fn is_common(text: &str) -> bool {
    let plain = |character: char| character.is_ascii_alphanumeric() || " _./:,@+-;|&\n".contains(character);
    text.split('\'').step_by(2).all(|part| part.chars().all(plain) && !part.contains("|&") && !part.contains("&|"))
}

/// `eval`
pub(super) fn eval(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let text = match text_of(command.args) {
        Ok(text) => text,
        Err(field) => {
            walk.scope.forget_all();
            walk.scope.lose_folder();
            walk.listens |= field.bits.contains(&Bit::Any);
            // A word that is not known may be the program.
            if command.args.len() > 1 {
                walk.wrapped(command.args, command.span);
            }
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
    let (_, finding) = walk.isolate(|walk| walk.later_text(&text, field.span));
    Some(finding)
}

fn joined(walk: &mut Walk<'_>, command: &Command<'_>, operands: &[&Field]) -> Option<Finding> {
    let owned: Vec<Field> = operands.iter().map(|field| (*field).clone()).collect();
    match text_of(&owned) {
        Ok(text) => {
            let outer = std::mem::replace(&mut walk.dialect, Dialect::Posix);
            let (_, finding) = walk.isolate(|walk| walk.subshell_text(&text, command.span, &[]));
            walk.dialect = outer;
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
