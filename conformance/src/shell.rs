//! Shell lines, judged: each corpus of `shell/`, a trial for every class of its lines.
//!
//! What the lines really do is not asked here but by `cargo xtask shell-oracle`, in a sandbox.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use phasegate_core::calls::analysis::Verdict;
use phasegate_shell::{Table, Trust, judge};
use serde::Deserialize;
use serde_json::Value;

use crate::loading::Loading;
use crate::play::folders::shell_lines;
use crate::trial::{Check, Mismatch, Trial};

/// Files that `cargo xtask shell-oracle` reads.
const ORACLE: &[&str] = &["families.toml", "helpers.toml", "mutations.toml"];

/// What a corpus wants.
#[derive(Clone, Copy)]
enum Wants {
    /// Every line judged `read`.
    Read,
    /// No line judged `read`.
    Other,
    /// No line judged `read` where the repository is not trusted.
    Distrusted,
    /// What each line says.
    Own,
    /// No line `read` by the shipped table that the registry calls WRITE, but for patterns that narrow the table.
    Registry,
}

const CORPORA: &[(&str, Wants)] = &[
    ("must-block", Wants::Other),
    ("adversarial", Wants::Other),
    ("distrusted", Wants::Distrusted),
    ("should-allow", Wants::Read),
    ("own", Wants::Own),
    ("typed", Wants::Own),
    ("registry", Wants::Registry),
];

/// A line of a corpus; `README.md` beside them says what each field means.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: String,
    cmd: String,
    #[serde(default)]
    class: Option<String>,
    #[serde(default)]
    expect: Option<String>,
    #[serde(default)]
    accept: Vec<String>,
    #[serde(default)]
    narrows: bool,
    #[serde(rename = "why")]
    _why: String,
    #[serde(rename = "source", default)]
    _source: Option<String>,
    #[serde(rename = "verified", default)]
    _verified: Option<String>,
    #[serde(rename = "patterns", default)]
    _patterns: BTreeMap<String, String>,
    #[serde(rename = "default", default)]
    _default: Option<String>,
    #[serde(rename = "policy", default)]
    _policy: Option<String>,
    #[serde(rename = "tool", default)]
    _tool: Option<String>,
}

impl Row {
    /// Whether the line must be judged `read`; `None` where either is right.
    fn must_read(&self, wants: Wants) -> Option<bool> {
        match wants {
            Wants::Read => Some(true),
            Wants::Other | Wants::Distrusted => Some(false),
            Wants::Own if !self.accept.is_empty() => None,
            Wants::Own => Some(self.expect.as_deref() == Some("read")),
            Wants::Registry if self.expect.as_deref() == Some("WRITE") && !self.narrows => Some(false),
            Wants::Registry => None,
        }
    }
}

/// The trials of all corpora; a file that is none of them fails.
pub(crate) fn trials(loading: &mut Loading) {
    let mut unused: BTreeSet<String> = fs::read_dir(shell_lines())
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name != "README.md" && !ORACLE.contains(&name.as_str()))
        .collect();
    let mut ids = BTreeSet::new();
    for (name, wants) in CORPORA {
        let file = format!("{name}.jsonl");
        unused.remove(&file);
        match rows(&file, &mut ids) {
            Ok(classes) => {
                for (class, rows) in classes {
                    let wants = *wants;
                    let run = Box::new(move || rows.iter().filter_map(|row| wrong(row, wants)).collect());
                    let area = format!("shell/{name}");
                    let id = format!("judge/{area}/{class}");
                    loading.trials.push(Trial { id, check: Check::Judge, adapter: None, area, run });
                }
            }
            Err(problem) => loading.fails(&format!("../shell/{file}"), &problem),
        }
    }
    for name in unused {
        loading.fails(&format!("../shell/{name}"), &"no trial uses this file");
    }
}

fn rows(file: &str, ids: &mut BTreeSet<String>) -> Result<BTreeMap<String, Vec<Row>>, String> {
    let text = fs::read_to_string(shell_lines().join(file)).map_err(|error| error.to_string())?;
    let mut classes: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for (at, line) in text.lines().enumerate() {
        let row: Row = serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1))?;
        if !ids.insert(row.id.clone()) {
            return Err(format!("line {}: `{}` is there twice", at + 1, row.id));
        }
        classes.entry(row.class.clone().unwrap_or_else(|| "all".into())).or_default().push(row);
    }
    if classes.is_empty() { Err("the file is empty".into()) } else { Ok(classes) }
}

fn wrong(row: &Row, wants: Wants) -> Option<Mismatch> {
    let must = row.must_read(wants)?;
    let trust = Trust { repository: !matches!(wants, Wants::Distrusted), ..Trust::default() };
    let judgement = judge(&row.cmd, &Table::shipped(), trust);
    if (judgement.verdict == Verdict::Read) == must {
        return None;
    }
    let expected = if must { "read" } else { "not read" };
    let got = serde_json::to_value(judgement.verdict).unwrap_or(Value::Null);
    let place = format!("{}: {:?} ({})", row.id, row.cmd, judgement.because);
    Some(Mismatch::new(&place, "verdict", Value::from(expected), got))
}
