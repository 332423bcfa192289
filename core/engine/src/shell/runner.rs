//! Known test runners: which commands start one, and which of them run the whole suite (rules 3.3, tests).

use crate::calls::analysis::{SimpleCommand, Word};
use crate::shell::test_report::{Runner, TestRun};
use crate::shell::words;
use crate::values::glob::text_fits;

/// One runner of the table.
#[derive(Clone, Copy, Debug)]
pub struct RunnerRow {
    /// Which runner.
    pub runner: Runner,
    /// The words that its commands begin with.
    pub starts: &'static [&'static str],
    /// Words that leave a suite whole, with blanks between them: what is printed, how it is built, how many tests run at a
    /// time. `*` stands for any characters.
    harmless: &'static str,
    /// Options of the same kind whose value is the next word.
    with_value: &'static str,
    /// Words without one of which the suite is not whole.
    needs: &'static str,
}

const CARGO: &str = "-q --quiet -v -vv --verbose --workspace --all --all-features --release -r --locked \
                   --offline --frozen --no-fail-fast --color=* --message-format=* --jobs=* --timings \
                   --keep-going -- --nocapture --no-capture --show-output --test-threads=* --include-ignored \
                   --cargo-quiet --hide-progress-bar --show-progress=*";

/// The table of runners.
pub const RUNNERS: [RunnerRow; 17] = [
    RunnerRow {
        runner: Runner::Cargo,
        starts: &["cargo test", "cargo t"],
        harmless: CARGO,
        with_value: "-j --jobs --color --message-format --test-threads",
        needs: "",
    },
    RunnerRow {
        runner: Runner::Nextest,
        starts: &["cargo nextest run", "cargo nextest r"],
        harmless: CARGO,
        with_value: "-j --jobs --color --test-threads --status-level --final-status-level --success-output --failure-output",
        needs: "",
    },
    RunnerRow {
        runner: Runner::Go,
        starts: &["go test"],
        harmless: "-v -race -cover -count=* -shuffle=* -p=* -parallel=* -timeout=* -tags=* ./...",
        with_value: "-count -shuffle -p -parallel -timeout -tags",
        needs: "./...",
    },
    RunnerRow {
        runner: Runner::Pytest,
        starts: &[
            "pytest",
            "py.test",
            "python -m pytest",
            "python3 -m pytest",
            "uv run pytest",
            "poetry run pytest",
            ".venv/bin/pytest",
            "venv/bin/pytest",
            ".venv/bin/python -m pytest",
            ".venv/bin/python3 -m pytest",
            "venv/bin/python -m pytest",
            "venv/bin/python3 -m pytest",
        ],
        harmless: "-q -qq --quiet -v -vv -vvv --verbose -s -l --showlocals --tb=* --color=* --no-header \
                   --durations=* --capture=* -n* -r* -x --exitfirst --maxfail=* --disable-warnings \
                   --no-summary --setup-show --doctest-modules --cov --cov=* --cov-report=* --strict-markers \
                   --strict-config",
        with_value: "-n --tb --color --durations",
        needs: "",
    },
    RunnerRow {
        runner: Runner::Unittest,
        starts: &[
            "python -m unittest",
            "python3 -m unittest",
            "uv run python -m unittest",
            ".venv/bin/python -m unittest",
            ".venv/bin/python3 -m unittest",
            "venv/bin/python -m unittest",
            "venv/bin/python3 -m unittest",
        ],
        harmless: "-q --quiet -v --verbose -b --buffer --locals -f --failfast -c --catch discover",
        with_value: "",
        needs: "",
    },
    RunnerRow {
        runner: Runner::Vitest,
        starts: &[
            "vitest run",
            "npx vitest run",
            "pnpm vitest run",
            "pnpm exec vitest run",
            "yarn vitest run",
            "vitest",
            "npx vitest",
            "pnpm vitest",
            "yarn vitest",
        ],
        harmless: "--coverage --no-color --silent --reporter=verbose --reporter=default --reporter=dot \
                   --reporter=agent --reporter=minimal --run --no-watch --bail --bail=* --passWithNoTests \
                   --hideSkippedTests --logHeapUsage",
        with_value: "",
        needs: "",
    },
    RunnerRow {
        runner: Runner::Jest,
        starts: &["jest", "npx jest", "pnpm jest", "pnpm exec jest", "yarn jest"],
        harmless: "--ci --coverage --verbose --silent --runInBand -i --no-color --colors --detectOpenHandles \
                   --forceExit --no-cache --maxWorkers=* --bail --passWithNoTests --logHeapUsage \
                   --noStackTrace --randomize --useStderr --reporters=default --reporters=summary",
        with_value: "",
        needs: "",
    },
    RunnerRow {
        runner: Runner::Mocha,
        starts: &["mocha", "npx mocha", "pnpm mocha", "pnpm exec mocha", "yarn mocha"],
        harmless: "--no-color --no-colors --color -C --parallel --full-trace --recursive --exit --bail -b \
                   --check-leaks --inline-diffs --no-diff --reporter=* --forbid-only --forbid-pending \
                   --fail-zero",
        with_value: "-R --reporter",
        needs: "",
    },
    RunnerRow {
        runner: Runner::Maven,
        starts: &["mvn", "./mvnw"],
        harmless: "-q --quiet -B --batch-mode -ntp --no-transfer-progress -o --offline -U -e -fae \
                   --fail-at-end clean test verify package install",
        with_value: "-T --threads",
        needs: "test verify package install",
    },
    RunnerRow {
        runner: Runner::Gradle,
        starts: &["gradle", "./gradlew"],
        harmless: "-q --quiet -i --info --stacktrace --no-daemon --offline --console=* --continue \
                   --rerun-tasks clean test check build",
        with_value: "",
        needs: "test check build",
    },
    RunnerRow {
        runner: Runner::Script,
        starts: &["npm test", "npm t", "npm run test", "pnpm test", "pnpm run test", "yarn test", "yarn run test"],
        harmless: "--silent -s",
        with_value: "",
        needs: "",
    },
    RunnerRow {
        runner: Runner::Bun,
        starts: &["bun test"],
        harmless: "--bail --bail=* --coverage --timeout=*",
        with_value: "--timeout",
        needs: "",
    },
    RunnerRow {
        runner: Runner::Dotnet,
        starts: &["dotnet test"],
        harmless: "--nologo --no-build --no-restore -v:* --verbosity=*",
        with_value: "-v --verbosity -c --configuration",
        needs: "",
    },
    RunnerRow {
        runner: Runner::Rspec,
        starts: &["bundle exec rspec", "rspec", "bin/rspec"],
        harmless: "--no-color --color -c --format=* --backtrace -b --fail-fast",
        with_value: "-f --format",
        needs: "",
    },
    RunnerRow {
        runner: Runner::Ctest,
        starts: &["ctest"],
        harmless: "--output-on-failure -V -VV --verbose -j* --parallel=*",
        with_value: "--test-dir -j --parallel -C",
        needs: "",
    },
    RunnerRow {
        runner: Runner::Prove,
        starts: &["prove"],
        harmless: "-r -l -v -b -f -q -lr -rl -lv -vl --recurse --lib --blib --verbose --quiet --failures --nocolor --color",
        with_value: "-j --jobs",
        needs: "",
    },
    RunnerRow {
        runner: Runner::Make,
        starts: &["make test", "make check"],
        harmless: "-s --silent -k --keep-going -j* -B --no-print-directory",
        with_value: "",
        needs: "",
    },
];

