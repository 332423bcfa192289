//! Shells, `eval` and `trap`: a text that is run as a line.

use phasegate_core::calls::analysis::{Access, Verdict};

use crate::check::command::Command;
use crate::expand::field::{Bit, Field};
use crate::finding::{Finding, keep_worse};
use crate::judge::made_lines::is_stream;
use crate::judge::text::Runs;
use crate::parse::Dialect;
use crate::script::{Doubt, Script};
use crate::walk::Walk;

/// Settings that `-o` may switch on.
const SETTINGS: [&str; 6] = ["errexit", "nounset", "pipefail", "xtrace", "noglob", "noclobber"];

/// `sh`, `bash`; `watch`
pub(in crate::check) fn check(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    if command.name == "watch" {
        let script = Script { span: command.span, ..Script::of(command.scan.operands.iter().copied()) };
        return Some(walk.script(&script, Runs::Apart(&[]), Dialect::Posix));
    }
    // Not every shell has these options, and one without them runs what follows.
    if command.has(&["version", "help"]) && command.args.len() == 1 {
        return None;
    }
    let has_text = command.has(&["c"]);
    // A `+` switches an option off again, wherever it stands before the script.
    let open = |field: &Field| field.start().is_empty() && field.known().is_none();
    let switch = |field: &&Field| field.start().starts_with('+') || (open(field) && !has_text);
    let settings = command.values(&["o"]).filter(|value| !value.known().is_some_and(|name| SETTINGS.contains(&name)));
    let operands = command.scan.operands.as_slice();
    if let Some(odd) = settings.chain(operands.iter().take(1).copied().filter(switch)).next() {
        walk.listens |= odd.bits.iter().any(Bit::is_made);
        // What follows may be the text that runs.
        for field in operands {
            run(walk, command, &Script::of([*field]), &[]);
        }
        return command.doubt(odd, "an option");
    }
    if command.has(&["n"]) && !has_text {
        return None;
    }
    if has_text {
        let mut worst = None;
        for (at, field) in operands.iter().enumerate() {
            let parameters = operands.get(at.saturating_add(1)..).unwrap_or(&[]);
            let found = run(walk, command, &Script::of([*field]), parameters);
            keep_worse(worst.get_or_insert_with(|| found.clone()), found);
            // What may be an option is followed by what may be the text.
            if !field.may_be_option() {
                break;
            }
        }
        return worst;
    }
    let stream = |file: &Field| command.has(&["s"]) || file.known().is_some_and(|path| path == "-" || is_stream(path));
    if let Some(file) = operands.first().filter(|file| !stream(file)) {
        walk.touch(file, Access::Execute);
        return Some(Finding::new(Verdict::Execute, format!("`{}` runs a script file", command.name), file.span));
    }
    match walk.stdin.take() {
        Some(text) => Some(run(walk, command, &Script { span: command.span, ..Script::of([&text]) }, &[])),
        None => {
            walk.listens = true;
            Some(Finding::new(Verdict::Execute, format!("`{}` runs what it reads", command.name), command.span))
        }
    }
}

/// What runs its standard input as a line later (`at`), or a file as a part of this line, which may be that input.
pub(in crate::check) fn fed(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
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
fn run(walk: &mut Walk<'_>, command: &Command<'_>, script: &Script, parameters: &[&Field]) -> Finding {
    let dialect = match command.name {
        "bash" | "rbash" => Dialect::Bash,
        "sh" | "dash" | "ash" => Dialect::Posix,
        other if !is_common(&script.text) => {
            // What bash makes of it, it may do.
            walk.said_line(script);
            let because = format!("the script is for `{other}`, whose grammar is not read");
            return Finding::new(Verdict::Unknown, because, script.span);
        }
        _ => Dialect::Foreign,
    };
    walk.script(script, Runs::Apart(parameters), dialect)
}

/// Whether every shell reads a text alike: plain words and texts in single quotes, one after another.
fn is_common(text: &str) -> bool {
    let plain = |character: char| character.is_ascii_alphanumeric() || " _./:,@+-;|&\n".contains(character);
    text.split('\'').step_by(2).all(|part| part.chars().all(plain) && !part.contains("|&") && !part.contains("&|"))
}

/// `eval`
pub(in crate::check) fn eval(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let script = Script { span: command.span, ..Script::of(command.args) };
    let finding = walk.script(&script, Runs::Here, walk.dialect);
    if script.doubt > Doubt::Nothing {
        walk.scope.forget_all();
        walk.scope.lose_folder();
    }
    Some(finding)
}

/// `trap`
pub(in crate::check) fn trap(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let (field, signals) = command.scan.operands.split_first()?;
    if command.has(&["l", "p", "P"]) || (signals.is_empty() && !field.many) {
        return None;
    }
    let script = Script::of([*field]);
    (script.text != "-").then(|| walk.script(&script, Runs::Later, walk.dialect))
}
