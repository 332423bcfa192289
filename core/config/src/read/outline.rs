//! The outline of a Markdown text, and the words in it that say something. Headings are those that CommonMark sees at the top
//! of the document; comments, HTML and what no reader is shown are no words.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// Words that stand for a text that is yet to come.
const EMPTY: [&str; 7] = ["todo", "tbd", "tba", "fixme", "xxx", "lorem", "ipsum"];
/// So few different words make no text: repeated, they count once.
const FEW: usize = 8;

/// A part of a document: what stands below a heading, up to the next one. The first may have no heading.
#[derive(Debug, Default)]
struct Part {
    heading: Option<Heading>,
    text: String,
}

/// A heading at the top of a document.
#[derive(Debug)]
pub struct Heading {
    /// Its level.
    pub level: HeadingLevel,
    /// Its text, with single spaces.
    pub text: String,
    /// The byte that it begins at.
    pub start: usize,
    /// Whether a line of `-` or `=` below the text makes it a heading.
    pub underlined: bool,
}

/// The parts of a document: its headings, and the text below each.
#[derive(Debug)]
pub struct Outline {
    parts: Vec<Part>,
    /// Where code and HTML stand, as bytes.
    pub raw: Vec<Range<usize>>,
}

impl Outline {
    /// Reads a document. What stands from `end` on is text of no part.
    pub fn of(body: &str, end: usize) -> Self {
        let mut found = Self { parts: vec![Part::default()], raw: Vec::new() };
        let (mut depth, mut heading) = (0_usize, None::<Heading>);
        for (event, range) in Parser::new_ext(body, Options::empty()).into_offset_iter() {
            match event {
                Event::Start(tag) => {
                    match tag {
                        Tag::Heading { level, .. } if depth == 0 => {
                            let marked = body.get(range.start..).is_some_and(|text| text.trim_start().starts_with('#'));
                            let (text, start) = (String::new(), range.start);
                            heading = Some(Heading { level, text, start, underlined: !marked });
                        }
                        Tag::CodeBlock(_) | Tag::HtmlBlock => found.raw.push(range),
                        _ => {}
                    }
                    depth += 1;
                }
                Event::End(tag) => {
                    depth = depth.saturating_sub(1);
                    match heading.take() {
                        Some(whole) if matches!(tag, TagEnd::Heading(_)) => {
                            let text = spaced(&whole.text);
                            found.parts.push(Part { heading: Some(Heading { text, ..whole }), text: String::new() });
                        }
                        Some(open) => heading = Some(open),
                        None if !is_inline(tag) => found.write("\n"),
                        None => {}
                    }
                }
                Event::Text(text) | Event::Code(text) => match &mut heading {
                    Some(heading) => heading.text.push_str(&text),
                    None if range.start < end => found.write(&text),
                    None => {}
                },
                Event::SoftBreak | Event::HardBreak => match &mut heading {
                    Some(heading) => heading.text.push(' '),
                    None => found.write(" "),
                },
                _ => {}
            }
        }
        found
    }

    fn write(&mut self, text: &str) {
        if let Some(part) = self.parts.last_mut() {
            part.text.push_str(text);
        }
    }

    /// The headings, in their order.
    pub fn headings(&self) -> impl Iterator<Item = &Heading> {
        self.parts.iter().filter_map(|part| part.heading.as_ref())
    }

    /// The headings, each with the number of words up to the next heading that is not below it, or that is asked for itself:
    /// one text says something once.
    pub fn sections(&self, is_asked: impl Fn(&str) -> bool) -> Vec<(&Heading, u64)> {
        let found = self.parts.iter().enumerate().filter_map(|(at, part)| {
            let heading = part.heading.as_ref()?;
            let ends = |part: &Part| {
                part.heading.as_ref().is_some_and(|other| other.level <= heading.level || is_asked(&other.text))
            };
            let rest = self.parts.get(at + 1..).unwrap_or_default();
            let length = rest.iter().position(ends).unwrap_or(rest.len());
            Some((heading, self.words_of(at..at + 1 + length)))
        });
        found.collect()
    }

    /// The words of the whole document, without its headings.
    pub fn words(&self) -> u64 {
        self.words_of(0..self.parts.len())
    }

    fn words_of(&self, parts: Range<usize>) -> u64 {
        words(self.parts.get(parts).unwrap_or_default().iter().map(|part| part.text.as_str()))
    }
}

/// The words below each of some headings of a text: of several that are written alike, the one with the most counts.
pub fn words_below<'h>(text: &str, asked: &[&'h str]) -> BTreeMap<&'h str, u64> {
    let outline = Outline::of(text, text.len());
    let sections = outline.sections(|heading| asked.contains(&heading));
    let words = |heading: &str| {
        let of_heading = sections.iter().filter(|(found, _)| found.text == heading);
        of_heading.map(|(_, words)| *words).max().unwrap_or_default()
    };
    asked.iter().map(|heading| (*heading, words(heading))).collect()
}

/// The words of some texts. A word has a letter or a digit. Where only a few differ, each counts once, and single letters
/// as one.
fn words<'t>(texts: impl IntoIterator<Item = &'t str>) -> u64 {
    let plain = |word: &str| word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
    let words = texts.into_iter().flat_map(str::split_whitespace).map(plain);
    let words: Vec<String> = words.filter(|word| !(word.is_empty() || EMPTY.contains(&word.as_str()))).collect();
    let different: BTreeSet<&str> = words.iter().map(|word| if word.len() > 1 { word } else { "" }).collect();
    (if different.len() < FEW { different.len() } else { words.len() }) as u64
}

/// Whether what ends stands in a line: what comes after it may be the same word.
fn is_inline(tag: TagEnd) -> bool {
    matches!(tag, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link | TagEnd::Image)
}

/// A text with single spaces.
pub fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_below_a_heading_is_counted() {
        let text = "# A\none two\n## B ##\nthree - 4\n\n```\n# A\nfive\n```\n# C\n\n## D\nTODO: x\n# D\n";
        let asked = ["A", "C", "D", "E", "a"];
        assert_eq!(words_below(text, &asked), [("A", 5), ("C", 0), ("D", 1), ("E", 0), ("a", 0)].into());
        assert_eq!(
            words_below(text, &["A", "B"]),
            [("A", 2), ("B", 3)].into(),
            "a part that is asked for ends the other"
        );
        let hidden = [
            "<!-- a real step here -->",
            "<![CDATA[\na real step here\n]]>",
            "<div title=\"a real step here\"></div>",
            "<script>a real step</script>",
            "[x]: <a-real-step>",
        ];
        for text in hidden {
            assert_eq!(words_below(&format!("# A\n\n{text}\n"), &["A"]), [("A", 0)].into(), "{text}");
        }
    }
}