/// How the names of variables begin that a runner obeys, its language, or what finds and loads programs.
const OBEYED: &str = "_ AR ASDF BASH BUN BUNDLE CARGO CC CGO CLASSPATH CMAKE CONDA COREPACK COVERAGE CTEST CXX DENO DOTNET DYLD \
                      ENV GCC GEM GIT GLIBC GO GRADLE HARNESS HOME HYPOTHESIS IFS JAVA JDK JEST LD MAKE MAVEN MFLAGS MISE MOCHA \
                      MSBUILD MVN NEXTEST NODE NPM ORG_GRADLE PATH PERL PIP PNPM POETRY PROVE PS4 PY RSPEC RUBY RUST SHELL \
                      SPEC_OPTS TS_NODE UV VIRTUAL_ENV VITEST VSTEST XDG YARN ZDOTDIR";

/// Variables of these that only change what is printed beside the report, or how fast it comes.
const HARMLESS: [&str; 9] = [
    "CARGO_INCREMENTAL",
    "CARGO_TERM_COLOR",
    "CARGO_TERM_PROGRESS_WHEN",
    "NODE_ENV",
    "NPM_CONFIG_LOGLEVEL",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "RUST_LOG",
    "RUST_TEST_THREADS",
];

/// Whether an assignment of the variable may change which tests run, or what prints their report. A name of the project's
/// own is its tests' alone.
pub fn is_obeyed(name: &str) -> bool {
    let begins = |start| name.get(..str::len(start)).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    let harmless = words::is_plain_variable(name) || HARMLESS.contains(&name);
    !harmless && OBEYED.split_ascii_whitespace().any(begins)
}

