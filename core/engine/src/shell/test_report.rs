//! Test reports: what runners print at their end, as numbers.

use serde::{Deserialize, Serialize};

use crate::prelude::*;

/// A known test runner.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Runner {
    /// `cargo test`.
    Cargo,
    /// `cargo nextest run`.
    Nextest,
    /// `go test`.
    Go,
    /// `pytest`.
    Pytest,
    /// `python -m unittest`.
    Unittest,
    /// `vitest run`.
    Vitest,
    /// `jest`.
    Jest,
    /// `mocha`.
    Mocha,
    /// `mvn test`.
    Maven,
    /// `gradle test`.
    Gradle,
    /// `npm test`: the runner of JavaScript that the package names.
    Script,
    /// `bun test`.
    Bun,
    /// `dotnet test`.
    Dotnet,
    /// `rspec`.
    Rspec,
    /// `ctest`.
    Ctest,
    /// `prove`.
    Prove,
    /// `make test`: whatever its recipe runs.
    Make,
}

impl Runner {
    /// Whether a report of `other` is one of this runner.
    pub fn reports_as(self, other: Self) -> bool {
        let of_javascript = matches!(other, Self::Vitest | Self::Jest | Self::Mocha);
        self == other || self == Self::Make || (self == Self::Script && of_javascript)
    }

    /// Whether the last lines that it prints say whether all its tests passed. `dotnet test` has a summary for each project,
    /// Gradle counts no test that passed, and a recipe may go on to anything.
    pub fn ends_with_summary(self) -> bool {
        !matches!(self, Self::Dotnet | Self::Gradle | Self::Make)
    }

    /// Whether what cannot be built is told as of any build: `could not compile`.
    pub fn builds_apart(self) -> bool {
        matches!(self, Self::Cargo | Self::Nextest)
    }

    /// Whether it does nothing but run tests, so that what it does besides is known. A recipe may do anything.
    pub fn only_tests(self) -> bool {
        !matches!(self, Self::Bun | Self::Dotnet | Self::Rspec | Self::Ctest | Self::Prove | Self::Make)
    }
}

/// How the report of a runner comes through the rest of a pipe.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Through {
    /// Some of its lines do: through `head` or `grep`, without what cargo says of errors, or of a runner that is stopped.
    Lines,
    /// Its end does: through `tail`, `tee` or `cat`.
    End,
}

/// A run of tests that a command of a shell line starts.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestRun {
    /// Its runner.
    pub runner: Runner,
    /// Whether it runs the whole suite: no path, no name, and no option that may select tests.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub whole: bool,
    /// Whether something else than the runner may print the report: a program, a module or a script of the project.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub unsure: bool,
    /// Whether something else in the line, or in the task, may say that sources cannot be built.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub beside: bool,
    /// How its report comes through the rest of a pipe; `None`: it is in none, or another command may change the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<Through>,
}

/// What a runner printed about the tests that it ran.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestReport {
    /// The runner whose form the report has.
    pub runner: Runner,
    /// How many tests passed. `go test` counts packages.
    #[serde(default)]
    pub passed: u64,
    /// How many tests failed. `go test` counts packages where it names no test.
    #[serde(default)]
    pub failed: u64,
    /// How many tests a selection left out, as far as the runner says so.
    #[serde(default, skip_serializing_if = "crate::values::is_default")]
    pub left_out: u64,
    /// Whether tests could not be built or collected.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub broken: bool,
    /// Whether the runner says at its end that something failed, whatever it counted.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub unsuccessful: bool,
    /// How many of the failures are of files that could not be collected.
    #[serde(skip)]
    not_run: u64,
}

/// How much of a text is read, from its beginning and from its end, in bytes.
const MAX_BEGINNING: usize = 256 * 1024;
const MAX_END: usize = 768 * 1024;

