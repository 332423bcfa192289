//! Prose: words that say something, in a text or below one of its headings.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display};

use serde::{Deserialize, Serialize};

/// Words that stand for a text that is yet to come.
const EMPTY: [&str; 7] = ["todo", "tbd", "tba", "fixme", "xxx", "lorem", "ipsum"];
/// So few different words make no text: repeated, they count once.
const FEW: usize = 8;
/// A heading has at most so many marks, and as many blanks before it as half of this.
const MARKS: usize = 6;

/// The words of some texts. A word has a letter or a digit. Where only a few differ, each counts once, and single letters
/// as one.
pub fn words<'t>(texts: impl IntoIterator<Item = &'t str>) -> u64 {
    let plain = |word: &str| word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    let words = texts.into_iter().flat_map(str::split_whitespace).map(plain);
    let words: Vec<String> = words.filter(|word| !(word.is_empty() || EMPTY.contains(&word.as_str()))).collect();
    let different: BTreeSet<&str> = words.iter().map(|word| if word.len() > 1 { word } else { "" }).collect();
    (if different.len() < FEW { different.len() } else { words.len() }) as u64
}

/// The words below a heading of a text, up to the next one that is not below it. Of several such headings, the one with
/// the most counts. Only lines with `#` are headings, and none in a block of code.
#[must_use]
pub fn words_below(text: &str, heading: &str) -> u64 {
    let lines = lines(text);
    let below = |(at, line): (usize, &Line<'_>)| {
        let level = line.heading.as_ref().filter(|found| found.text == heading)?.level;
        let rest = lines.get(at.saturating_add(1)..).unwrap_or_default();
        let ends = |line: &&Line<'_>| line.heading.as_ref().is_some_and(|next| next.level <= level);
        let texts = rest.iter().take_while(|line| !ends(line)).filter(|line| line.heading.is_none());
        Some(words(texts.map(|line| line.text)))
    };
    lines.iter().enumerate().filter_map(below).max().unwrap_or(0)
}

/// What has to stand below a heading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SectionTest {
    /// The heading, without its marks.
    pub heading: String,
    /// The least number of words.
    pub min_words: u64,
}

impl SectionTest {
    /// Whether a text has the heading, with the words below it.
    #[must_use]
    pub fn holds(&self, text: &str) -> bool {
        words_below(text, &self.heading) >= self.min_words
    }
}

impl Display for SectionTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { heading, min_words } = self;
        let words = if *min_words == 1 { "word" } else { "words" };
        write!(f, "\"## {heading}\" above {min_words} {words}")
    }
}

struct Line<'t> {
    text: &'t str,
    heading: Option<Heading<'t>>,
}

struct Heading<'t> {
    level: usize,
    text: &'t str,
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut fence = None;
    let lines = text.lines().map(|text| {
        let marks = ["```", "~~~"].into_iter().find(|marks| text.trim_start().starts_with(marks));
        let code = fence.is_some() || marks.is_some();
        fence = if fence.is_none() { marks } else { fence.filter(|open| marks != Some(*open)) };
        Line { text, heading: if code { None } else { heading(text) } }
    });
    lines.collect()
}

fn heading(line: &str) -> Option<Heading<'_>> {
    let marked = line.trim_start_matches(' ');
    let blanks = line.len().saturating_sub(marked.len());
    let level = marked.bytes().take_while(|byte| *byte == b'#').count();
    let rest = marked.get(level..)?;
    let is_one =
        (1..=MARKS).contains(&level) && blanks <= MARKS / 2 && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is_one.then(|| Heading { level, text: rest.trim().trim_end_matches('#').trim_end() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_below_a_heading_is_counted() {
        let text = "# A\none two\n## B ##\nthree - 4\n\n```\n# A\nfive\n```\n# C\n\n## D\n    # A\nTODO: x\n# D\n";
        for (heading, words) in [("A", 5), ("B", 3), ("C", 1), ("D", 1), ("E", 0), ("a", 0)] {
            assert_eq!(words_below(text, heading), words, "{heading}");
        }
        assert_eq!(words_below("## A\n## B\n## A\nthe words\n", "A"), 2);
        assert_eq!(words_below("see ## A\nthe words\n#A\nmore of them\n", "A"), 0);
    }
}
