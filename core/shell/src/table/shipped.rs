//! The shipped table: a text that `cargo xtask gen` makes from `core/shell/programs`, searched where it lies.

/// A line for every entry, in the order of names: the name, a tab, and the rule as JSON.
const TEXT: &str = include_str!("shipped.txt");

/// The rule of an entry, as JSON.
pub(super) fn find(name: &str) -> Option<&'static str> {
    let (mut low, mut high) = (0, TEXT.len());
    while low < high {
        let middle = low.midpoint(high);
        // The line that the middle is in.
        let start =
            TEXT.as_bytes().get(..middle)?.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at.saturating_add(1));
        let line = TEXT.get(start..)?.split('\n').next()?;
        let (known, text) = line.split_once('\t')?;
        match known.cmp(name) {
            std::cmp::Ordering::Equal => return Some(text),
            std::cmp::Ordering::Less => low = start.saturating_add(line.len()).saturating_add(1),
            std::cmp::Ordering::Greater => high = start,
        }
    }
    None
}

/// The name of every entry.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TEXT.lines().map(|line| line.split('\t').next().unwrap_or(line))
}
