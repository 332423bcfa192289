//! The tests that a task runs, as the project's file of tasks says: `make test`, `mise run test` (rules 3.3, tests).

mod files;
mod justfile;
mod makefile;
mod task;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use phasegate_core::calls::analysis::SimpleCommand;
use phasegate_core::shell::test_report;
use phasegate_core::shell::test_report::{Runner, TestRun};
use phasegate_core::shell::{runner, words};
use phasegate_shell::{Judgement, Part, Trust, judge};

use self::task::Tasks;
use super::own_programs::{self, Place};
use super::scripts::known_words;
use crate::analysis::line::folders::{self, is_device, is_inside};

/// The most texts of tasks of one line that are judged.
const MAX_TEXTS: usize = 32;
/// How deep tasks run others.
const MAX_DEPTH: u32 = 8;
/// Commands beside the runner that print no report of tests, by their first words: compilers, linters, formatters, and what
/// makes room for them.
const BESIDE: [&str; 42] = [
    "[",
    "black",
    "cargo build",
    "cargo check",
    "cargo clippy",
    "cargo fmt",
    "cd",
    "clang-format",
    "cp",
    "dotnet build",
    "dotnet format",
    "dotnet restore",
    "eslint",
    "flake8",
    "go build",
    "go fmt",
    "go mod",
    "go vet",
    "gofmt",
    "gofumpt",
    "goimports",
    "golangci-lint",
    "isort",
    "mkdir",
    "mypy",
    "npx eslint",
    "npx prettier",
    "npx tsc",
    "prettier",
    "pyright",
    "rm",
    "ruff",
    "rustfmt",
    "set",
    "shellcheck",
    "staticcheck",
    "test",
    "touch",
    "true",
    "tsc",
    "uv sync",
    "yamllint",
];
/// Parts of options by which these run or load code that somebody names.
const OTHER_CODE: [&str; 8] = ["config", "exec", "loader", "plugin", "require", "rules", "tool", "wrapper"];
/// Programs that print their words.
const PRINTS: [&str; 2] = ["echo", "printf"];

/// The run of tests that a command starts by a task of the project; `None`: it starts no task, or one of which nobody can tell
/// that what it prints comes from a known runner.
pub(in crate::analysis) fn started(
    command: &SimpleCommand,
    part: &Part,
    root: &Path,
    start: &Place<'_>,
) -> Option<TestRun> {
    runs(command, &known_words(command)?, part, root, start)?
}

/// What a command beside the runner builds: it is a known program of that kind, or a task of such ones. `None`: it may print a
/// report of tests.
pub(in crate::analysis) fn builds(
    command: &SimpleCommand,
    part: &Part,
    root: &Path,
    start: &Place<'_>,
) -> Option<bool> {
    let words = known_words(command).filter(|_| words::is_plain(command))?;
    let texts: Vec<&str> = words.iter().map(String::as_str).collect();
    if is_builder(&texts) {
        return Some(matches!(texts.as_slice(), ["cargo", "build" | "check", ..]));
    }
    runs(command, &words, part, root, start).filter(Option::is_none).map(|_| false)
}