/// The beginning and the end of a text that is long.
fn bounded(text: &str) -> String {
    let at = |at: usize| (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let end = at(text.len().saturating_sub(MAX_END));
    let (first, last) = (text.get(..at(MAX_BEGINNING).min(end)), text.get(end..));
    [first.unwrap_or_default(), "\n", last.unwrap_or_default()].concat()
}

/// The reports in what a program printed, at most one for each runner. That something failed to be built or collected
/// counts where a source file is named that it is about: a module that is not there is no test.
pub fn read(text: &str) -> Vec<TestReport> {
    let plain = without_colors(&bounded(text));
    let mut found = Reports::default();
    let names_source = plain.lines().any(names_source);
    let (mut before, mut quoted, mut prints, mut runs) = ("", 0_usize, false, false);
    for line in plain.lines() {
        let line = line.trim_end();
        let text = line.trim_start();
        // What a compiler quotes is indented.
        if text.len() == line.len() || text.starts_with("Summary [") {
            found.rust(text);
        }
        found.line(text, before);
        // `npm` says which script it runs, and then each line of it.
        let script = line.strip_prefix("> ");
        quoted = if script.is_some() { quoted.saturating_add(1) } else { 0 };
        if let Some(script) = script.filter(|_| quoted > 1) {
            let first = quoted == 2;
            prints |= first && only_prints(script);
            runs |= if first { !only_prints(script) } else { names_runner(script) };
        }
        before = line;
    }
    // Then the script printed what looks like a report itself.
    let forged = prints && !runs;
    let of_javascript = |runner| Runner::Script.reports_as(runner);
    found.all.retain(|report| !(forged && of_javascript(report.runner)));
    for report in &mut found.all {
        report.broken &= names_source;
        // `make` says only that its recipe failed.
        report.failed = if report.runner == Runner::Make && !names_source { 0 } else { report.failed };
    }
    let task_failed = plain.lines().any(|line| FAILED_TASK.iter().any(|words| line.contains(words)));
    found.all.iter_mut().for_each(|report| report.unsuccessful |= task_failed);
    found.all.retain(|report| report.passed > 0 || report.failed > 0 || report.broken);
    found.all
}

/// How programs that run tasks say that one of them failed.
const FAILED_TASK: [&str; 5] =
    [": *** [", "error: Recipe `", "task: Failed to run task", "ERROR task failed", "npm error Lifecycle script"];

/// The endings of files that hold tests, or what they are about.
const SOURCES: [&str; 33] = [
    "py", "rs", "go", "js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte", "java", "kt", "kts",
    "scala", "groovy", "rb", "php", "c", "cc", "cpp", "cxx", "h", "hpp", "cs", "fs", "swift", "ex", "exs", "t", "sh",
];
/// What stands in paths of files that are a runner's or a language's own.
const OWN_FILES: [&str; 6] =
    ["/unittest/", "site-packages/", "dist-packages/", "node_modules/", "/importlib/", "<frozen "];
/// How a program says that there is no such file.
const NOT_THERE: [&str; 9] = [
    "error occurred while loading",
    "command not found",
    "No such file",
    "directory not found",
    "cannot load such file",
    "Cannot find module",
    "Cannot detect source",
    "No module named",
    "No rule to make target",
];

/// Whether a line names a source file of the project, as far as words tell, and does not say that it is not there.
fn names_source(line: &str) -> bool {
    let sign = |letter: char| !(letter.is_alphanumeric() || matches!(letter, '.' | '/' | '\\' | '_' | '-' | '@' | '+'));
    let is_source = |word: &str| {
        let word = word.trim_end_matches('.');
        let ends = |(stem, end): (&str, &str)| !stem.is_empty() && !stem.ends_with('/') && SOURCES.contains(&end);
        word.rsplit_once('.').is_some_and(ends)
    };
    // A compiler says of a name that it is "not found in" something.
    let not_found = line.split(": not found").skip(1).any(|rest| !rest.starts_with(" in "));
    let absent = not_found || NOT_THERE.iter().chain(&OWN_FILES).any(|words| line.contains(words));
    !absent && line.split(sign).any(is_source)
}

fn names_runner(script: &str) -> bool {
    ["vitest", "jest", "mocha"].iter().any(|runner| script.contains(runner))
}

/// Whether the script of a package, as `npm` prints it before it runs it, only prints and runs no runner of JavaScript.
fn only_prints(script: &str) -> bool {
    let prints =
        script.split(' ').next().is_some_and(|program| ["printf", "echo", "cat", ":", "true"].contains(&program));
    prints && !names_runner(script)
}

/// The text without the escape sequences that set colours.
fn without_colors(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut parts = text.split("\u{1b}[");
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let end = part.bytes().position(|byte| byte.is_ascii_alphabetic()).map_or(0, |at| at.saturating_add(1));
        plain.push_str(part.get(end..).unwrap_or_default());
    }
    plain
}

