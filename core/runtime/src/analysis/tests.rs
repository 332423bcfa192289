//! Which command of a line runs tests whose report can be believed (rules 3.3, tests).

pub(in crate::analysis) mod cargo_config;
pub(in crate::analysis) mod scripts;
pub(in crate::analysis) mod own_programs;
pub(in crate::analysis) mod tasks;

use std::path::Path;

use phasegate_core::calls::analysis::{PathUse, SimpleCommand, Status, Verdict, Word};
#[cfg(test)]
use phasegate_core::shell::test_report::TestRun;
use phasegate_core::shell::test_report::{Runner, Through};
use phasegate_core::shell::{runner, words};
use phasegate_shell::{Judgement, Part};

use crate::analysis::line::folders::{folder, is_inside};
use crate::analysis::tests::own_programs::Place;
use crate::analysis::tests::scripts::known_words;

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
    let role = |(other, (command, part)): (usize, (&SimpleCommand, &Part))| match other {
        other if other == at => Some(Role::Starts),
        other => role(command, other > at).or_else(|| {
            let what_tests_need = tasks::builds(command, part, root, start)?;
            Some(Role::Builds { what_tests_need })
        }),
    };
    let roles: Option<Vec<Role>> = commands.iter().zip(&judged.parts).enumerate().map(role).collect();
    let folder = judged.parts.get(at).and_then(|part| folder(part, start.folder));
    let Some(folder) = folder.filter(|folder| folder.starts_with(root)) else { return };
    let inside = commands.get(at).is_some_and(|command| command.words.iter().skip(1).all(|word| is_inside(word, root)));
    if let Some(roles) = roles.filter(|_| inside) {
        // Where a task runs, its file says.
        let typed = commands.get(at).and_then(runner::started).is_some_and(|typed| typed.runner == run.runner);
        run.whole &= folder == root || !typed;
        let place = Place { folder: &folder, ..*start };
        let is_piped = commands.get(at).is_some_and(|command| command.status == Status::Piped);
        run.through = is_piped.then(|| through(commands, at, run.runner, &roles));
        run.beside |= run.runner.builds_apart() && roles.contains(&Role::Builds { what_tests_need: false });
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

/// How the report of the command at this place comes through the others of its line.
fn through(commands: &[SimpleCommand], at: usize, runner: Runner, roles: &[Role]) -> Through {
    let mut sent = commands.get(at).into_iter().flat_map(|command| &command.redirections);
    // Of a program that crashed, cargo says so among its errors.
    let joins = sent.any(|(operator, target)| operator == "2>&" && *target == Word::Known("1".into()));
    let lost = matches!(runner, Runner::Cargo | Runner::Nextest) && !joins;
    let whole = !lost && !commands.iter().any(has_options) && !roles.contains(&Role::PassesLines);
    if whole { Through::End } else { Through::Lines }
}

/// Whether a path is none, but a pattern of packages that a runner of tests is given: `go test ./...`.
pub(super) fn is_of_packages(path: &PathUse, commands: &[SimpleCommand]) -> bool {
    let command = path.command.and_then(|number| commands.get(usize::try_from(number).ok()?));
    command.is_some_and(|command| command.tests.is_some()) && path.written.ends_with("...")
}

/// What a command beside the runner does, that prints nothing of its own which looks like a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It only runs the runner, moves to a folder, or is the runner itself.
    Starts,
    /// It passes on what the runner prints, or the end of that.
    PassesEnd,
    /// It passes on some lines.
    PassesLines,
    /// It builds, checks or formats the code.
    Builds {
        /// Whether the tests could not be built either where this cannot.
        what_tests_need: bool,
    },
}

/// What a command of the shell beside the runner does; `None`: it may print a report. `behind`: it comes after the runner.
fn role(command: &SimpleCommand, behind: bool) -> Option<Role> {
    if !words::is_plain(command) {
        return None;
    }
    let transparent = || command.transparent.then_some(Role::Starts);
    let Some(words) = known_words(command) else { return transparent() };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let in_set = |option: &&str| matches!(*option, "-e" | "-o" | "-eo" | "-euo" | "-u" | "pipefail");
    let counts = |count: &str| count.strip_prefix("-n").or_else(|| count.strip_prefix('-')).is_some_and(is_count);
    let is_file = |file: &&str| *file == "-a" || !file.starts_with('-');
    match words.as_slice() {
        ["cd", folder] => (*folder != "-").then_some(Role::Starts),
        ["set", options @ ..] => options.iter().all(in_set).then_some(Role::Starts),
        ["tail" | "head" | "cat" | "tee" | "grep" | "egrep" | "rg", ..] if !behind => None,
        ["cat"] | ["tail"] => Some(Role::PassesEnd),
        ["tail", count] => counts(count).then_some(Role::PassesEnd),
        ["tail", "-n", count] => is_count(count).then_some(Role::PassesEnd),
        ["tee", files @ ..] => files.iter().all(is_file).then_some(Role::PassesEnd),
        ["head"] => Some(Role::PassesLines),
        ["head", count] => counts(count).then_some(Role::PassesLines),
        ["head", "-n", count] => is_count(count).then_some(Role::PassesLines),
        ["grep" | "egrep" | "rg", options @ .., pattern] => {
            (!pattern.starts_with('-') && chooses_lines(options)).then_some(Role::PassesLines)
        }
        _ => transparent(),
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

/// What a line in a project with these files says of tests that it runs, in a session that began then.
#[cfg(test)]
pub(super) fn run_in(
    files: &std::collections::BTreeMap<String, String>,
    line: &str,
    old: bool,
    lost: Option<phasegate_shell::Readers>,
) -> Option<TestRun> {
    use std::time::{Duration, SystemTime};
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("sub")).unwrap();
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let (now, hour) = (SystemTime::now(), Duration::from_secs(3600));
    let began = || if old { now.checked_add(hour) } else { now.checked_sub(hour) };
    let call = serde_json::json!({"event": "tool_call", "id": "1", "tool": "Bash", "input": {"command": line}});
    let mut event = phasegate_core::Event::from_value(call).unwrap();
    let mut shell = super::Shell::default().with_home(&root.join("home"));
    shell.trust.lost.extend(lost);
    super::read_line(&mut event, &shell, &root, &began);
    let phasegate_core::EventKind::ToolCall { analysis, .. } = event.kind else { panic!() };
    analysis.commands.iter().find_map(|command| command.tests)
}