/// The run of tests in the task that a command starts, if there is one; `None` as a whole where nobody can tell.
fn runs(
    command: &SimpleCommand,
    words: &[String],
    part: &Part,
    root: &Path,
    start: &Place<'_>,
) -> Option<Option<TestRun>> {
    // What a Makefile takes from the environment is not what it says.
    let given: Vec<&str> = command.assignments.iter().map(|(name, _)| name.as_str()).collect();
    if !words::uses_no_file(command) || given.iter().any(|name| runner::is_obeyed(name)) {
        return None;
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // Who prints what of a script of a package, `scripts` says.
    let asked = files::asked(&words).filter(|asked| asked.program != files::Program::Package)?;
    let folder = folders::folder(part, start.folder).filter(|folder| folder.starts_with(root))?;
    let one = asked.one()?;
    let tasks = files::tasks(&asked, &folder, &given).filter(|tasks| tasks.folder.starts_with(root))?;
    // Who writes a task in the session may know more ways to print than a reader of its file does.
    let began = (start.began)();
    if tasks.said.unsure || tasks.from.iter().any(|file| own_programs::is_new(file, began)) {
        return None;
    }
    let place = Place { folder: &tasks.folder, ..*start };
    let mut look = Look { program: asked.program, tasks: &tasks, root, place, seen: BTreeSet::new(), found: None };
    look.task(one.name, 0)?;
    // What it is given besides may select tests.
    Some(look.found.map(|run| TestRun { whole: run.whole && !one.more, ..run }))
}

/// A text that a task runs.
pub(in crate::analysis) struct TaskText {
    /// The folder in which it runs.
    pub(in crate::analysis) folder: PathBuf,
    /// What a shell is given.
    pub(in crate::analysis) text: String,
}

/// What the tasks run that these commands start, and those that they start in turn, as far as it can be read.
pub(in crate::analysis) fn texts(judged: &Judgement, root: &Path, start: &Place<'_>) -> Vec<TaskText> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let asked = |judged: &Judgement, base: &Path| -> Vec<(PathBuf, Vec<String>)> {
        let words = |part: &Part| Some((folders::folder(part, base)?, known_words(&part.command)?));
        judged.parts.iter().filter_map(words).collect()
    };
    let mut open = asked(judged, start.folder);
    while let Some((folder, words)) = open.pop().filter(|_| found.len() < MAX_TEXTS) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut is_new =
            || folder.starts_with(root) && seen.len() < MAX_TEXTS && seen.insert((folder.clone(), words.join(" ")));
        let Some(asked_for) = files::asked(&words).filter(|_| is_new()) else { continue };
        let Some(tasks) = files::tasks(&asked_for, &folder, &[]) else { continue };
        let mut names = asked_for.names(&tasks.said);
        let mut known = BTreeSet::new();
        while let Some(name) = names.pop().filter(|_| found.len() < MAX_TEXTS) {
            let Some(task) = tasks.said.all.get(&name).filter(|_| known.insert(name.clone())) else { continue };
            names.extend(task.others.iter().cloned());
            for text in &task.texts {
                open.extend(asked(&judge(text, start.table, Trust::default()), &tasks.folder));
                found.push(TaskText { folder: tasks.folder.clone(), text: text.clone() });
            }
        }
    }
    found.truncate(MAX_TEXTS);
    found
}

/// Whether these are the words of a compiler or a formatter that prints nothing but what it says itself of the project.
fn is_builder(words: &[&str]) -> bool {
    let is_own = |word: &&str| !OTHER_CODE.iter().any(|part| word.contains(part));
    match words {
        ["cargo", "fmt", rest @ ..] => rest.iter().all(|word| matches!(*word, "--all" | "--check")),
        ["gofmt", "-w" | "-l", ..] => true,
        ["cargo", "build" | "check" | "clippy", rest @ ..] | ["go", "build" | "fmt" | "vet", rest @ ..] => {
            rest.iter().all(is_own)
        }
        _ => false,
    }
}

/// Whether these are the words of a command that prints no report of tests.
fn prints_no_report(words: &[String]) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    if PRINTS.contains(&program.as_str()) {
        return prints_plainly(program, &rest.join(" "));
    }
    let known = |start: &&str| {
        let mut words = words.iter();
        start.split(' ').all(|wanted| words.next().is_some_and(|word| word == wanted))
    };
    // What it runs in its place, or loads, may print anything.
    let other = |word: &String| word.starts_with('-') && OTHER_CODE.iter().any(|part| word.contains(part));
    BESIDE.iter().any(known) && !rest.iter().any(|word| other(word) || is_device(word))
}

/// Whether `echo` or `printf` prints with these words whole lines that look like no report.
fn prints_plainly(program: &str, text: &str) -> bool {
    let line = match program {
        "printf" => text.strip_suffix("\\n").filter(|text| !text.contains('%')),
        _ => Some(text).filter(|text| !text.starts_with('-')),
    };
    line.is_some_and(|line| !line.contains('\\') && test_report::read(line).is_empty())
}

/// A look at the tasks of a file.
struct Look<'a> {
    program: files::Program,
    tasks: &'a Tasks,
    root: &'a Path,
    place: Place<'a>,
    /// The tasks that were looked at.
    seen: BTreeSet<String>,
    found: Option<TestRun>,
}