#[derive(Default)]
struct Reports {
    all: Vec<TestReport>,
    /// Whether a line said how the files of tests of JavaScript ended.
    told_files: bool,
}

impl Reports {
    /// The report of the runner, which is made if there is none.
    fn of(&mut self, runner: Runner) -> &mut TestReport {
        let at = self.all.iter().position(|report| report.runner == runner).unwrap_or_else(|| {
            let (unsuccessful, broken) = (false, false);
            self.all.push(TestReport { runner, passed: 0, failed: 0, left_out: 0, broken, unsuccessful, not_run: 0 });
            self.all.len().saturating_sub(1)
        });
        // The place was found or made just now.
        #[expect(clippy::indexing_slicing, reason = "the index is in range")]
        &mut self.all[at]
    }

    /// The last summary counts.
    fn set(&mut self, runner: Runner, passed: u64, failed: u64, left_out: u64) {
        let report = self.of(runner);
        (report.passed, report.failed, report.left_out) = (passed, failed, left_out);
    }

    fn line(&mut self, line: &str, before: &str) {
        self.go(line);
        self.pytest(line);
        self.unittest(line);
        self.javascript(line, before);
        self.jvm(line);
        self.others(line);
        if let Some(runner) = unsuccessful(line) {
            self.of(runner).unsuccessful = true;
        }
    }

    /// The summaries of `bun test`, `dotnet test`, `rspec`, `ctest` and `prove`, and that `make` gave up a recipe.
    fn others(&mut self, line: &str) {
        let numbered = |end: &str| line.strip_suffix(end).filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        if let Some(passed) = numbered(" pass") {
            self.of(Runner::Bun).passed = number(passed);
        } else if let Some(failed) = numbered(" fail") {
            self.of(Runner::Bun).failed = number(failed);
        } else if let Some((_, counts)) = line.split_once("!  - Failed: ") {
            let passed = counts.split_once("Passed: ").map_or(0, |(_, rest)| number(rest));
            let report = self.of(Runner::Dotnet);
            report.passed = report.passed.saturating_add(passed);
            report.failed = report.failed.saturating_add(number(counts));
        } else if line.contains(": error CS") || line.contains(": error FS") {
            self.of(Runner::Dotnet).broken = true;
        } else if let Some((ran, rest)) = line.split_once(" examples, ").or_else(|| line.split_once(" example, ")) {
            let failed = number(rest);
            self.set(
                Runner::Rspec,
                number(ran).saturating_sub(failed).saturating_sub(count(rest, "pending")),
                failed,
                0,
            );
            self.of(Runner::Rspec).broken = rest.contains("outside of examples");
        } else if let Some((rest, all)) =
            line.split_once("% tests passed").and_then(|(_, rest)| rest.split_once("out of "))
        {
            let failed = number(rest.trim_start_matches(','));
            self.set(Runner::Ctest, number(all).saturating_sub(failed), failed, 0);
        } else if let Some(failed) = line.strip_prefix("Failed ").filter(|rest| rest.ends_with(" subtests")) {
            let report = self.of(Runner::Prove);
            report.failed = report.failed.saturating_add(number(failed));
        } else if line.starts_with("No subtests run") {
            self.of(Runner::Prove).broken = true;
        } else if let Some((_, tests)) = line.strip_prefix("Files=").and_then(|rest| rest.split_once("Tests=")) {
            let report = self.of(Runner::Prove);
            report.passed = number(tests).saturating_sub(report.failed);
        } else if line.starts_with("make") && line.contains(": *** [") {
            self.of(Runner::Make).failed = 1;
        }
    }

