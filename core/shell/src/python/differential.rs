//! Our parser against Python's own: what both can read, both read alike.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests say what went wrong by panicking"
)]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{fs, thread};

use serde_json::Value;

use super::parse::parse;
use super::tree::{Argument, Block, Expr, Handler, Imported, Kind, Parameters, Role, Statement};

/// How many texts are made by changing letters, and from which seed.
const MADE: usize = 6_000;
const SEED: u64 = 0x5eed;
/// What is put anywhere in a text.
const NOISE: &[&str] = &[
    "'",
    "\"",
    "'''",
    "\\",
    "\\\n",
    "\n",
    "\n ",
    "\n    ",
    "#",
    ";",
    ":",
    ",",
    ".",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "=",
    ":=",
    "==",
    "f'",
    "{x}",
    "{x!r:>{y}}",
    "r'",
    "b'",
    " if ",
    " else ",
    " for x in y",
    " in ",
    " not ",
    " is ",
    " and ",
    " or ",
    "lambda: ",
    "lambda x=1, *a: ",
    "*",
    "**",
    "-",
    "~",
    "@",
    "<",
    ">",
    "!=",
    "->",
    "0x1",
    "1e5",
    "1_0",
    ".5",
    "yield ",
    "await ",
    "async ",
    "import a",
    "from a import b",
    "return ",
    "pass",
    "x",
    " ",
];

fn cases() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// What Python's own parser makes of texts.
fn theirs(texts: &[String]) -> Vec<Option<Vec<String>>> {
    let script = cases().join("python_tree.py");
    let mut python =
        Command::new("python3").arg("-I").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = python.stdin.take().unwrap();
    let lines: String = texts.iter().map(|text| format!("{}\n", Value::from(text.as_str()))).collect();
    let writer = thread::spawn(move || input.write_all(lines.as_bytes()).unwrap());
    let output = python.wait_with_output().unwrap();
    writer.join().unwrap();
    let found: Vec<_> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(found.len(), texts.len(), "python stopped");
    found
}

fn random(state: &mut u64, end: usize) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(end.max(1)).unwrap()).unwrap()
}

fn changed(state: &mut u64, text: &str) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..=random(state, 2) {
        let at = random(state, letters.len() + 1);
        if random(state, 4) == 0 && at < letters.len() {
            letters.remove(at);
        } else {
            letters.splice(at..at, NOISE[random(state, NOISE.len())].chars());
        }
    }
    letters.into_iter().collect()
}

/// Whether two forms are alike; of a text that ours does not know, any fits.
fn alike(ours: &[String], theirs: &[String]) -> bool {
    let fits = |(ours, theirs): (&String, &String)| ours == theirs || (ours == "text ?" && theirs.starts_with("text "));
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(fits)
}

#[test]
fn what_both_can_read_both_read_alike() {
    let text = fs::read_to_string(cases().join("python-texts.jsonl")).unwrap();
    let written: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["text"].as_str().unwrap().to_owned())
        .collect();
    let mut state = SEED;
    let made = (0..MADE).map(|at| changed(&mut state, &written[at % written.len()]));
    let all: Vec<String> = written.iter().cloned().chain(made).collect();
    let (mut both, mut ours_only) = (0, 0);
    for (text, theirs) in all.iter().zip(theirs(&all)) {
        let Ok(block) = parse(text) else { continue };
        let mut ours = Vec::new();
        shown_block(&block, &mut ours);
        match theirs {
            Some(theirs) => assert!(alike(&ours, &theirs), "{text:?}\n ours  {ours:?}\n theirs {theirs:?}"),
            None => ours_only += 1,
        }
        both += 1;
    }
    println!("{both} of {} texts read by ours, {ours_only} of them not by Python", all.len());
    assert!(both > all.len() / 4, "{both}");
}

fn shown_block(block: &Block, out: &mut Vec<String>) {
    out.push("{".to_owned());
    block.iter().for_each(|statement| shown_statement(statement, out));
    out.push("}".to_owned());
}

fn several(what: &str, values: &[&Expr], out: &mut Vec<String>) {
    out.push(format!("{what} {}", values.len()));
    values.iter().for_each(|value| shown(value, out));
}

fn imported(names: &[Imported], out: &mut Vec<String>) {
    let name = |name: &Imported| format!("imported {} {}", name.name, name.alias.as_deref().unwrap_or("-"));
    out.extend(names.iter().map(name));
}

