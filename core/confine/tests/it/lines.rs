//! What developers run ends as it does without.

use std::collections::HashMap;
use std::process::Stdio;

use libtest_mimic::{Failed, Trial};
use phasegate_confine::Level;
use serde::Deserialize;

use crate::scratch::{Scratch, User, has};

#[derive(Deserialize)]
struct Table {
    lines: Vec<String>,
    otherwise: Vec<Otherwise>,
}

/// A line that may end otherwise.
#[derive(Deserialize)]
struct Otherwise {
    line: String,
    why: String,
}

/// A small project for the tools of several languages.
const FILL: &str = r#"
set -e
mkdir -p js tests
printf '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n' > Cargo.toml
echo 'pub fn add(a: u32, b: u32) -> u32 { a + b }' > src/lib.rs
echo 'int main(void) { return 0; }' > src/a.c; echo 'x = 1' > src/m.py
printf 'import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(1, 1)\n' > tests/test_a.py
echo '{"name":"demo","version":"1.0.0","scripts":{"test":"node js/t.js","build":"node -e 0","fails":"exit 3"}}' > package.json
echo '{"name":"demo","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{"":{"name":"demo","version":"1.0.0"}}}' > package-lock.json
echo 'require("assert")(1)' > js/t.js; cp js/t.js js/t.test.js
printf 'all: a b\na:\n\t@echo a > /tmp/mk-$$PPID\nb:\n\t@echo b\nfails:\n\t@exit 3\n' > Makefile
printf '.guard\ntarget\nnode_modules\n__pycache__\n' > .gitignore
git add -A; git commit -qm tools; echo 2 > src/two.txt; git add -A; git commit -qm two
"#;

/// Every line as every user.
pub(crate) fn trials() -> Vec<Trial> {
    let table: Table = toml::from_str(include_str!("../lines.toml")).unwrap();
    let why: HashMap<String, String> = table.otherwise.into_iter().map(|row| (row.line, row.why)).collect();
    let mut trials = Vec::new();
    // The last of them is not root, where there is another.
    if let Some(user) = User::all().pop() {
        let first = Scratch::new(user);
        let refused = first.refused(&first.request(Level::Overlay)).is_some();
        for line in &table.lines {
            let program = line.trim_start_matches('(').split_whitespace().next().unwrap_or_default();
            let builtin = ["cd", "echo", "umask", "kill", "ulimit", "test", "no-such-program"].contains(&program);
            let missing = !builtin && !has(program);
            let (line, why) = (line.clone(), why.get(line).cloned());
            let name = format!("line/{}/{line}", user.name());
            let trial = Trial::test(name, move || play(&line, user, why.as_deref()));
            trials.push(trial.with_ignored_flag(refused || missing));
        }
    }
    trials
}

fn play(line: &str, user: User, why: Option<&str>) -> Result<(), Failed> {
    let made = || {
        let scratch = Scratch::new(user);
        scratch.make(FILL);
        scratch.make("mkdir -p /tmp/$ID");
        scratch
    };
    let bare = made();
    let without =
        bare.bare(line).env("TMPDIR", bare.temporary()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    let confined = made();
    let request = confined.request(Level::Overlay);
    let with = confined.confined(&request, line).env("TMPDIR", confined.temporary()).output().unwrap();
    let signal = std::os::unix::process::ExitStatusExt::signal(&without).map(|signal| 128 + signal);
    match (without.code().or(signal), with.status.code(), why) {
        (without, with, _) if without == with => Ok(()),
        (_, _, Some(why)) => {
            eprintln!("ends otherwise as {}: {line} ({why})", user.name());
            Ok(())
        }
        (without, status, None) => {
            Err(format!("{without:?} without, {status:?} with: {}", String::from_utf8_lossy(&with.stderr)).into())
        }
    }
}
