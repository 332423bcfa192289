//! Every program of the table, asked whether a line that names one file changes that file alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use phasegate_core::calls::analysis::{Access, Verdict};
use phasegate_shell::{Piece, Rule, Style, Table, Touch, Trust, judge};

/// The file that every line names.
const FILE: &str = "plans/a.md";

/// What is asked of each program and each of its commands: its operands, and each of its options, alone and in pairs. What
/// is listed was read by a person. A program that is added says here what it changes.
#[test]
fn golden_what_changes_the_file_that_it_names_alone_is_listed() {
    let table = Table::shipped();
    let mut seen = BTreeSet::new();
    let mut found = BTreeMap::new();
    for name in Table::shipped_names() {
        let rule = table.rule(name).unwrap();
        // A further name of the same program adds nothing.
        if !seen.insert(serde_json::to_string(&rule).unwrap()) {
            continue;
        }
        let alone: Vec<String> = forms(&rule)
            .into_iter()
            .filter(|form| {
                changes_the_file_alone(&table, &format!("{name} {form} ").replace(" F ", &format!(" {FILE} ")))
            })
            .collect();
        if !alone.is_empty() {
            found.insert(name, alone.join(" | "));
        }
    }
    let found: String = found.iter().map(|(name, forms)| format!("{name}: {forms}\n")).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/writers.txt");
    if std::env::var_os("PHASEGATE_BLESS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let listed = std::fs::read_to_string(&path).unwrap();
    let (listed, found): (BTreeSet<&str>, BTreeSet<&str>) = (listed.lines().collect(), found.lines().collect());
    let new: Vec<_> = found.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(new.is_empty() && gone.is_empty(), "now: {new:#?}\nlisted: {gone:#?}");
}

/// The arguments to try. An option that writes by itself is tried beside one that names the file.
fn forms(rule: &Rule) -> Vec<String> {
    let words = |list: &String| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let hurts: BTreeSet<String> = rule.hurts.values().chain(rule.everywhere.values()).flat_map(words).collect();
    let valued = |list: &String| words(list).into_iter().filter(|option| option.ends_with(':'));
    let others = valued(&rule.options).chain(valued(&rule.only_with));
    let option = |name: &String| {
        let name = name.trim_end_matches([':', '?']);
        let dashes = if name.len() == 1 || matches!(rule.style, Style::Single | Style::Leading) { "-" } else { "--" };
        format!("{dashes}{name}")
    };
    let mut forms: Vec<String> = ["F", "x F", "-- F", "+x F"].map(str::to_owned).into();
    for name in hurts.iter().chain(&others.collect::<BTreeSet<_>>()) {
        let named = option(name);
        forms.extend([format!("{named} F"), format!("{named} x F")]);
        if hurts.contains(name) && name.ends_with(':') {
            let flags = hurts.iter().filter(|flag| !flag.ends_with([':', '?']));
            forms.extend(flags.map(|flag| format!("{} x {named} F", option(flag))));
        }
    }
    forms
}

fn changes_the_file_alone(table: &Table, line: &str) -> bool {
    let judged = judge(line, table, Trust::default());
    let is_file = |touch: &&Touch| matches!(touch.path.0.as_slice(), [Piece::Text(path)] if path == FILE);
    let mut changed =
        judged.touches.iter().filter(|touch| matches!(touch.access, Access::Write | Access::Remove)).peekable();
    judged.verdict == Verdict::Write
        && changed.peek().is_some()
        && changed.all(|touch| is_file(&touch))
        && !judged.parts.iter().any(|part| part.unnamed || part.command.besides)
}
