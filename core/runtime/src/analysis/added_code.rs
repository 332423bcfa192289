//! Whether a new text of a file has a line of code that the old one had not (rules 3.3, `adds: code`).

/// What begins or ends a text or a comment over several lines: a line with one of these says what the others are.
const DELIMITERS: [&str; 10] = ["/*", "*/", "\"\"\"", "'''", "`", "<!--", "-->", "=begin", "=end", "#if"];
/// How the files end of languages in which a line that begins with `#` is a comment and nothing else, wherever it stands.
const HASH: [&str; 5] = ["bzl", "py", "pyi", "r", "star"];
/// The same of `//`. In others it may be text that is shown, an operator, or what a compiler obeys.
const SLASHES: [&str; 16] =
    ["c", "cc", "cjs", "cpp", "cs", "h", "hpp", "java", "js", "kt", "mjs", "rs", "scala", "swift", "ts", "zig"];
/// What a comment up to the end of its line begins with in some language, and what ends a line that goes on.
const LINE_MARKS: [&str; 6] = ["//", "#", "--", "%", ";;", "\\"];
/// How the files end of languages in which blanks mean something.
const BY_INDENT: [&str; 15] =
    ["bzl", "coffee", "elm", "fs", "haml", "hs", "mk", "nim", "pug", "py", "pyi", "sass", "star", "yaml", "yml"];

/// Whether every line of code of the new text stood in the old one, in the same order. What cannot be told from code counts as
/// code, and each line that begins or ends a comment or a text has to stay: without it, others mean something else.
pub(crate) fn none(path: &str, before: &str, after: &str) -> bool {
    let end = path.rsplit_once('.').map_or("", |(_, end)| end).to_ascii_lowercase();
    let comment = match end.as_str() {
        end if HASH.contains(&end) => Some("#"),
        end if SLASHES.contains(&end) => Some("//"),
        _ => None,
    };

    // Other languages end lines at more signs, and decode a file as it says of itself.
    let ends = |sign| matches!(sign, '\0' | '\r' | '\u{b}'..='\u{1f}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let says = |text: &str| text.lines().take(2).filter(|line| line.contains("coding")).count();
    if after.replace("\r\n", "\n").contains(ends) || says(after) > 0 && says(before) != says(after) {
        return false;
    }
    if says(after) > 0 && !before.lines().take(2).eq(after.lines().take(2)) {
        return false;
    }
    if !BY_INDENT.contains(&end.as_str()) && is_laid_out(before, after) {
        return true;
    }
    // A backslash at its end makes the next line a part of a comment, or takes it out of one.
    let delimits = |line: &&str| line.trim_end().ends_with('\\') || DELIMITERS.iter().any(|mark| line.contains(mark));
    let several = before.lines().any(|line| delimits(&line));
    let code = |text: &str| text.lines().map(str::trim_end).filter(|line| is_code(line, comment, several)).count();
    if code(after) > code(before) || !before.lines().filter(delimits).eq(after.lines().filter(delimits)) {
        return false;
    }
    let mut old = before.lines().map(str::trim_end);
    let mut new = after.lines().map(str::trim_end).filter(|line| is_code(line, comment, several));
    new.all(|line| old.any(|other| other == line))
}

/// Whether only blanks and line ends differ, in lines without anything that could be a comment: what stands behind such a mark
/// must not move to another line.
fn is_laid_out(before: &str, after: &str) -> bool {
    let dense = |text: &str| text.chars().filter(|sign| !sign.is_whitespace()).collect::<String>();
    let is_marked = |line: &&str| LINE_MARKS.iter().chain(&DELIMITERS).any(|mark| line.contains(mark));
    let marked = |text: &'_ str| text.lines().map(str::trim).filter(is_marked).map(str::to_owned).collect::<Vec<_>>();
    dense(before) == dense(after) && marked(before) == marked(after)
}

/// Whether a line may be code. Where a text may go over `several` lines, a comment may be a part of it.
fn is_code(line: &str, comment: Option<&str>, several: bool) -> bool {
    let text = line.trim_start();
    // Java reads `\u000a` in a comment as the end of its line.
    let is_comment = |mark: &str| text.starts_with(mark) && !text.contains("\\u");
    !text.is_empty() && (several || !comment.is_some_and(is_comment))
}

#[cfg(test)]
mod tests {
    use super::none;

    #[test]
    fn what_is_removed_or_commented_out_adds_no_code() {
        for (path, before, after) in [
            ("a.py", "a()\nb()\n", "a()\n"),
            ("a.ts", "a()\nb()\n", "a()\n\n// b()\n"),
            ("a.py", "a()\nb()\n", "# why\na()\n# b()\n"),
            ("a.c", "a()  \nb()\n", "a()\nb()"),
            ("a.c", "/* a */\nb()\nc()\n", "/* a */\nc()\n"),
            ("a", "a()", ""),
            ("a.ts", "f(a,b)\n// c\n", "f(\n  a,\n  b\n)\n// c\n"),
        ] {
            assert!(none(path, before, after), "{before:?} {after:?}");
        }
    }

    #[test]
    fn what_may_be_new_code_adds_some() {
        assert!(!none("a.py", "x = (1\n)\n", "x = (1\n// 2\n)\n"));
        for path in ["a.go", "a.tsx", "a.lua", "a.php", "a.rb"] {
            assert!(!none(path, "x\n", "x\n// a\n") && !none(path, "x\n", "x\n# a\n"), "{path}");
        }
        for after in ["x\n# a\rb()\n", "x\n# a\u{2028}b()\n", "# coding: utf-7\n# +AAo-b()\nx\n"] {
            assert!(!none("a.py", "x\n", after), "{after:?}");
        }
        for (path, before, after) in [
            ("a.js", "// a b()\n", "// a\nb()\n"),
            ("a.c", "// a \\\nb();\nc();\n", "// a\nb();\nc();\n"),
            ("a.java", "a();\n", "// \\u000a b();\na();\n"),
            ("a.py", "if a:\n  b()\nc()\n", "if a:\n  b()\n  c()\n"),
        ] {
            assert!(!none(path, before, after), "{before:?} {after:?}");
        }
        for (before, after) in [
            ("a()\n", "# define a b\na()\n"),
            ("", "a()\n"),
            ("a()\n", "a()\na()\n"),
            ("a(1)\n", "a(2)\n"),
            ("// a()\n", "a()\n"),
            ("/*\na()\n*/\n", "a()\n"),
            ("/*\n*/\na()\n", "/*\n//x */\na()\n*/\n"),
            ("x = `\n`\n", "x = `\n// text\n`\n"),
            ("a()\nb()\n", "b()\na()\n"),
            ("if x:\n    a()\n", "a()\n"),
            ("#if 0\na();\n#endif\n", "a();\n"),
        ] {
            assert!(!none("a.c", before, after), "{before:?} {after:?}");
        }
    }
}
