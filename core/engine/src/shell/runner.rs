//! Known test runners: which commands start one, and which of them run the whole suite (rules 3.3, tests).

use crate::calls::analysis::{SimpleCommand, Word};
use crate::prelude::*;
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
    /// Options of the same kind whose value is the next word. Behind `=`, the values that are meant: `-R=spec|dot`.
    with_value: &'static str,
    /// Words without one of which the suite is not whole.
    needs: &'static str,
    /// Options that say at most which tests run, and that may stand beside those above where only tests are to run.
    selects: &'static str,
    /// Options of the same kind whose value is the next word.
    selects_with_value: &'static str,
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
        selects: "--package=* --lib --bins --bin=* --test=* --tests --doc --examples --example=* --exact \
                   --skip=* --features=* --no-default-features --ignored --no-run --target=* --profile=* \
                   --fail-fast --list --exclude=*",
        selects_with_value: "-p --package --bin --test --example --skip --features -F --target --profile --exclude",
    },
    RunnerRow {
        runner: Runner::Nextest,
        starts: &["cargo nextest run", "cargo nextest r"],
        harmless: CARGO,
        with_value: "-j --jobs --color --test-threads --status-level --final-status-level --success-output --failure-output",
        needs: "",
        selects: "--package=* --lib --bins --bin=* --test=* --tests --features=* --no-default-features \
                   --retries=* --partition=* --run-ignored=* --no-tests=* --no-run --fail-fast --exclude=*",
        selects_with_value: "-p --package --bin --test --features -F --target --profile -P --exclude -E --filterset \
                   --filter-expr --retries --partition --run-ignored --no-tests",
    },
    RunnerRow {
        runner: Runner::Go,
        starts: &["go test"],
        harmless: "-v -race -cover -count=* -shuffle=* -p=* -parallel=* -timeout=* -tags=* ./...",
        with_value: "-count -shuffle -p -parallel -timeout -tags",
        needs: "./...",
        selects: "-run=* -skip=* -short -failfast -json -bench=* -benchtime=* -benchmem -vet=off -list=*",
        selects_with_value: "-run -skip -bench -benchtime -list",
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
                   --no-summary --setup-show --doctest-modules --cov --cov=* --cov-report=term* --cov-report=xml --cov-report=html \
                   --cov-report=json --cov-report= --strict-markers \
                   --strict-config",
        with_value: "-n --tb --color --durations",
        needs: "",
        selects: "--lf --last-failed --ff --failed-first --nf --sw --stepwise --ignore=* --deselect=* --co \
                   --collect-only --timeout=* --no-cov --asyncio-mode=* --log-level=* --log-cli-level=* \
                   --import-mode=* --runslow --dist=*",
        selects_with_value: "-k -m -p=no:* --ignore --deselect --timeout --maxfail --cov --dist --log-level \
                   --log-cli-level",
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
        selects: "-k*",
        selects_with_value: "-k -s -p -t",
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
        selects: "--testNamePattern=* --project=* --changed --changed=* --shard=* --testTimeout=* --pool=forks \
                   --maxWorkers=* --watch=false",
        selects_with_value: "-t --testNamePattern --project --shard --testTimeout --maxWorkers \
                   --reporter=verbose|default|dot|minimal",
    },
    RunnerRow {
        runner: Runner::Jest,
        starts: &["jest", "npx jest", "pnpm jest", "pnpm exec jest", "yarn jest"],
        harmless: "--ci --coverage --verbose --silent --runInBand -i --no-color --colors --detectOpenHandles \
                   --forceExit --no-cache --maxWorkers=* --bail --passWithNoTests --logHeapUsage \
                   --noStackTrace --randomize --useStderr --reporters=default --reporters=summary",
        with_value: "",
        needs: "",
        selects: "--testNamePattern=* --testPathPattern=* --testPathPatterns=* --findRelatedTests \
                   --onlyChanged -o --onlyFailures -f --watchAll=false --watch=false --testTimeout=* \
                   --shard=* --expand --coverage=false",
        selects_with_value: "-t --testNamePattern --testPathPattern --testPathPatterns --testTimeout --shard -w \
                   --maxWorkers --selectProjects",
    },
    RunnerRow {
        runner: Runner::Mocha,
        starts: &["mocha", "npx mocha", "pnpm mocha", "pnpm exec mocha", "yarn mocha"],
        harmless: "--no-color --no-colors --color -C --parallel --full-trace --recursive --exit --bail -b \
                   --check-leaks --inline-diffs --no-diff --reporter=spec --reporter=dot --reporter=min \
                   --reporter=list --reporter=progress --reporter=tap --reporter=nyan --reporter=landing \
                   --reporter=github-actions --forbid-only --forbid-pending --fail-zero",
        with_value: "-R=spec|dot|min|list|progress|tap|nyan|landing|github-actions \
                     --reporter=spec|dot|min|list|progress|tap|nyan|landing|github-actions",
        needs: "",
        selects: "--grep=* --fgrep=* --invert --timeout=* --slow=* --retries=*",
        selects_with_value: "-g --grep -f --fgrep -t --timeout -s --slow --retries",
    },
    RunnerRow {
        runner: Runner::Maven,
        starts: &["mvn", "./mvnw"],
        harmless: "-q --quiet -B --batch-mode -ntp --no-transfer-progress -o --offline -U -e -fae \
                   --fail-at-end clean test verify package install",
        with_value: "-T --threads",
        needs: "test verify package install",
        selects: "-Dtest=* -Dit.test=*",
        selects_with_value: "-pl --projects",
    },
    RunnerRow {
        runner: Runner::Gradle,
        starts: &["gradle", "./gradlew"],
        harmless: "-q --quiet -i --info --stacktrace --no-daemon --offline --console=* --continue \
                   --rerun-tasks clean test check build",
        with_value: "",
        needs: "test check build",
        selects: "--tests=*",
        selects_with_value: "--tests",
    },
    RunnerRow {
        runner: Runner::Script,
        starts: &["npm test", "npm t", "npm run test", "pnpm test", "pnpm run test", "yarn test", "yarn run test"],
        harmless: "--silent -s",
        with_value: "",
        needs: "",
        selects: "",
        selects_with_value: "",
    },
    RunnerRow {
        runner: Runner::Bun,
        starts: &["bun test"],
        harmless: "--bail --bail=* --coverage --timeout=*",
        with_value: "--timeout",
        needs: "",
        selects: "--test-name-pattern=* --only --todo --rerun-each=*",
        selects_with_value: "-t --test-name-pattern --rerun-each",
    },
    RunnerRow {
        runner: Runner::Dotnet,
        starts: &["dotnet test"],
        harmless: "--nologo --no-build --no-restore -v:* --verbosity=*",
        with_value: "-v --verbosity -c --configuration",
        needs: "",
        selects: "--filter=* --list-tests --logger=console*",
        selects_with_value: "--filter --logger=console*",
    },
    RunnerRow {
        runner: Runner::Rspec,
        starts: &["bundle exec rspec", "rspec", "bin/rspec"],
        harmless: "--no-color --color -c --format=progress --format=documentation --format=json --backtrace -b \
                   --fail-fast",
        with_value: "-f=p|d|progress|documentation|json --format=p|d|progress|documentation|json",
        needs: "",
        selects: "--example=* --tag=* --only-failures --next-failure --order=* --seed=*",
        selects_with_value: "-e --example -t --tag --order --seed -E",
    },
    RunnerRow {
        runner: Runner::Ctest,
        starts: &["ctest"],
        harmless: "--output-on-failure -V -VV --verbose -j* --parallel=*",
        with_value: "--test-dir -j --parallel -C",
        needs: "",
        selects: "-R* -E* -L* -LE* --rerun-failed --timeout=* --preset=*",
        selects_with_value: "-R -E -L -LE --timeout --preset",
    },
    RunnerRow {
        runner: Runner::Prove,
        starts: &["prove"],
        harmless: "-r -l -v -b -f -q -lr -rl -lv -vl --recurse --lib --blib --verbose --quiet --failures --nocolor --color",
        with_value: "-j --jobs",
        needs: "",
        selects: "-s --shuffle --timer",
        selects_with_value: "",
    },
    RunnerRow {
        runner: Runner::Make,
        starts: &["make test", "make check"],
        harmless: "-s --silent -k --keep-going -j* -B --no-print-directory",
        with_value: "",
        needs: "",
        selects: "V=* VERBOSE=*",
        selects_with_value: "",
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

/// Whether a command runs tests and does nothing else, by options that are known.
pub(crate) fn only_tests(command: &SimpleCommand) -> bool {
    let rests = |row: &'static RunnerRow| row.starts.iter().find_map(|start| words::after(command, start));
    started(command).is_some() && RUNNERS.iter().any(|row| rests(row).is_some_and(|rest| row.only_selects(rest)))
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
        let builds = self.starts.iter().any(|start| !start.contains(' ')) && !self.needs.is_empty();
        // A script hands its words on to one of these.
        let script = [Runner::Vitest, Runner::Jest, Runner::Mocha];
        let rows = RUNNERS.iter().filter(|row| self.runner == Runner::Script && script.contains(&row.runner));
        let rows: Vec<&Self> = rows.chain([self]).collect();
        let names = |word: &str| !builds && self.runner != Runner::Make && !word.starts_with('-');
        let selects = |word: &str| {
            word == "--" || names(word) || rows.iter().any(|row| is_in(row.selects, word) || is_in(row.harmless, word))
        };
        let with_value = rows.iter().map(|row| row.selects_with_value).collect::<Vec<_>>().join(" ");
        self.knows(words, selects, &with_value) && (!builds || self.has_needed(words))
    }

    /// Whether each word is harmless or one of others, some of which have a value.
    fn knows(&self, words: &[Word], others: impl Fn(&str) -> bool, with_value: &str) -> bool {
        let mut rest = texts(words);
        while let Some(word) = rest.next() {
            let lists = [self.with_value, with_value];
            let options = lists.iter().flat_map(|list| list.split_whitespace());
            let mut options = options.map(|one| one.split_once('=').unwrap_or((one, "*")));
            let known = match options.find(|(option, _)| *option == word) {
                Some((_, values)) => {
                    rest.next().is_some_and(|value| values.split('|').any(|one| text_fits(one, value)))
                }
                None => is_in(self.harmless, word) || others(word),
            };
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
