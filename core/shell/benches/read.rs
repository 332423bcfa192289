//! A line read and judged: real commands of people and agents, one typical line, and the longest that is read.

use std::fs;
use std::path::Path;

use divan::counter::ItemsCount;
use phasegate_shell::{MAX_LINE_BYTES, Table, Trust, judge};
use serde_json::Value;

fn main() {
    divan::main();
}

/// The lines of people and agents that a useful reader allows.
fn corpus() -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/shell/should-allow.jsonl");
    let text = fs::read_to_string(path).unwrap_or_default();
    let rows = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    rows.filter_map(|row| row.get("cmd").and_then(Value::as_str).map(str::to_owned)).collect()
}

/// A whole corpus; the figure that counts is the time of one item.
#[divan::bench]
fn corpus_line(bencher: divan::Bencher<'_, '_>) {
    let lines = corpus();
    let table = Table::shipped();
    bencher.counter(ItemsCount::new(lines.len())).bench(|| {
        for line in &lines {
            divan::black_box(judge(line, &table, Trust::default()));
        }
    });
}

/// Lines as agents write them.
#[divan::bench(args = [
    "ls",
    "git status",
    "cargo test",
    "grep -rn 'fn main' src | head -20",
    "cd /app && ls -la && echo '---' && cat prediction.txt",
    "find . -name '*.rs' -not -path './target/*' | xargs wc -l | sort -n | tail -5",
])]
fn typical(bencher: divan::Bencher<'_, '_>, line: &str) {
    let table = Table::shipped();
    bencher.bench(|| judge(divan::black_box(line), &table, Trust::default()));
}

/// Longest lines of which a reader could make more than they are.
#[divan::bench(args = [
    "{", "{a,", "{a,b}", "{1..256} ", "a=$a$a;", "v$((i++))=a;", "(ls);", "$(ls) ", "`ls` ", "$x", "\"$x\" ", "[", "* ", ">{", "<[", "2>&1 ",
    "a;", "a\n", "git log;", "cd a;", "env ", "-c a=b ", "chroot a ", "x=(a b);", "f(){ :; };", "{1..256} 2>&1 ", "bash -c 'ls';",
    "sed -n p a;", "<<<a ", "if a;then b;fi;", "'git push' ",
])]
fn worst(bencher: divan::Bencher<'_, '_>, piece: &str) {
    let line = format!("echo {}", piece.repeat((MAX_LINE_BYTES - 5) / piece.len()));
    let table = Table::shipped();
    bencher.bench(|| judge(divan::black_box(&line), &table, Trust::default()));
}

/// Longest lines that are one thing each: nested, quoted, a script, a here-document, many functions or names.
#[divan::bench(args = ["nested", "quoted", "sed", "awk", "here", "functions", "names", "chroot", "env", "array"])]
fn whole(bencher: divan::Bencher<'_, '_>, kind: &str) {
    let many = |piece: &str| piece.repeat(MAX_LINE_BYTES / piece.len() - 8);
    let numbered = |make: fn(usize) -> String| (0..900).map(make).collect::<String>();
    let line = match kind {
        "nested" => format!("echo {}{}", "$(echo ".repeat(60), ")".repeat(60)),
        "quoted" => format!("echo {}", many("\"a'b\"'c\"d'")),
        "sed" => format!("sed -n 's/{}/'", many("[[:a")),
        "awk" => format!("awk '{{{}}}'", many("print (1)/2;")),
        "here" => format!("cat <<E\n{}\nE", many("$(ls) x\n")),
        "functions" => numbered(|number| format!("f{number}() {{ f{number}; }};")),
        "names" => numbered(|number| format!("v{number}=a;(ls);")),
        "chroot" => format!("chroot a {}", many("git push ")),
        "env" => format!("env {}ls", many("a=b ")),
        _ => format!("a=({})", many("b ")),
    };
    let table = Table::shipped();
    bencher.bench(|| judge(divan::black_box(&line), &table, Trust::default()));
}

/// The same command again and again, up to the longest line.
#[divan::bench(args = [MAX_LINE_BYTES / 16, MAX_LINE_BYTES / 4, MAX_LINE_BYTES])]
fn long(bencher: divan::Bencher<'_, '_>, bytes: usize) {
    let line = "echo $(cat a.txt); ".repeat(bytes / 19);
    let table = Table::shipped();
    bencher.bench(|| judge(divan::black_box(&line), &table, Trust::default()));
}
