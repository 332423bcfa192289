//! The scripts of a package of JavaScript, as far as they run tests: `npm test` runs whatever the package says.

use std::path::Path;

use phasegate_core::calls::analysis::{SimpleCommand, Word};
use phasegate_core::shell::runner;
use phasegate_core::shell::test_report::Runner;
use phasegate_shell::{Table, Trust, judge};
use serde_json::{Map, Value};

use crate::analysis::line::folders::is_device;
use crate::bounds;

/// The settings of npm, in the package's folder or the home folder.
pub(in crate::analysis) const SETTINGS: &str = ".npmrc";
/// Keys of theirs that name another shell, code that `node` loads before anything else, or other settings.
const KEYS: [&str; 4] = ["script-shell", "node-options", "userconfig", "globalconfig"];
/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;
/// How deep scripts run others.
const MAX_DEPTH: u32 = 8;

/// Programs that run another one of the package, with their options before it.
const RUNNING: [&str; 11] =
    ["npx", "bunx", "pnpm", "yarn", "exec", "cross-env", "nyc", "c8", "dotenv", "env-cmd", "dotenvx"];
/// Options of theirs whose value is the next word.
const WITH_VALUE: &str = "-r -n -x -e -f -o --reporter --include --exclude --extension --lines --branches --functions \
                          --statements --report-dir --reports-dir --temp-dir --src";
/// Files of the runners that `node` is given.
const FILES: [&str; 6] = [
    "node_modules/.bin/jest",
    "node_modules/jest/bin/jest.js",
    "node_modules/.bin/vitest",
    "node_modules/vitest/vitest.mjs",
    "node_modules/.bin/mocha",
    "node_modules/mocha/bin/mocha.js",
];
/// Programs that run jest or mocha, and the word with which they do.
const OTHERS: [&str; 5] =
    ["react-scripts test", "craco test", "tsdx test", "vue-cli-service test:unit", "wp-scripts test-unit-js"];
/// Programs beside the runner that print no report of tests: compilers, formatters, and what makes room for them.
const BESIDE: &str = "tsc vue-tsc svelte-check eslint prettier biome xo standard oxlint stylelint rimraf del-cli mkdirp tsup vite \
                      esbuild rollup webpack swc babel prisma rm mkdir cp mv tee true :";

/// Whether the command runs a script of a package that may print a report itself. Where there is no such script, nothing
/// runs. `users`: the user's settings of npm, where they changed since the session began.
pub(in crate::analysis) fn may_print(words: &[&str], folder: &Path, table: &Table, users: Option<&Path>) -> bool {
    let Some(name) = script(words) else { return false };
    let Some(package) = folder.ancestors().map(|folder| folder.join("package.json")).find(|path| path.exists()) else {
        return false;
    };
    let own = package.with_file_name(SETTINGS);
    let settings = [Some(own.as_path()), users];
    let texts: Vec<String> =
        settings.into_iter().flatten().filter_map(|file| bounds::read(file, MAX_BYTES).ok()).collect();
    if texts.iter().any(|text| KEYS.iter().any(|key| text.contains(key))) {
        return true;
    }
    let text = bounds::read(&package, MAX_BYTES).ok();
    let parsed = text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let Some(Value::Object(scripts)) = parsed.as_ref().and_then(|parsed| parsed.get("scripts")) else {
        return false;
    };
    if !scripts.contains_key(name) {
        return false;
    }
    let mut look = Look { scripts, table, runs: false };
    look.script(name, 0).is_none() || !look.runs
}

/// The words of a command, where all are known.
pub(in crate::analysis) fn known_words(command: &SimpleCommand) -> Option<Vec<String>> {
    let text = |word: &Word| if let Word::Known(text) = word { Some(text.clone()) } else { None };
    command.words.iter().map(text).collect()
}

