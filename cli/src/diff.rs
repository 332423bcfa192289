//! The lines in which two texts differ, in hunks as unified diffs have them.

use similar::udiff::UnifiedHunkHeader;
use similar::{Algorithm, Change, ChangeTag, DiffOp, capture_diff_slices, group_diff_ops};

/// Lines that stay around a change.
const CONTEXT: usize = 3;

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
    let old: Vec<&'a str> = before.split_inclusive('\n').collect();
    let new: Vec<&'a str> = after.split_inclusive('\n').collect();
    let line = |change: Change<&'a str>| {
        let fate = match change.tag() {
            ChangeTag::Equal => Fate::Stays,
            ChangeTag::Delete => Fate::Removed,
            ChangeTag::Insert => Fate::Added,
        };
        Line { fate, text: change.value() }
    };
    let hunk = |ops: &Vec<DiffOp>| Hunk {
        header: UnifiedHunkHeader::new(ops).to_string(),
        lines: ops.iter().flat_map(|op| op.iter_changes(&old, &new)).map(line).collect(),
    };
    group_diff_ops(capture_diff_slices(Algorithm::Myers, &old, &new), CONTEXT).iter().map(hunk).collect()
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