    fn rust(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            let report = self.of(Runner::Cargo);
            report.passed = report.passed.saturating_add(count(counts, "passed"));
            report.failed = report.failed.saturating_add(count(counts, "failed"));
            report.left_out = report.left_out.saturating_add(count(counts, "filtered"));
        } else if line.starts_with("error: could not compile ") {
            self.of(Runner::Cargo).broken = true;
            self.of(Runner::Nextest).broken = true;
        } else if let Some(counts) = line.strip_prefix("Summary [") {
            let failed = count(counts, "failed").saturating_add(count(counts, "timed"));
            self.set(Runner::Nextest, count(counts, "passed"), failed, 0);
        }
    }

    fn go(&mut self, line: &str) {
        if let Some(rest) = line.strip_prefix("ok  \t").or_else(|| line.strip_prefix("ok \t")) {
            let ran = u64::from(!rest.contains("[no tests to run]"));
            let report = self.of(Runner::Go);
            report.passed = report.passed.saturating_add(ran);
        } else if line.starts_with("--- FAIL: ") {
            let report = self.of(Runner::Go);
            report.failed = report.failed.saturating_add(1);
        } else if let Some(rest) = line.strip_prefix("FAIL\t") {
            let broken = rest.contains("[build failed]") || rest.contains("[setup failed]");
            let report = self.of(Runner::Go);
            report.broken |= broken;
        }
    }

    fn pytest(&mut self, line: &str) {
        if let Some(counts) = pytest_counts(line) {
            let errors = count(counts, "error").max(count(counts, "errors"));
            let report = self.of(Runner::Pytest);
            let failed = count(counts, "failed").saturating_add(errors).saturating_sub(report.not_run);
            report.passed = count(counts, "passed").saturating_add(count(counts, "xpassed"));
            report.failed = failed;
            report.left_out = report.left_out.max(count(counts, "deselected"));
        } else if line.starts_with('_') && line.contains(" ERROR collecting ") {
            let report = self.of(Runner::Pytest);
            (report.broken, report.not_run) = (true, report.not_run.saturating_add(1));
        } else if line.starts_with("ImportError while loading conftest") {
            self.of(Runner::Pytest).broken = true;
        } else if line.starts_with("!!!") && line.contains("Exit: ") {
            self.of(Runner::Pytest).left_out = 1;
        }
    }

    fn unittest(&mut self, line: &str) {
        if line.starts_with("ERROR: ") && line.contains("(unittest.loader._FailedTest") {
            let report = self.of(Runner::Unittest);
            (report.broken, report.not_run) = (true, report.not_run.saturating_add(1));
        } else if let Some(rest) = line.strip_prefix("Ran ").filter(|rest| rest.contains(" test")) {
            let ran = number(rest);
            let report = self.of(Runner::Unittest);
            (report.passed, report.failed) = (ran, 0);
        } else if let Some(rest) = line.strip_prefix("FAILED (").and_then(|rest| rest.strip_suffix(')')) {
            let wrong =
                ["failures", "errors", "unexpected successes"].map(|name| named(rest, name)).iter().sum::<u64>();
            let report = self.of(Runner::Unittest);
            report.passed = report.passed.saturating_sub(wrong).saturating_sub(not_counted(rest));
            report.failed = wrong.saturating_sub(report.not_run);
        } else if let Some(rest) = line.strip_prefix("OK (").and_then(|rest| rest.strip_suffix(')')) {
            let report = self.of(Runner::Unittest);
            report.passed = report.passed.saturating_sub(not_counted(rest));
        }
    }

    fn javascript(&mut self, line: &str, before: &str) {
        self.told_files |= line.starts_with("Test Suites: ") || line.starts_with("Test Files  ");
        if let Some(counts) = line.strip_prefix("Tests: ") {
            self.of(Runner::Jest).unsuccessful |= !self.told_files;
            self.set(Runner::Jest, count(counts, "passed"), count(counts, "failed"), 0);
        } else if line.contains("Test suite failed to run") {
            self.of(Runner::Jest).broken = true;
        } else if let Some(counts) = line.strip_prefix("Tests  ") {
            self.of(Runner::Vitest).unsuccessful |= !self.told_files;
            self.set(Runner::Vitest, count(counts, "passed"), count(counts, "failed"), 0);
        } else if line.contains("Failed Suites ") {
            self.of(Runner::Vitest).broken = true;
        } else if let Some((passed, _)) = line.split_once(" passing (") {
            if passed.bytes().all(|byte| byte.is_ascii_digit()) {
                self.set(Runner::Mocha, number(passed), 0, 0);
            }
        } else if let Some(failed) = line.strip_suffix(" failing") {
            if before.contains(" passing (") || before.contains(" pending") {
                self.of(Runner::Mocha).failed = number(failed);
            }
        } else if line.contains("singleRun (") && line.contains("/mocha/lib/cli/run") {
            self.of(Runner::Mocha).broken = true;
        }
    }

    fn jvm(&mut self, line: &str) {
        let rest = line.trim_start_matches("[INFO] ").trim_start_matches("[ERROR] ").trim_start_matches("[WARNING] ");
        if let Some(counts) = rest.strip_prefix("Tests run: ").filter(|rest| !rest.contains("Time elapsed")) {
            let of = |name: &str| counts.split_once(name).map_or(0, |(_, rest)| number(rest));
            let failed = of("Failures: ").saturating_add(of("Errors: "));
            let passed = number(counts).saturating_sub(failed).saturating_sub(of("Skipped: "));
            let report = self.of(Runner::Maven);
            report.passed = report.passed.saturating_add(passed);
            report.failed = report.failed.saturating_add(failed);
        } else if rest.starts_with("COMPILATION ERROR") {
            self.of(Runner::Maven).broken = true;
        } else if let Some((ran, failed)) = line.split_once(" tests completed, ") {
            let (ran, failed) = (number(ran), number(failed));
            self.set(Runner::Gradle, ran.saturating_sub(failed), failed, 0);
        } else if is_compiling(line) {
            self.of(Runner::Gradle).broken = true;
        }
    }
}