/// The name of the script that a command of a package manager runs, if the package has one of that name.
pub(in crate::analysis) fn script<'w>(words: &[&'w str]) -> Option<&'w str> {
    let (program, rest) = words.split_first()?;
    if !matches!(*program, "npm" | "pnpm" | "yarn" | "bun") {
        return None;
    }
    let mut names = rest.iter().filter(|word| !word.starts_with('-')).copied();
    match (*program, names.next()?) {
        (_, "run" | "run-script") => names.next(),
        ("bun", "test") => None,
        (_, "t" | "test" | "tst") => Some("test"),
        ("npm", name @ ("start" | "stop" | "restart")) => Some(name),
        ("npm", _) | (_, "exec" | "dlx") => None,
        (_, name) => Some(name),
    }
}

/// A look at the scripts of one package.
struct Look<'a> {
    scripts: &'a Map<String, Value>,
    table: &'a Table,
    /// Whether a runner of JavaScript was found.
    runs: bool,
}

impl Look<'_> {
    /// Looks at a script, and at what runs before and after it; `None` if something in it may print a report.
    fn script(&mut self, name: &str, depth: u32) -> Option<()> {
        let all = [format!("pre{name}"), name.to_owned(), format!("post{name}")];
        for text in all.iter().filter_map(|name| self.scripts.get(name)) {
            self.line(text.as_str()?, depth)?;
        }
        Some(())
    }

    fn line(&mut self, text: &str, depth: u32) -> Option<()> {
        let judged = judge(text, self.table, Trust::default());
        let commands = judged.parts.iter().map(|part| &part.command).filter(|command| !command.transparent);
        let mut count = 0_usize;
        for command in commands.filter(|_| depth < MAX_DEPTH) {
            self.command(command, depth)?;
            count = count.saturating_add(1);
        }
        (count > 0).then_some(())
    }

    fn command(&mut self, command: &SimpleCommand, depth: u32) -> Option<()> {
        if command.assignments.iter().any(|(name, _)| finds_programs(name)) {
            return None;
        }
        let words = known_words(command)?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if is_runner(command, &words) {
            self.runs = true;
            return Some(());
        }
        if let Some(name) = script(&words).filter(|name| self.scripts.contains_key(*name)) {
            return self.script(name, depth.saturating_add(1));
        }
        let program = words.first()?;
        let plain = !words.iter().any(|word| is_device(word));
        (plain && BESIDE.split_ascii_whitespace().any(|known| known == *program)).then_some(())
    }
}

/// Whether the variable says which program a name means, or what a shell runs first.
fn finds_programs(name: &str) -> bool {
    name.starts_with("LD_") || ["PATH", "ENV", "BASH_ENV", "SHELL", "IFS"].contains(&name)
}

/// Whether a command of a script is a runner of JavaScript, or runs one.
fn is_runner(command: &SimpleCommand, words: &[&str]) -> bool {
    let of_javascript = |runner| matches!(runner, Runner::Vitest | Runner::Jest | Runner::Mocha);
    if runner::started(command).is_some_and(|run| of_javascript(run.runner)) {
        return true;
    }
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let is_assignment = word.split_once('=').is_some_and(|(name, _)| !name.contains('/') && !finds_programs(name));
        match *word {
            "jest" | "vitest" | "mocha" => return true,
            file if is_file_of_runner(file) => return true,
            "node" => {
                let file = rest.find(|word| !word.starts_with('-'));
                return file.is_some_and(|file| is_file_of_runner(file)) && !loads(words);
            }
            option if WITH_VALUE.split_ascii_whitespace().any(|known| known == option) => drop(rest.next()),
            word if RUNNING.contains(&word) || word.starts_with('-') || is_assignment => {}
            program => {
                let with = rest.next().map(|word| format!("{program} {word}"));
                return with.is_some_and(|with| OTHERS.contains(&with.as_str()));
            }
        }
    }
    false
}

/// Whether `node` is told to load something else first, or to run a text.
fn loads(words: &[&str]) -> bool {
    let options = words.iter().skip_while(|word| **word != "node").skip(1).take_while(|word| word.starts_with('-'));
    options.into_iter().any(|option| {
        !option.starts_with("--experimental-") && !option.starts_with("--max-") && !option.starts_with("--no-warnings")
    })
}

fn is_file_of_runner(file: &str) -> bool {
    let file = Path::new(file).strip_prefix(".").unwrap_or(Path::new(file));
    FILES.iter().any(|known| file == Path::new(known))
}
