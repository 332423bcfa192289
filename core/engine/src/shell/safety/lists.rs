//! Lists of words, as data: one file each, words separated by blanks, `#` to the end of a line.

/// Programs of which no agent registers a command as READ.
const NEVER_READ: &str = include_str!("never_read.txt");
/// Words that change things.
const CHANGES: &str = include_str!("changes.txt");
/// Programs that run the program that their next word names.
const RUNNERS: &str = include_str!("runners.txt");

fn words(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines().flat_map(|line| line.split('#').next().unwrap_or_default().split_whitespace())
}

/// Whether no agent may register a command of this program as READ. A version at the end of the name (`python3.12`) is
/// passed over.
pub fn is_never_read(program: &str) -> bool {
    let plain = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || ".-".contains(letter));
    words(NEVER_READ).any(|one| one == program || one == plain)
}

/// Whether a program runs the one that its next word names.
pub fn is_runner(program: &str) -> bool {
    words(RUNNERS).any(|one| one == program)
}

/// The programs that run the one that their next word names.
pub fn runners() -> impl Iterator<Item = &'static str> {
    words(RUNNERS)
}

/// Whether a word, in small letters, is one that changes things.
pub(super) fn is_changing(word: &str) -> bool {
    words(CHANGES).any(|one| one == word)
}
