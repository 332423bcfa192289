//! `cargo xtask drill`: plants installations, right ones and wrong ones, and has `phasegate drill` try each with the real
//! client. It must find every wrong one and no right one, and leave the project, the home and the temporary folder as they were.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use owo_colors::OwoColorize;
use serde::Deserialize;
use serde_json::Value;

use crate::record::client::{self, Client};
use crate::record::drivers::{FIRST, IDS, driver, program};
use crate::record::isolation::isolated;
use crate::record::scratch::Scratch;
use crate::record::story::Story;
use xtask::failure::{Failure, Result};
use xtask::process::build_programs;
use xtask::root::{read, root, target};

/// A port on which no model answers.
const UNUSED: u16 = 9;

/// Which client, and which installations.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The client, by the id of its adapter.
    #[arg(long, default_value = FIRST, value_parser = IDS)]
    client: String,
    /// The client's binary; without it the one that `PATH` has.
    #[arg(long)]
    binary: Option<PathBuf>,
    /// The phasegate binary; without it the one that cargo builds now.
    #[arg(long)]
    guard: Option<PathBuf>,
    /// Only installations whose name begins so; may be given several times.
    #[arg(long = "installation", value_name = "NAME")]
    names: Vec<String>,
    #[arg(long, hide = true)]
    inside: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    installation: Vec<Installation>,
}

/// An installation as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Installation {
    name: String,
    expect: Expect,
    /// A script of `sed` over the client's settings files.
    settings: Option<String>,
    /// The mode, where it is not `block`.
    mode: Option<String>,
    /// Commands of a shell, in the scratch folder.
    #[serde(default)]
    prepare: Vec<String>,
    /// Further arguments of the client.
    #[serde(default)]
    args: Vec<String>,
    /// Variables; a value that begins with `./` is a folder below the scratch folder.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// What a row must say.
    says: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Expect {
    Closed,
    Open,
}

/// Plants and drills; fails where a drill says otherwise.
pub(crate) fn run(args: &Args) -> Result {
    if !args.inside {
        if args.guard.is_none() {
            build_programs()?;
        }
        return isolated("not every drill said what it must");
    }
    let client = driver(&args.client)?;
    let program = program(client, args.binary.as_deref())?;
    let path = root().join(format!("conformance/drill/{}.toml", client.id()));
    let file: File = toml::from_str(&read(&path)?).map_err(|error| Failure::file(&path, error))?;
    let wanted =
        |one: &&Installation| args.names.is_empty() || args.names.iter().any(|name| one.name.starts_with(name));
    let built = args.guard.clone().unwrap_or_else(|| target().join("debug/phasegate"));
    let (mut all, mut failed) = (0, 0);
    for installation in file.installation.iter().filter(wanted) {
        all += 1;
        let problem = match drill(installation, client, &program, &built) {
            Ok(problem) => problem,
            Err(failure) => Some(failure.to_string()),
        };
        let word = if problem.is_none() { "as written".green().to_string() } else { "FAILED".red().to_string() };
        anstream::println!(
            "{word} {}{}",
            installation.name,
            problem.map(|what| format!(": {what}")).unwrap_or_default()
        );
        failed += usize::from(word.contains("FAILED"));
    }
    anstream::println!("{} of {all} as written, {}", all - failed, client::version(client, &program)?);
    if failed == 0 && all > 0 { Ok(()) } else { Err(Failure::new(format!("{failed} of {all} failed"))) }
}

/// What is not as it must be.
fn drill(installation: &Installation, client: &dyn Client, program: &Path, built: &Path) -> Result<Option<String>> {
    let scratch = Scratch::new(&installation.name)?;
    let files = BTreeMap::from([("src/double.py".to_string(), "def double(n): return n + n\n".to_string())]);
    let mode = installation.mode.clone().unwrap_or_else(|| "block".into());
    let story = Story { mode, skill: Some("test-first".into()), files, ..Story::default() };
    scratch.project(&story, client, None)?;
    scratch.install(built, &story, client)?;
    // The client's own settings, and what a person says yes to.
    client.command(&client::Stage { story: &story, scratch: &scratch, program }, UNUSED)?;
    if let Some(script) = &installation.settings {
        std::fs::write(scratch.path("script"), script).map_err(|error| Failure::new(error.to_string()))?;
        let files = "find project home -name 'settings*.json' -o -name hooks.json -o -name phasegate.ts";
        scratch.hand(&[format!("{files} | xargs sed -i -f script")])?;
    }
    scratch.hand(&installation.prepare)?;
    let before = listing(&scratch)?;
    let mut command = scratch.command(built);
    command.args(["drill", client.id(), "--json", "--program"]).arg(program).arg("--").args(&installation.args);
    command.env("TMPDIR", scratch.path("tmp"));
    for (name, value) in &installation.env {
        match value.strip_prefix("./") {
            Some(below) => command.env(name, scratch.path(below)),
            None => command.env(name, value),
        };
    }
    let output = command.output().map_err(|error| Failure::file(built, error))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let said: Value = serde_json::from_str(&text).unwrap_or_default();
    let open = said.pointer("/0/open").and_then(Value::as_bool);
    let code = output.status.code();
    let seconds = said.pointer("/0/seconds").and_then(Value::as_u64).unwrap_or(u64::MAX);
    let problem = match open {
        None => Some(format!("no answer: {}", String::from_utf8_lossy(&output.stderr))),
        Some(open) if open != (installation.expect == Expect::Open) || code != Some(i32::from(open)) => {
            Some(format!("open: {open}, exit {code:?}{}", rows(&said)))
        }
        _ if installation.says.as_ref().is_some_and(|says| !text.contains(says)) => Some("it does not say so".into()),
        _ if seconds > 60 => Some(format!("it took {seconds} s")),
        _ => changed(&before, &listing(&scratch)?),
    };
    scratch.remove()?;
    Ok(problem)
}

/// The rows, to be read.
fn rows(said: &Value) -> String {
    let rows = said.pointer("/0/rows").and_then(Value::as_array).into_iter().flatten();
    let text = |row: &Value, key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
    rows.map(|row| format!("\n    {} {}: {}", text(row, "state"), text(row, "about"), text(row, "note"))).collect()
}

/// A line that is in one of two listings alone.
fn changed(before: &str, after: &str) -> Option<String> {
    let [one, other]: [BTreeSet<&str>; 2] = [before.lines().collect(), after.lines().collect()];
    one.symmetric_difference(&other).next().map(|line| format!("something changed, or was left: {line}"))
}

/// The digests of all files of the user, and what lies in the temporary folder.
fn listing(scratch: &Scratch) -> Result<String> {
    let line = "find project home state tmp -type f -not -path '*/.git/*' -exec sha256sum {} + | sort; find tmp";
    let output = scratch.command(Path::new("sh")).current_dir(&scratch.base).args(["-c", line]).output();
    let output = output.map_err(|error| Failure::new(error.to_string()))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