impl Look<'_> {
    /// Looks at a task, and at those that it runs; `None` if something in it may print a report, or if nobody can tell.
    fn task(&mut self, name: &str, depth: u32) -> Option<()> {
        // What make needs and no rule is about is a file.
        let is_file = self.program == files::Program::Make && depth > 0;
        let Some(task) = self.tasks.said.all.get(name) else { return is_file.then_some(()) };
        if !self.seen.insert(name.to_owned()) {
            return Some(());
        }
        (!task.unsure && depth < MAX_DEPTH).then_some(())?;
        task.others.iter().try_for_each(|other| self.task(other, depth.saturating_add(1)))?;
        task.texts.iter().try_for_each(|text| self.text(text, depth))
    }

    fn text(&mut self, text: &str, depth: u32) -> Option<()> {
        let judged = judge(text, self.place.table, Trust::default());
        if text.trim().is_empty() {
            return Some(());
        }
        let commands = judged.parts.iter().filter(|part| !part.command.transparent);
        (!judged.parts.is_empty()).then_some(())?;
        for part in commands {
            self.command(part, &judged, depth)?;
        }
        Some(())
    }

    fn command(&mut self, part: &Part, judged: &Judgement, depth: u32) -> Option<()> {
        let command = &part.command;
        if let Some(run) = runner::started(command).filter(|run| run.runner != Runner::Make) {
            return self.runner(run, part, judged);
        }
        let words = known_words(command).filter(|_| words::is_plain(command))?;
        let texts: Vec<&str> = words.iter().map(String::as_str).collect();
        let asked = files::asked(&texts).filter(|asked| asked.program == self.program);
        match asked.and_then(|asked| asked.one()).filter(|one| !one.more) {
            Some(one) => self.task(one.name, depth.saturating_add(1)),
            None => prints_no_report(&words).then_some(()),
        }
    }

    fn runner(&mut self, run: TestRun, part: &Part, judged: &Judgement) -> Option<()> {
        let folder = folders::folder(part, &self.tasks.folder).filter(|folder| folder.starts_with(self.root))?;
        let inside = part.command.words.iter().skip(1).all(|word| is_inside(word, self.root));
        let place = Place { folder: &folder, ..self.place };
        if !inside || own_programs::may_print(&part.command, run.runner, &place) {
            return None;
        }
        // Of several that follow one another, each is in the report.
        let whole = run.whole && folder == self.root && part.command.status.tells();
        let others = judged.parts.iter().filter(|other| *other != part && !other.command.transparent);
        let beside = run.runner.builds_apart() && (self.seen.len() > 1 || others.count() > 0);
        match &mut self.found {
            Some(found) if found.runner != run.runner => None,
            Some(found) => {
                found.whole &= whole;
                found.beside |= beside;
                Some(())
            }
            none => {
                *none = Some(TestRun { whole, beside, ..run });
                Some(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use serde::Deserialize;
    use serde_json::json;

    use crate::analysis::tests::run_in;

    /// A line in a project with these files, and the run of tests that it is: the runner, `whole` or `part`, how its report
    /// comes through a pipe, and `beside` where something else may say that sources cannot be built.
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Row {
        files: BTreeMap<String, String>,
        line: String,
        /// Whether the files were written in the session.
        #[serde(default)]
        new: bool,
        run: Option<String>,
    }

    #[test]
    fn a_line_is_the_run_of_tests_that_its_task_starts() {
        let rows = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tasks.jsonl")).unwrap();
        let mut wrong = Vec::new();
        for row in rows.lines() {
            let row: Row = serde_json::from_str(row).unwrap();
            let run = run_in(&row.files, &row.line, !row.new, None).filter(|run| !run.unsure).map(|run| {
                let word = |value: serde_json::Value| value.as_str().unwrap().to_owned();
                let through = run.through.map(|through| format!(" {}", word(json!(through)))).unwrap_or_default();
                let beside = if run.beside { " beside" } else { "" };
                format!("{} {}{through}{beside}", word(json!(run.runner)), if run.whole { "whole" } else { "part" })
            });
            if run != row.run {
                wrong.push(format!("{row:?}: {run:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
