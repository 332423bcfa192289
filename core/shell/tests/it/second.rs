//! A second opinion: the commands that another shell parser sees in a line are among our parts, or we say `unknown`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::path::Path;
use std::{fs, thread};

use brush_parser::{Parser, ParserOptions, word};
use phasegate_core::calls::analysis::{Verdict, Word};
use phasegate_shell::{Judgement, Table, Trust, judge};
use serde_json::Value;

use crate::bash::{changed, further, lines, valid};

/// How many lines are made by changing letters, and from which seed.
const MADE: usize = 1_000;
const SEED: u64 = 0x2b0;
/// The other parser calls itself for everything that is nested; what our own guard lets through fits in this.
const STACK: usize = 256 << 20;

/// How often each program is named.
type Names = BTreeMap<String, usize>;

/// The programs that the other parser sees; `None` where it cannot read the line.
fn seen(line: &str) -> Option<Names> {
    let mut names = Names::new();
    program(line, &mut names)?;
    Some(names)
}

fn program(text: &str, names: &mut Names) -> Option<()> {
    let tree = Parser::new(Cursor::new(text.as_bytes()), &ParserOptions::default()).parse_program().ok()?;
    walk(&serde_json::to_value(tree).unwrap(), names);
    Some(())
}

/// The text of a word, where it is the same whatever the shell's state.
fn literal(pieces: &Value) -> Option<String> {
    let mut text = String::new();
    for piece in pieces.as_array()? {
        let (kind, value) = piece["piece"].as_object()?.iter().next()?;
        match kind.as_str() {
            "Text" if value.as_str()?.contains(['*', '?', '[', '{']) => return None,
            "Text" | "SingleQuotedText" => text.push_str(value.as_str()?),
            "EscapeSequence" => text.push_str(value.as_str()?.strip_prefix('\\')?),
            "DoubleQuotedSequence" => text.push_str(&literal(value)?),
            _ => return None,
        }
    }
    Some(text)
}

fn pieces(text: &str, here: bool) -> Option<Value> {
    let options = ParserOptions::default();
    let read = if here { word::parse_heredoc(text, &options) } else { word::parse(text, &options) };
    read.ok().and_then(|pieces| serde_json::to_value(pieces).ok())
}

/// Everything that runs in a tree or in the pieces of a word.
fn walk(tree: &Value, names: &mut Names) {
    match tree {
        Value::Array(items) => items.iter().for_each(|item| walk(item, names)),
        Value::Object(fields) => {
            if let Some(name) = fields.get("word_or_name").and_then(|name| name["value"].as_str())
                && let Some(text) = pieces(name, false).and_then(|pieces| literal(&pieces))
            {
                *names.entry(text).or_default() += 1;
            }
            if let Some(doc) = fields.get("doc") {
                if fields.get("requires_expansion").is_some_and(|expands| expands == true) {
                    inside(doc["value"].as_str().unwrap(), true, names);
                }
                return;
            }
            fields.iter().for_each(|(key, value)| field(key, value, names));
        }
        _ => {}
    }
}

fn field(key: &str, value: &Value, names: &mut Names) {
    match (key, value.as_str()) {
        // The assignment, and the same once more as a word.
        ("AssignmentWord", None) => walk(&value[0], names),
        ("CommandSubstitution", Some(text)) => {
            program(text, names);
        }
        ("BackquotedCommandSubstitution", Some(text)) => {
            let bare = text.replace("\\\\", "\\").replace("\\`", "`").replace("\\$", "$");
            program(&bare, names);
        }
        // Texts that are not words.
        ("Text" | "SingleQuotedText" | "AnsiCQuotedText" | "EscapeSequence" | "Named" | "variable_name", _) => {}
        ("loc" | "VariableName" | "here_end" | "fname" | "TildeExpansion", _) => {}
        (_, Some(text)) => inside(text, false, names),
        (_, None) => walk(value, names),
    }
}

/// What runs while a text is expanded.
fn inside(text: &str, here: bool, names: &mut Names) {
    if text.contains(['$', '`', '<', '>'])
        && let Some(pieces) = pieces(text, here)
    {
        walk(&pieces, names);
    }
}

fn ours(judgement: &Judgement) -> Names {
    let mut names = Names::new();
    for part in &judgement.parts {
        if let Some(Word::Known(name)) = part.command.words.first() {
            *names.entry(name.clone()).or_default() += 1;
        }
    }
    names
}

/// Of these lines, those in which the other parser sees a program more often than we do, and how many were compared.
fn differing(lines: Vec<String>) -> (BTreeSet<String>, usize) {
    let work = move || {
        let table = Table::shipped();
        let (mut found, mut compared) = (BTreeSet::new(), 0);
        for line in lines {
            let judgement = judge(&line, &table, Trust::default());
            if judgement.verdict == Verdict::Unknown {
                continue;
            }
            let Some(theirs) = seen(&line) else {
                assert!(judgement.verdict != Verdict::Read || valid(&line), "only we can read this: {line:?}");
                continue;
            };
            compared += 1;
            let ours = ours(&judgement);
            let missed = |(name, count): (&String, &usize)| ours.get(name).is_none_or(|own| own < count);
            if theirs.iter().any(|(name, count)| missed((name, count)) && !glued(&line, name)) {
                found.insert(line);
            }
        }
        (found, compared)
    };
    thread::Builder::new().stack_size(STACK).spawn(work).unwrap().join().unwrap()
}

/// Whether a process substitution follows a name at once: it is a part of that word, but the other parser ends the word.
fn glued(line: &str, name: &str) -> bool {
    line.contains(&format!("{name}<(")) || line.contains(&format!("{name}>("))
}

fn own(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name);
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["cmd"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn another_parser_sees_no_command_that_we_do_not() {
    let mut all = lines();
    all.extend(own("read.jsonl"));
    all.extend(own("never-read.jsonl"));
    let mut state = SEED;
    let made: Vec<String> = (0..MADE).map(|at| changed(&mut state, &all[at * 7 % all.len()])).collect();
    let count = all.len();
    let (found, compared) = differing(all.into_iter().chain(further()).chain(made).collect());
    println!("{compared} lines compared");
    assert!(compared > count / 2, "{compared}");
    let known: BTreeSet<String> = own("second.jsonl").into_iter().collect();
    let new: Vec<_> = found.difference(&known).collect();
    assert!(new.is_empty(), "we miss a command here: {new:#?}");
    let gone: Vec<_> = known.difference(&found).collect();
    assert!(gone.is_empty(), "no difference any more: {gone:#?}");
}
