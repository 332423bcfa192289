//! Whether a new text of a file has a line of code that the old one had not (rules 3.3, `adds: code`).

/// What begins or ends a text or a comment over several lines: a line with one of these says what the others are.
const DELIMITERS: [&str; 10] = ["/*", "*/", "\"\"\"", "'''", "`", "<!--", "-->", "=begin", "=end", "#if"];
/// How the files end of languages in which a line that begins with `#` is a comment; in others it may be code, and in these
/// one that begins with `//` is.
const HASH: [&str; 22] = [
    "bash", "bzl", "coffee", "cr", "ex", "exs", "gemspec", "jl", "nim", "pl", "pm", "ps1", "py", "pyi", "r", "rake",
    "rb", "ru", "sh", "star", "tcl", "zsh",
];

/// Whether every line of code of the new text stood in the old one, in the same order. What cannot be told from code counts as
/// code, and each line that begins or ends a comment or a text has to stay: without it, others mean something else.
pub(super) fn none(path: &str, before: &str, after: &str) -> bool {
    let end = path.rsplit_once('.').map_or("", |(_, end)| end).to_ascii_lowercase();
    let comment = if HASH.contains(&end.as_str()) { "#" } else { "//" };

    let delimits = |line: &&str| DELIMITERS.iter().any(|mark| line.contains(mark));
    let several = before.lines().any(|line| delimits(&line));
    let code = |text: &str| text.lines().map(str::trim_end).filter(|line| is_code(line, comment, several)).count();
    if code(after) > code(before) || !before.lines().filter(delimits).eq(after.lines().filter(delimits)) {
        return false;
    }
    let mut old = before.lines().map(str::trim_end);
    let mut new = after.lines().map(str::trim_end).filter(|line| is_code(line, comment, several));
    new.all(|line| old.any(|other| other == line))
}

/// Whether a line may be code. Where a text may go over `several` lines, a comment may be a part of it.
fn is_code(line: &str, comment: &str, several: bool) -> bool {
    let text = line.trim_start();
    !text.is_empty() && (several || !text.starts_with(comment))
}

#[cfg(test)]
mod tests {
    use super::none;

    #[test]
    fn what_is_removed_or_commented_out_adds_no_code() {
        for (path, before, after) in [
            ("a.py", "a()\nb()\n", "a()\n"),
            ("a.ts", "a()\nb()\n", "a()\n\n// b()\n"),
            ("a.rb", "a()\nb()\n", "# why\na()\n# b()\n"),
            ("a.c", "a()  \nb()\n", "a()\nb()"),
            ("a.c", "/* a */\nb()\nc()\n", "/* a */\nc()\n"),
            ("a", "a()", ""),
        ] {
            assert!(none(path, before, after), "{before:?} {after:?}");
        }
    }

    #[test]
    fn what_may_be_new_code_adds_some() {
        assert!(!none("a.py", "x = (1\n)\n", "x = (1\n// 2\n)\n"));
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