/// The runner that says in this line that its run did not succeed.
fn unsuccessful(line: &str) -> Option<Runner> {
    let counts = |start: &str| line.strip_prefix(start).is_some_and(|counts| count(counts, "failed") > 0);
    let is_target = |line: &str| line.strip_prefix("error: ").is_some_and(|rest| rest.contains(" failed"));
    match line {
        "FAIL" => Some(Runner::Go),
        "Result: FAIL" => Some(Runner::Prove),
        "[INFO] BUILD FAILURE" | "BUILD FAILURE" => Some(Runner::Maven),
        line if line.starts_with("error: test run failed") => Some(Runner::Nextest),
        line if is_target(line) => Some(Runner::Cargo),
        _ if counts("Test Suites: ") => Some(Runner::Jest),
        line if counts("Test Files  ") || line.starts_with("Errors  ") => Some(Runner::Vitest),
        _ => None,
    }
}

/// Whether a line of Gradle says that sources could not be compiled: `> Task :compileTestJava FAILED`.
fn is_compiling(line: &str) -> bool {
    let task = line.trim_start_matches("> Task ").strip_suffix(" FAILED").filter(|task| task.starts_with(':'));
    task.and_then(|task| task.rsplit(':').next()).is_some_and(|name| name.starts_with("compile"))
}

/// The counts of a line of pytest: `== 1 failed, 2 passed in 0.12s ==`.
fn pytest_counts(line: &str) -> Option<&str> {
    let (counts, time) = line.trim_matches(|c| c == '=' || c == ' ').rsplit_once(" in ")?;
    let seconds = time.split(' ').next()?.strip_suffix('s')?;
    let words =
        ["passed", "failed", "error", "errors", "skipped", "deselected", "warning", "warnings", "xfailed", "xpassed"];
    let counted = |part: &str| {
        let mut parts = part.split(' ').filter(|part| *part != "subtests");
        let digits =
            parts.next().is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
        digits && parts.next().is_some_and(|word| words.contains(&word)) && parts.next().is_none()
    };
    let timed = seconds.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (timed && counts.split(", ").all(counted)).then_some(counts)
}

/// The number before a word: 2 in `1 failed, 2 passed` for `passed`.
fn count(text: &str, word: &str) -> u64 {
    let mut before = "";
    for part in text.split([' ', ',', ';', '|', '\t']).filter(|part| !part.is_empty()) {
        if part == word {
            return number(before);
        }
        before = part;
    }
    0
}

/// The tests of unittest that ran, or did not, and did not pass.
fn not_counted(counts: &str) -> u64 {
    named(counts, "skipped").saturating_add(named(counts, "expected failures"))
}

/// The number after a name: 1 in `failures=1, errors=2` for `failures`.
fn named(text: &str, name: &str) -> u64 {
    let part = text.split(", ").find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
    part.map_or(0, number)
}

/// The number that a text begins with; 0 if it begins with none.
fn number(text: &str) -> u64 {
    let text = text.trim_start();
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.get(..end).and_then(|digits| digits.parse().ok()).unwrap_or(0)
}
