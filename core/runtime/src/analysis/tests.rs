//! Which command of a line runs tests whose report can be believed (rules 3.3, tests).

use std::path::Path;

use phasegate_core::analysis::{PathUse, SimpleCommand, Status, Verdict, Word};
use phasegate_core::test_report::{Runner, Through};
use phasegate_core::{runner, words};
use phasegate_shell::{Judgement, Part};

use super::own_programs::{self, Place};
use super::runs_in::{folder, is_inside};
use super::tasks;

/// Marks the command that runs tests in the project, if nothing else in the line can print. In a folder below the project's
/// root it runs a part of the suite. `start` is where the line starts.
pub(super) fn mark(commands: &mut [SimpleCommand], judged: &Judgement, root: &Path, start: &Place<'_>) {
    if commands.len() != judged.parts.len() {
        return;
    }
    let started = |(command, part): (&SimpleCommand, &Part)| match runner::started(command) {
        Some(run) if run.runner == Runner::Make => tasks::started(command, part, root, start).or(Some(run)),
        Some(run) => Some(run),
        None => tasks::started(command, part, root, start),
    };
    let started: Vec<_> = commands.iter().zip(&judged.parts).map(started).collect();
    let mut running = started.iter().enumerate().filter_map(|(at, run)| Some((at, (*run)?)));
    let (Some((at, mut run)), None) = (running.next(), running.next()) else { return };
    let runner = run.runner;
    let silent = |(other, (command, part)): (usize, (&SimpleCommand, &Part))| {
        other == at || is_silent(command, other > at) || tasks::is_beside(command, part, root, start)
    };
    let folder = judged.parts.get(at).and_then(|part| folder(part, start.folder));
    let Some(folder) = folder.filter(|folder| folder.starts_with(root)) else { return };
    let inside = commands.get(at).is_some_and(|command| command.words.iter().skip(1).all(|word| is_inside(word, root)));
    if inside && commands.iter().zip(&judged.parts).enumerate().all(silent) {
        // Where a task runs, its file says.
        let typed = commands.get(at).and_then(runner::started).is_some_and(|typed| typed.runner == run.runner);
        run.whole &= folder == root || !typed;
        let place = Place { folder: &folder, ..*start };
        let is_piped = commands.get(at).is_some_and(|command| command.status == Status::Piped);
        run.through = is_piped.then(|| through(commands, at, run.runner));
        let other = |(other, command): (usize, &SimpleCommand)| {
            other != at && !command.transparent && tasks::says_more_than_tests(command)
        };
        run.beside |= run.runner.builds_apart() && commands.iter().enumerate().any(other);
        // Interrupted, a runner reports as if it had come to its end; and others may print in its name.
        run.whole &= !commands.iter().any(has_options);
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

/// Whether it only runs another command, and is told more than for how long: `timeout -s INT 1 pytest`.
fn has_options(command: &SimpleCommand) -> bool {
    let is_option = |word: &Word| !matches!(word, Word::Known(word) if !word.starts_with('-'));
    command.transparent && command.words.get(1).is_some_and(is_option)
}

/// How the report of the command at this place comes through those behind it.
fn through(commands: &[SimpleCommand], at: usize, runner: Runner) -> Through {
    let (before, behind) = commands.split_at_checked(at.saturating_add(1)).unwrap_or((commands, &[]));
    let mut sent = before.last().into_iter().flat_map(|command| &command.redirections);
    // Of a program that crashed, cargo says so among its errors.
    let needs = matches!(runner, Runner::Cargo | Runner::Nextest);
    let joins = sent.any(|(operator, target)| operator == "2>&" && *target == Word::Known("1".into()));
    let drops = (needs && !joins) || commands.iter().any(has_options);
    let first = |command: &SimpleCommand| command.words.first().cloned();
    let passes = |command: &SimpleCommand| {
        let all = ["tail", "tee", "cat"].map(|name| Word::Known(name.into()));
        command.transparent || first(command).is_some_and(|program| all.contains(&program))
    };
    if !drops && behind.iter().all(passes) { Through::End } else { Through::Lines }
}

/// Whether a path is none, but a pattern of packages that a runner of tests is given: `go test ./...`.
pub(super) fn is_of_packages(path: &PathUse, commands: &[SimpleCommand]) -> bool {
    let command = path.command.and_then(|number| commands.get(usize::try_from(number).ok()?));
    command.is_some_and(|command| command.tests.is_some()) && path.written.ends_with("...")
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
        ["cat"] => behind,
        ["tee", files @ ..] => behind && files.iter().all(|file| *file == "-a" || !file.starts_with('-')),
        ["grep" | "egrep" | "rg", options @ .., pattern] => {
            behind && !pattern.starts_with('-') && chooses_lines(options)
        }
        _ => command.transparent,
    }
}

/// Whether `grep` prints whole lines of its input with these options before its pattern, and those around them.
fn chooses_lines(options: &[&str]) -> bool {
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let known = match option.strip_prefix('-') {
            Some("A" | "B" | "C") => rest.next().is_some_and(|count| is_count(count)),
            Some("-color=never" | "-line-buffered" | "-extended-regexp" | "-ignore-case") => true,
            Some(letters) => match letters.split_at_checked(1) {
                Some(("A" | "B" | "C", count)) => is_count(count),
                _ => !letters.is_empty() && letters.bytes().all(|letter| b"EFPivwx".contains(&letter)),
            },
            None => false,
        };
        if !known {
            return false;
        }
    }
    true
}

fn is_count(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
