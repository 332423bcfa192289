//! Whether a new text of a file has a line of code that the old one had not (rules 3.3, `adds: code`).

/// What begins or ends a text or a comment over several lines: a line with one of these says what the others are.
const DELIMITERS: [&str; 10] = ["/*", "*/", "\"\"\"", "'''", "`", "<!--", "-->", "=begin", "=end", "#if"];
/// How lines begin that are comments in one language or another. `#` is not one of these: `#include` is code.
const COMMENTS: [&str; 2] = ["//", "# "];

/// Whether every line of code of the new text stood in the old one, in the same order. What cannot be told from code counts as
/// code, and each line that begins or ends a comment or a text has to stay: without it, others mean something else.
pub(super) fn none(before: &str, after: &str) -> bool {
    let delimits = |line: &&str| DELIMITERS.iter().any(|mark| line.contains(mark));
    let several = before.lines().any(|line| delimits(&line));
    let code = |text: &str| text.lines().map(str::trim_end).filter(|line| is_code(line, several)).count();
    if code(after) > code(before) || !before.lines().filter(delimits).eq(after.lines().filter(delimits)) {
        return false;
    }
    let mut old = before.lines().map(str::trim_end);
    let mut new = after.lines().map(str::trim_end).filter(|line| is_code(line, several));
    new.all(|line| old.any(|other| other == line))
}

/// Whether a line may be code. Where a text may go over `several` lines, a comment may be a part of it.
fn is_code(line: &str, several: bool) -> bool {
    let text = line.trim_start();
    let comment = COMMENTS.iter().any(|mark| text.starts_with(mark));
    !text.is_empty() && (several || !comment)
}

#[cfg(test)]
mod tests {
    use super::none;

    #[test]
    fn what_is_removed_or_commented_out_adds_no_code() {
        for (before, after) in [
            ("a()\nb()\n", "a()\n"),
            ("a()\nb()\n", "a()\n\n// b()\n"),
            ("a()\nb()\n", "# why\na()\n# b()\n"),
            ("a()  \nb()\n", "a()\nb()"),
            ("/* a */\nb()\nc()\n", "/* a */\nc()\n"),
            ("a()", ""),
        ] {
            assert!(none(before, after), "{before:?} {after:?}");
        }
    }

    #[test]
    fn what_may_be_new_code_adds_some() {
        for (before, after) in [
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
            assert!(!none(before, after), "{before:?} {after:?}");
        }
    }
}
