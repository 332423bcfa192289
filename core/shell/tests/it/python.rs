//! Python texts: what they read, and where modules of the working folder could stand in for Python's own.

use phasegate_core::analysis::{Access, Verdict};
use phasegate_shell::{Judgement, MAX_LINE_BYTES, Piece, Readers, Table, Trust, judge};

fn judged(line: &str) -> Judgement {
    judge(line, &Table::shipped(), Trust::default())
}

/// The paths that a line reads; `*` for any.
fn reads(line: &str) -> Vec<String> {
    let judgement = judged(line);
    assert_eq!(judgement.verdict, Verdict::Read, "{line}: {}", judgement.because);
    let path = |pieces: &[Piece]| match pieces {
        [Piece::Text(text)] => text.clone(),
        _ => "*".to_owned(),
    };
    let read = judgement.touches.iter().filter(|touch| touch.access == Access::Read);
    read.map(|touch| path(&touch.path.0)).collect()
}

#[test]
fn the_paths_that_a_text_reads_are_known_or_any() {
    for (text, paths) in [
        ("print(open(\"a.txt\").read())", &["a.txt"][..]),
        ("open(\"a\" \"b\"); open(\"c\", \"rb\")", &["ab", "c"]),
        ("open(file=\"a\")", &["a"]),
        ("open(0)", &[]),
        ("p = \"a\"; open(p)", &["a"]),
        ("p = \"a\"; p = \"b\"; open(p)", &["*"]),
        ("p = \"a\"\nif 1: p += \"b\"\nopen(p)", &["*"]),
        ("for p in [\"a\", \"b\"]: open(p)", &["a", "b"]),
        ("l = [\"a\"]; l.append(\"b\")\nfor p in l: open(p)", &["*"]),
        ("import sys; open(sys.argv[1])", &["*"]),
        ("open(\"a\" + \"b\")", &["*"]),
        ("open(f\"a{1}\")", &["*"]),
        ("open(\"\\x61\")", &["*"]),
        ("import os; os.listdir()", &["."]),
        ("import os; os.walk(\"src\")", &["src"]),
        ("import os; list(map(os.listdir, [\"a\"]))", &["*"]),
        ("import os.path as p; open(p.join(\"a\", \"b\"))", &["a/b"]),
        ("import os; open(os.path.join(\"a\", \"/b\"))", &["/b"]),
        ("import os; open(os.path.join(\"a\", x)) if (x := \"b\") else 0", &["a/b"]),
        ("import glob; glob.glob(\"src/**/*.py\")", &["src"]),
        ("import glob; glob.glob(\"*.py\")", &["."]),
        ("from pathlib import Path; Path(\"a\").read_text()", &["a"]),
        ("from pathlib import Path; (Path(\"a\") / \"b\").read_text()", &["a/b"]),
        ("from pathlib import Path; p = Path(\"a\"); p.exists(); (p / \"b\").read_bytes()", &["a", "a/b"]),
        ("from pathlib import Path; Path(\"a\").parent.joinpath(\"b\").read_text()", &["*"]),
        ("from pathlib import Path; list(map(Path.read_text, []))", &["*"]),
        ("from pathlib import Path\nfor p in Path(\"a\").rglob(\"*\"): p.read_text()", &["a", "*"]),
        ("import zipfile; zipfile.ZipFile(\"a.zip\").namelist()", &["a.zip"]),
        ("import configparser; configparser.ConfigParser().read(\"a.ini\")", &["a.ini"]),
        ("import json; print(json.loads(\"1\"))", &[]),
    ] {
        let line = format!("python3 - <<'EOF'\n{text}\nEOF");
        assert_eq!(reads(&line), paths, "{text}");
    }
    assert_eq!(reads("cd src && python3 -c 'open(\"a\")'"), ["src/a"]);
}

