//! The lines in which two texts differ, in hunks as unified diffs have them.

use std::ops::Range;

/// Lines that stay around a change.
const CONTEXT: usize = 3;
/// The largest table for the longest common lines; texts that would need a larger one are shown as replaced.
const MAX_CELLS: usize = 4_000_000;

/// The status of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Both texts have it.
    Stays,
    /// Only the text before has it.
    Removed,
    /// Only the text after has it.
    Added,
}

/// One line of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// Its status.
    pub(crate) fate: Fate,
    /// Its text, with the line break if it has one.
    pub(crate) text: &'a str,
}

/// Changes that lie close to each other, with the lines around them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hunk<'a> {
    /// Where it is: `@@ -1,3 +1,4 @@`.
    pub(crate) header: String,
    /// Its lines.
    pub(crate) lines: Vec<Line<'a>>,
}

/// The hunks that lead from one text to the other.
pub(crate) fn hunks<'a>(before: &'a str, after: &'a str) -> Vec<Hunk<'a>> {
    let all = lines(before, after);
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (at, _) in all.iter().enumerate().filter(|(_, line)| line.fate != Fate::Stays) {
        let (start, end) = (at.saturating_sub(CONTEXT), (at + CONTEXT + 1).min(all.len()));
        match ranges.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            _ => ranges.push(start..end),
        }
    }
    ranges.into_iter().filter_map(|range| hunk(&all, range)).collect()
}

fn hunk<'a>(all: &[Line<'a>], range: Range<usize>) -> Option<Hunk<'a>> {
    let (earlier, lines) = (all.get(..range.start)?, all.get(range)?);
    let count = |lines: &[Line<'_>], other: Fate| lines.iter().filter(|line| line.fate != other).count();
    let side = |other: Fate| {
        let (first, length) = (count(earlier, other), count(lines, other));
        match length {
            0 => format!("{first},0"),
            1 => format!("{}", first + 1),
            _ => format!("{},{length}", first + 1),
        }
    };
    let header = format!("@@ -{} +{} @@", side(Fate::Added), side(Fate::Removed));
    Some(Hunk { header, lines: lines.to_vec() })
}

/// Every line of both texts, in an order that makes each text from the other.
fn lines<'a>(before: &'a str, after: &'a str) -> Vec<Line<'a>> {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let head = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let stays = |text: &&'a str| Line { fate: Fate::Stays, text };
    let mut all: Vec<Line<'a>> = old.iter().take(head).map(stays).collect();
    let (left, right) = (old.get(head..old.len() - tail), new.get(head..new.len() - tail));
    all.extend(middle(left.unwrap_or_default(), right.unwrap_or_default()));
    all.extend(old.iter().skip(old.len() - tail).map(stays));
    all
}

/// The lines of the parts that differ: as many of them stay as can.
fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let removed = |text: &&'a str| Line { fate: Fate::Removed, text };
    let added = |text: &&'a str| Line { fate: Fate::Added, text };
    let width = new.len() + 1;
    if old.is_empty() || new.is_empty() || (old.len() + 1).saturating_mul(width) > MAX_CELLS {
        return old.iter().map(removed).chain(new.iter().map(added)).collect();
    }
    // How many lines the rests of both texts have in common, from each pair of positions on.
    let mut common = vec![0_usize; (old.len() + 1) * width];
    let get =
        |common: &[usize], row: usize, column: usize| common.get(row * width + column).copied().unwrap_or_default();
    for (row, one) in old.iter().enumerate().rev() {
        for (column, other) in new.iter().enumerate().rev() {
            let best = if one == other {
                get(&common, row + 1, column + 1) + 1
            } else {
                get(&common, row + 1, column).max(get(&common, row, column + 1))
            };
            if let Some(cell) = common.get_mut(row * width + column) {
                *cell = best;
            }
        }
    }
    let (mut all, mut row, mut column) = (Vec::new(), 0, 0);
    while let (Some(one), Some(other)) = (old.get(row), new.get(column)) {
        if one == other {
            all.push(Line { fate: Fate::Stays, text: one });
            (row, column) = (row + 1, column + 1);
        } else if get(&common, row + 1, column) >= get(&common, row, column + 1) {
            all.push(removed(one));
            row += 1;
        } else {
            all.push(added(other));
            column += 1;
        }
    }
    all.extend(old.iter().skip(row).map(removed));
    all.extend(new.iter().skip(column).map(added));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(before: &str, after: &str) -> Vec<String> {
        let sign = |fate| match fate {
            Fate::Stays => ' ',
            Fate::Removed => '-',
            Fate::Added => '+',
        };
        let line = |line: &Line<'_>| format!("{}{}", sign(line.fate), line.text.trim_end());
        hunks(before, after)
            .iter()
            .flat_map(|hunk| std::iter::once(hunk.header.clone()).chain(hunk.lines.iter().map(line)))
            .collect()
    }

    #[test]
    fn a_diff_keeps_the_common_lines() {
        assert!(written("a\nb\n", "a\nb\n").is_empty());
        assert_eq!(written("", "a\nb\n"), ["@@ -0,0 +1,2 @@", "+a", "+b"]);
        assert_eq!(written("a\n", ""), ["@@ -1 +0,0 @@", "-a"]);
        assert_eq!(written("a\nb\nc\n", "a\nx\nc\ny\n"), ["@@ -1,3 +1,4 @@", " a", "-b", "+x", " c", "+y"]);
        assert_eq!(written("a", "a\n"), ["@@ -1 +1 @@", "-a", "+a"]);
    }

    #[test]
    fn changes_far_from_each_other_are_hunks_of_their_own() {
        let before: String = (0..20).map(|number| format!("{number}\n")).collect();
        let after = before.replace("2\n3\n", "2\n").replace("16\n", "sixteen\n");
        let expected = [
            "@@ -1,7 +1,6 @@",
            " 0",
            " 1",
            " 2",
            "-3",
            " 4",
            " 5",
            " 6",
            "@@ -14,7 +13,7 @@",
            " 13",
            " 14",
            " 15",
            "-16",
            "+sixteen",
            " 17",
            " 18",
            " 19",
        ];
        assert_eq!(written(&before, &after), expected);
    }
}
