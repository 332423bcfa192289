//! Which commands migrate a database.

use phasegate_rules::{Truth, Value};

/// Programs with the subcommand that migrates, and the words of which one must stand in it; none: any command does.
const MIGRATIONS: [(&str, &str, &[&str]); 9] = [
    ("alembic", "upgrade", &[]),
    ("dbmate", "up", &[]),
    ("diesel", "migration", &["redo", "revert", "run"]),
    ("flyway", "migrate", &[]),
    ("goose", "up", &[]),
    ("knex", "migrate:latest", &[]),
    ("liquibase", "update", &[]),
    ("prisma", "migrate", &["deploy", "dev", "reset"]),
    ("sqlx", "migrate", &["revert", "run"]),
];
/// Programs that run the one among their words.
const RUNNERS: [&str; 11] =
    ["bun", "bundle", "bunx", "npx", "pipenv", "pnpm", "poetry", "python", "python3", "uv", "yarn"];
/// The one that does nothing else, so that a word that is not known may be any program.
const ONLY_RUNS: &str = "npx";

/// Whether a command with this program, this subcommand and these words migrates.
pub(super) fn migrates<'a>(program: &Value<'_>, subcommand: &Value<'_>, words: &[Value<'_>]) -> Value<'a> {
    let is = |value: &Value<'_>, text: &str| value.equals(&Value::Text(text));
    let has = |text: &str| words.iter().map(|word| is(word, text)).max().unwrap_or(Truth::No);
    let has_any = |all: &[&str]| all.iter().map(|text| has(text)).max().unwrap_or(Truth::Yes);
    let run = |runner: &&str, wanted: &str| {
        let named = has(wanted);
        let sure = named == Truth::Yes || *runner == ONLY_RUNS;
        is(program, runner).min(if sure { named } else { Truth::No })
    };
    let each = MIGRATIONS.iter().map(|(wanted, command, behind)| {
        let own = is(program, wanted).min(is(subcommand, command));
        let started = RUNNERS.iter().map(|runner| run(runner, wanted)).max().unwrap_or(Truth::No).min(has(command));
        own.max(started).min(has_any(behind))
    });
    match each.max() {
        Some(Truth::Yes) => Value::Bool(true),
        Some(Truth::No) | None => Value::Bool(false),
        Some(Truth::Unknown | Truth::Failed) => Value::Unknown,
    }
}