/// The run of tests that a command starts; `None` for every other command, and where a word of it is not known, or a variable
/// that runners obey or a file stands beside it.
pub fn started(command: &SimpleCommand) -> Option<TestRun> {
    let known = |word: &Word| matches!(word, Word::Known(_));
    let obeyed = command.assignments.iter().any(|(name, _)| is_obeyed(name));
    if obeyed || !words::uses_no_file(command) || !command.words.iter().all(known) {
        return None;
    }
    RUNNERS.iter().find_map(|row| {
        let rest = row.starts.iter().find_map(|start| words::after(command, start))?;
        Some(TestRun { runner: row.runner, whole: row.is_whole(rest), unsure: false, beside: false, through: None })
    })
}

/// Words that select tests, for runners that do other things too, and those of them whose value is the next word.
const SELECTS: &str =
    "-Dtest=* -Dit.test=* --tests=* -run=* -skip=* -short -failfast -json -bench=* -benchtime=* -benchmem";
const SELECTS_WITH_VALUE: &str = "--tests -run -skip -bench -benchtime";

/// Whether a command runs tests and does nothing else: a runner that builds and publishes too, by words that are known.
pub(crate) fn only_tests(command: &SimpleCommand) -> bool {
    let rests = |row: &'static RunnerRow| row.starts.iter().find_map(|start| words::after(command, start));
    started(command).is_some()
        && RUNNERS.iter().any(|row| rests(row).is_some_and(|rest| row.needs.is_empty() || row.only_selects(rest)))
}

impl RunnerRow {
    /// Whether the words after the start leave the suite whole.
    fn is_whole(&self, words: &[Word]) -> bool {
        // What a path names may be anything: a reporter, a configuration.
        let is_path = |word: &str| word.contains('/') && word != "./...";
        !texts(words).any(is_path) && self.knows(words, |_| false, "") && self.has_needed(words)
    }

    /// Whether the words after the start say at most which tests run. Of a build tool, its goals say that it runs tests.
    fn only_selects(&self, words: &[Word]) -> bool {
        let builds = self.starts.iter().any(|start| !start.contains(' '));
        let selects = |word: &str| is_in(SELECTS, word) || !(builds || word.starts_with('-'));
        self.knows(words, selects, SELECTS_WITH_VALUE) && (!builds || self.has_needed(words))
    }

    /// Whether each word is harmless or one of others, some of which have a value.
    fn knows(&self, words: &[Word], others: impl Fn(&str) -> bool, with_value: &str) -> bool {
        let mut rest = texts(words);
        while let Some(word) = rest.next() {
            let takes = [self.with_value, with_value].iter().any(|list| list.split_whitespace().any(|one| one == word));
            let known = if takes { rest.next().is_some() } else { is_in(self.harmless, word) || others(word) };
            if !known {
                return false;
            }
        }
        true
    }

    fn has_needed(&self, words: &[Word]) -> bool {
        self.needs.is_empty() || texts(words).any(|word| is_in(self.needs, word))
    }
}

/// The words of a command; one that is not known is empty.
fn texts(words: &[Word]) -> impl Iterator<Item = &str> {
    words.iter().map(|word| if let Word::Known(text) = word { text.as_str() } else { "" })
}

/// Whether a word fits one of a list.
fn is_in(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|pattern| text_fits(pattern, word))
}
