//! `cargo xtask skips`: a test that does not run here counts as failed, unless `skips.toml` names it with a reason, and
//! with a command that succeeds as long as the reason holds.
//!
//! Two ways to skip are seen: tests that are ignored, as the test programs list them, and tests that are compiled on other
//! systems only.

mod predicate;

use std::process::Command;

use serde::Deserialize;

use xtask::failure::{Failure, Result};
use xtask::process::{cargo, output};
use xtask::root::{read, root};

/// `skips.toml`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Skips {
    #[serde(default)]
    skip: Vec<Skip>,
}

/// A test that may be skipped.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Skip {
    /// The test, as this task names it.
    test: String,
    /// Why it cannot run.
    reason: String,
    /// A command and its arguments, run in the workspace's root: succeeds as long as the reason holds.
    holds: Vec<String>,
}

/// Compares the tests that do not run here with `skips.toml`.
pub(crate) fn run() -> Result {
    let path = root().join("skips.toml");
    let skips: Skips = toml::from_str(&read(&path)?).map_err(|error| Failure::file(&path, error))?;
    let mut skipped = ignored()?;
    skipped.extend(elsewhere());
    let problems = problems(&skips, &skipped, &holds);
    if problems.is_empty() {
        anstream::println!("{} tests do not run here, each with a reason", skipped.len());
        return Ok(());
    }
    Err(Failure::new(format!("\n  {}", problems.join("\n  "))))
}

fn problems(skips: &Skips, skipped: &[String], holds: &dyn Fn(&Skip) -> bool) -> Vec<String> {
    let mut problems = Vec::new();
    for test in skipped {
        match skips.skip.iter().find(|skip| skip.test == *test) {
            None => problems.push(format!("`{test}` is skipped, and `skips.toml` does not name it")),
            Some(skip) if skip.reason.trim().is_empty() => problems.push(format!("`{test}` is skipped for no reason")),
            Some(skip) if !holds(skip) => {
                problems.push(format!("`{test}` is skipped, and its reason is gone: {}", skip.reason));
            }
            Some(_) => {}
        }
    }
    let unused = skips.skip.iter().filter(|skip| !skipped.contains(&skip.test));
    problems.extend(unused.map(|skip| format!("`skips.toml` names `{}`, which is not skipped", skip.test)));
    problems
}

fn holds(skip: &Skip) -> bool {
    let Some((program, args)) = skip.holds.split_first() else { return false };
    let run = Command::new(program).args(args).current_dir(root()).output();
    run.is_ok_and(|output| output.status.success())
}

/// The tests that are there and ignored.
fn ignored() -> Result<Vec<String>> {
    let kinds = ["--lib", "--bins", "--tests"];
    let listed = output(cargo(&["test", "--workspace", "--quiet"]).args(kinds).args(["--", "--ignored", "--list"]))?;
    Ok(listed.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_string).collect())
}

/// The tests that are not compiled here: the file, and what they are compiled for.
fn elsewhere() -> Vec<String> {
    let mut found = Vec::new();
    let own = |entry: &walkdir::DirEntry| entry.depth() == 0 || entry.file_name() != "target";
    for entry in walkdir::WalkDir::new(root()).sort_by_file_name().into_iter().filter_entry(own).flatten() {
        if entry.path().extension().is_some_and(|end| end == "rs") {
            let path = entry.path().strip_prefix(root()).unwrap_or(entry.path()).display().to_string();
            let text = read(entry.path()).unwrap_or_default();
            found.extend(of_file(&text).into_iter().map(|condition| format!("{path} cfg({condition})")));
            found.extend(has_ignored_example(&text).then(|| format!("{path} doc")));
        }
    }
    found
}

/// Whether an example in a file's documentation is marked as one that is not tested. To ask rustdoc takes it a minute.
fn has_ignored_example(text: &str) -> bool {
    let comments = text.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
    });
    let marks = |fence: &str| fence.split([',', ' ']).any(|word| word.starts_with("ignore"));
    comments.filter_map(|line| line.trim_start().strip_prefix("```")).any(marks)
}

/// The conditions under which tests of a file are compiled, and which do not hold here.
fn of_file(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(condition) = condition(line) else { continue };
        let rest = lines.iter().skip(at + 1);
        let mut near = rest.take_while(|line| line.starts_with("#[")).copied().collect::<Vec<_>>();
        near.extend(lines.get(at + 1 + near.len()));
        let tests = line.starts_with("#![") || near.iter().any(|line| *line == "#[test]" || line.starts_with("mod "));
        if tests && !predicate::holds(condition) {
            found.push(condition.to_string());
        }
    }
    found
}

fn condition(line: &str) -> Option<&str> {
    let inside = line.strip_prefix("#[cfg(").or_else(|| line.strip_prefix("#![cfg("))?;
    inside.strip_suffix(")]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(test: &str) -> Skips {
        let skip = Skip { test: test.into(), reason: "because".into(), holds: Vec::new() };
        Skips { skip: vec![skip] }
    }

    #[test]
    fn a_skip_needs_an_entry_whose_reason_holds_and_an_entry_needs_a_skip() {
        let skipped = ["one".to_string()];
        assert!(problems(&listed("one"), &skipped, &|_| true).is_empty());
        assert!(problems(&listed("one"), &skipped, &|_| false)[0].contains("its reason is gone"));
        assert!(problems(&Skips::default(), &skipped, &|_| true)[0].contains("does not name it"));
        assert!(problems(&listed("one"), &[], &|_| true)[0].contains("is not skipped"));
    }

    #[test]
    fn tests_for_other_systems_are_seen() {
        let other = if cfg!(unix) { "windows" } else { "unix" };
        let text = format!("#[cfg({other})]\n#[test]\nfn a() {{}}\n#[cfg(all(test, {other}))]\nmod tests {{}}\n");
        assert_eq!(of_file(&text), [other.to_string(), format!("all(test, {other})")]);
        assert_eq!(of_file(&format!("#[cfg({other})]\nfn a() {{}}\n#[cfg(test)]\nmod tests {{}}\n")), [""; 0]);
    }

    #[test]
    fn an_example_that_is_not_tested_is_seen() {
        let fenced = |word: &str| format!("/// Says.\n    /// ```{word}\n    /// a();\n    /// ```\n");
        let seen = ["ignore", "rust,ignore", "ignore-wasm32"].map(|word| has_ignored_example(&fenced(word)));
        assert_eq!(seen, [true; 3]);
        assert!(!has_ignored_example(&fenced("text")) && !has_ignored_example("let a = \"```ignore\";"));
    }
}
