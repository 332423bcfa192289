//! Which command of a line runs tests whose report can be believed (rules 3.3, tests).

use std::path::{Component, Path};

use phasegate_core::analysis::{PathUse, SimpleCommand, Verdict, Word};
use phasegate_core::test_report::Runner;
use phasegate_core::{runner, words};
use phasegate_shell::Judgement;

use super::own_programs::{self, Place};
use super::runs_in::folder;

/// Options of `cargo build` that leave open neither what is built nor who builds it.
const BUILD_OPTIONS: [&str; 10] = [
    "--all-features",
    "--all-targets",
    "--locked",
    "--offline",
    "--quiet",
    "--release",
    "--tests",
    "--workspace",
    "-q",
    "-v",
];

/// Marks the command that runs tests in the project, if nothing else in the line can print. In a folder below the project's
/// root it runs a part of the suite. `start` is where the line starts.
pub(super) fn mark(commands: &mut [SimpleCommand], judged: &Judgement, root: &Path, start: &Place<'_>) {
    if commands.len() != judged.parts.len() {
        return;
    }
    let started: Vec<_> = commands.iter().map(runner::started).collect();
    let mut running = started.iter().enumerate().filter_map(|(at, run)| Some((at, (*run)?)));
    let (Some((at, mut run)), None) = (running.next(), running.next()) else { return };
    let runner = run.runner;
    let silent = |(other, command): (usize, &SimpleCommand)| {
        other == at || is_silent(command, other > at) || (other < at && builds(command, runner))
    };
    let folder = judged.parts.get(at).and_then(|part| folder(part, start.folder));
    let Some(folder) = folder.filter(|folder| folder.starts_with(root)) else { return };
    let inside = commands.get(at).is_some_and(|command| command.words.iter().skip(1).all(|word| is_inside(word, root)));
    if inside && commands.iter().enumerate().all(silent) {
        run.whole &= folder == root;
        let place = Place { folder: &folder, ..*start };
        run.unsure = commands.get(at).is_none_or(|command| own_programs::may_print(command, run.runner, &place));
        if let Some(command) = commands.get_mut(at) {
            command.tests = Some(run);
            // What a known runner does is known, whatever its options print: it runs the code of the project.
            if !run.unsure && runner.only_tests() {
                command.verdict = command.verdict.min(Verdict::Execute);
            }
        }
    }
}

/// Whether a path is none, but a pattern of packages that a runner of tests is given: `go test ./...`.
pub(super) fn is_of_packages(path: &PathUse, commands: &[SimpleCommand]) -> bool {
    let command = path.command.and_then(|number| commands.get(usize::try_from(number).ok()?));
    command.is_some_and(|command| command.tests.is_some()) && path.written.ends_with("...")
}

/// Whether a word names no path outside of the project, as itself or as the value of an option.
fn is_inside(word: &Word, root: &Path) -> bool {
    let Word::Known(word) = word else { return false };
    word.split(['=', ':', ',']).all(|part| {
        let path = Path::new(part.trim_start_matches("-I").trim_start_matches("-C"));
        let climbs = path.components().any(|component| component == Component::ParentDir);
        !climbs && !part.starts_with('~') && (!path.is_absolute() || path.starts_with(root))
    })
}

/// Whether a command beside the runner prints nothing of its own: it only runs the runner, moves to a folder, or passes on
/// what the runner prints, or some lines of it.
fn is_silent(command: &SimpleCommand, behind: bool) -> bool {
    if !words::is_plain(command) {
        return false;
    }
    let text = |word: &Word| if let Word::Known(text) = word { Some(text.clone()) } else { None };
    let Some(words) = command.words.iter().map(text).collect::<Option<Vec<String>>>() else {
        return command.transparent;
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["cd", folder] => *folder != "-",
        ["set", options @ ..] => {
            options.iter().all(|option| matches!(*option, "-e" | "-o" | "-eo" | "-euo" | "-u" | "pipefail"))
        }
        ["tail" | "head"] => behind,
        ["tail" | "head", count] => {
            behind && count.strip_prefix("-n").or_else(|| count.strip_prefix('-')).is_some_and(is_count)
        }
        ["tail" | "head", "-n", count] => behind && is_count(count),
        _ => command.transparent,
    }
}

/// Whether a command builds what the runner builds too, and prints nothing that the runner would not print then. No alias
/// can stand for it.
fn builds(command: &SimpleCommand, runner: Runner) -> bool {
    let words = command.words.iter().map(|word| match word {
        Word::Known(text) => Some(text.as_str()),
        Word::Unknown | Word::Value => None,
    });
    let words: Option<Vec<&str>> = words.collect();
    let Some(["cargo", "build" | "check", options @ ..]) = words.as_deref() else { return false };
    matches!(runner, Runner::Cargo | Runner::Nextest)
        && words::is_plain(command)
        && options.iter().all(|option| BUILD_OPTIONS.contains(option))
}

fn is_count(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