#[test]
fn modules_of_the_working_folder_count_where_they_may_have_changed() {
    let distrusts = Trust { repository: false, ..Trust::default() };
    let lost = |readers| Trust { lost: [readers].into(), ..Trust::default() };
    for trust in [distrusts, lost(Readers::Modules), lost(Readers::Repository)] {
        let verdict = |line: &str| judge(line, &Table::shipped(), trust.clone()).verdict;
        for line in ["python3 -c 'import json'", "python3 -c 'print(1)'", "python3 <<'EOF'\nprint(1)\nEOF"] {
            assert_eq!(verdict(line), Verdict::Execute, "{line}");
        }
        for line in ["python3 -I -c 'import json'", "python3 -Ic 'print(1)'", "python3 -P - <<'EOF'\nprint(1)\nEOF"] {
            assert_eq!(verdict(line), Verdict::Read, "{line}");
        }
    }
}

#[test]
fn options_and_other_programs_are_as_before() {
    for line in [
        "python3 -i -c 'print(1)'",
        "python3 -m json.tool -c 'print(1)' pwned",
        "python3 -W error::a.B -c 'print(1)'",
        "python3 -X presite=a -c 'print(1)'",
        "python3 -X pycache_prefix=a -c 'print(1)'",
        "python3 -c \"print($X)\"",
        "python3 -c \"$(cat a)\"",
        "python3 $X -c 'print(1)'",
        "python3 -c",
        "python3 a.py <<'EOF'\nprint(1)\nEOF",
        "python3 <<EOF\nprint($X)\nEOF",
        "python3 <<'EOF' < a.py\nprint(1)\nEOF",
        "cat a.py | python3",
        "echo 'print(1)' | python3 -",
        "./python3 -c 'print(1)'",
        "PYTHONPATH=. python3 -c 'print(1)'",
        "pypy3 -c 'print(1)'",
        "python2 -c 'print(1)'",
        "python -c 'file = 1; print(file)'",
        "find . -exec python3 -c 'd = {}; print(d)' {} \\;",
        "xargs -I1 python3 -c 'print(1)'",
        "python3 - <<'EOF'\n# coding: utf-7\nprint(1)\nEOF",
        "python3() { sh; }; python3 -c 'print(1)'",
    ] {
        assert_ne!(judged(line).verdict, Verdict::Read, "{line}");
    }
}

#[test]
fn a_doubt_is_named() {
    for (line, because) in [
        ("python3 -c 'import os; os.remove(\"a\")'", "`os.remove` is not known to only read"),
        ("python3 -c 'open(\"a\", \"w\")'", "`open` may open a file to write"),
        ("python3 -c 'x.y = 1'", "the Python text sets the attribute `y`"),
    ] {
        assert_eq!(judged(line).because, because, "{line}");
    }
}

#[test]
fn nothing_makes_the_parser_of_python_fail() {
    for piece in ["(", "[", "{", "-", "not ", "x.", "x(", "x[", "lambda: ", "1 if 1 else ", "f\"{", "**", "x=", "a**"] {
        for count in [1, 39, 40, 41, 400, 5000] {
            let text = piece.repeat(count);
            let line = format!("python3 - <<'EOF'\n{text}\nEOF");
            assert_ne!(judged(&line).verdict, Verdict::Read, "{piece} {count} times");
        }
    }
    for piece in ["a+", "a.b", "a()", "[a]", "(a)", "a or ", "a<", "'a' ", "a,", "if a: b\n", "a=", "f'{a}'"] {
        let text = piece.repeat((MAX_LINE_BYTES - 40) / piece.len());
        judged(&format!("python3 - <<'EOF'\n{text}a\nEOF"));
    }
    let deep = (0..100).map(|depth| format!("{}if a:\n", " ".repeat(depth))).collect::<String>();
    assert_ne!(judged(&format!("python3 - <<'EOF'\n{deep}{}b\nEOF", " ".repeat(100))).verdict, Verdict::Read);
}