fn shown_statement(statement: &Statement, out: &mut Vec<String>) {
    match statement {
        Statement::Evaluate(values) => several("evaluate", &values.iter().collect::<Vec<_>>(), out),
        Statement::Assign { targets, value } => {
            several("assign", &targets.iter().chain([value]).collect::<Vec<_>>(), out)
        }
        Statement::Annotated { target, annotation, value } => {
            several("annotated", &[target, annotation].into_iter().chain(value).collect::<Vec<_>>(), out);
        }
        Statement::Augmented { target, value } => several("augmented", &[target, value], out),
        Statement::Delete(targets) => several("delete", &targets.iter().collect::<Vec<_>>(), out),
        Statement::Nothing => out.push("nothing".to_owned()),
        Statement::Import(names) => {
            out.push("import".to_owned());
            imported(names, out);
        }
        Statement::From { module, names } => {
            out.push(format!("from {module}"));
            imported(names, out);
        }
        Statement::Branches { branches, otherwise } => {
            for (number, branch) in branches.iter().enumerate() {
                if number > 0 {
                    out.push("{".to_owned());
                }
                out.push("branch".to_owned());
                shown(&branch.test, out);
                shown_block(&branch.body, out);
            }
            shown_block(otherwise, out);
            (1..branches.len()).for_each(|_| out.push("}".to_owned()));
        }
        Statement::For { target, iterated, body, otherwise } => {
            out.push("for".to_owned());
            shown(target, out);
            shown(iterated, out);
            shown_block(body, out);
            shown_block(otherwise, out);
        }
        Statement::Try { body, handlers, after } => {
            out.push("try".to_owned());
            shown_block(body, out);
            handlers.iter().for_each(|handler| shown_handler(handler, out));
            after.iter().for_each(|block| shown_block(block, out));
        }
        Statement::With { items, body } => {
            out.push("with".to_owned());
            for item in items {
                several("item", &[&item.value].into_iter().chain(&item.target).collect::<Vec<_>>(), out);
            }
            shown_block(body, out);
        }
        Statement::Function { name, parameters, body } => {
            out.push(format!("def {name} {}", parameters.names.join(" ")));
            shown_values(parameters, out);
            shown_block(body, out);
        }
    }
}

fn shown_handler(handler: &Handler, out: &mut Vec<String>) {
    let name = handler.name.as_deref().unwrap_or("-");
    several(&format!("handler {name}"), &handler.caught.iter().collect::<Vec<_>>(), out);
    shown_block(&handler.body, out);
}

fn shown_values(parameters: &Parameters, out: &mut Vec<String>) {
    parameters.values.iter().for_each(|value| shown(value, out));
}

fn shown(expr: &Expr, out: &mut Vec<String>) {
    match &expr.kind {
        Kind::Name(name) => out.push(format!("name {name}")),
        Kind::Text(text) => out.push(format!("text {}", text.as_deref().unwrap_or("?"))),
        Kind::Constant => out.push("constant".to_owned()),
        Kind::Formatted(parts) => {
            out.push("formatted".to_owned());
            let values = parts.iter().filter(|part| !matches!(part.kind, Kind::Text(_)));
            values.for_each(|value| shown(value, out));
            out.push("end".to_owned());
        }
        Kind::Attribute(base, name) => several_named(&format!("attribute {name}"), &[base], out),
        Kind::Call(function, arguments) => {
            out.push(format!("call {}", arguments.len()));
            shown(function, out);
            let named = |argument: &&Argument| matches!(argument.role, Role::Keyword(_) | Role::NamedSpread);
            let (last, first): (Vec<_>, Vec<_>) = arguments.iter().partition(named);
            for argument in first.into_iter().chain(last) {
                out.push(match &argument.role {
                    Role::Positional => "argument".to_owned(),
                    Role::Keyword(name) => format!("argument {name}"),
                    Role::Spread => "argument *".to_owned(),
                    Role::NamedSpread => "argument **".to_owned(),
                });
                shown(&argument.value, out);
            }
        }
        Kind::Index(base, index) => several_named("index", &[base, index], out),
        Kind::Operation(operators, operands) => shown_operation(operators, operands, out),
        Kind::Display(what, all) => several(&format!("display {what}"), &all.iter().collect::<Vec<_>>(), out),
        Kind::Lambda(parameters, body) => {
            out.push(format!("lambda {}", parameters.names.join(" ")));
            shown_values(parameters, out);
            shown(body, out);
        }
        Kind::Comprehension(elements, clauses) => {
            out.push(format!("comprehension {} {}", elements.len(), clauses.len()));
            elements.iter().for_each(|element| shown(element, out));
            for clause in clauses {
                shown(&clause.target, out);
                shown(&clause.iterated, out);
                several("tests", &clause.tests.iter().collect::<Vec<_>>(), out);
            }
        }
        Kind::Bind(name, value) => several_named(&format!("bind {name}"), &[value], out),
        Kind::Star(inner) => several_named("star", &[inner], out),
        Kind::Yield(inner) => several("yield", &inner.iter().map(|inner| &**inner).collect::<Vec<_>>(), out),
    }
}

fn several_named(what: &str, values: &[&Expr], out: &mut Vec<String>) {
    out.push(what.to_owned());
    values.iter().for_each(|value| shown(value, out));
}

fn shown_operation(operators: &[&'static str], operands: &[Expr], out: &mut Vec<String>) {
    let compares = |operator: &&str| {
        matches!(*operator, "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in" | "is" | "is not")
    };
    match operators {
        ["if"] => out.push("if".to_owned()),
        [operator] if operands.len() == 1 => out.push(format!("unary {operator}")),
        [word @ ("or" | "and"), ..] => out.push(format!("{word} {}", operands.len())),
        all if all.iter().all(compares) => out.push(format!("compare {}", all.join(" "))),
        all => out.extend(all.iter().rev().map(|operator| format!("binary {operator}"))),
    }
    operands.iter().for_each(|operand| shown(operand, out));
}
