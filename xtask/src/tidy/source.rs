//! Lines of a Rust file as the checks count them: code, without comments and without the inline tests.

/// The lines of code with their numbers, from 1, up to the inline test module.
pub(super) fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    before_tests(text).filter(|(_, line)| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with("//")
    })
}

/// All lines with their numbers, from 1, up to the inline test module.
fn before_tests(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let end = (0..lines.len()).find(|&at| {
        let attribute = lines.get(at).is_some_and(|line| line.trim() == "#[cfg(test)]");
        attribute && lines.iter().skip(at + 1).find(|line| !line.trim_start().starts_with("#[")).is_some_and(is_module)
    });
    lines.into_iter().take(end.unwrap_or(usize::MAX)).enumerate().map(|(at, line)| (at + 1, line))
}

fn is_module(line: &&str) -> bool {
    line.trim_start().starts_with("mod ") && line.trim_end().ends_with('{')
}

/// A line without its trailing comment. A `//` within a text is taken for one too; the checks can live with that.
pub(super) fn without_comment(line: &str) -> &str {
    line.split(" //").next().unwrap_or(line)
}

/// The words of a line: runs of letters and digits.
pub(super) fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blanks_and_inline_tests_do_not_count() {
        let text = "//! page\n\nfn a() {}\n    // note\nfn b() {}\n#[cfg(test)]\nmod tests {\n    fn c() {}\n}\n";
        assert_eq!(code(text).map(|(line, _)| line).collect::<Vec<_>>(), [3, 5]);
    }

    #[test]
    fn a_function_for_tests_does_not_end_the_code() {
        assert_eq!(code("#[cfg(test)]\nfn a() {}\nfn b() {}\n").count(), 3);
    }
}
