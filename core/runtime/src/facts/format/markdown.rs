//! Markdown held against the rules of a format. Headings are those that CommonMark sees at the top of the document.

use std::ops::Range;

use phasegate_config::front_matter;
use phasegate_config::outline::{Heading, Outline, spaced};
use phasegate_core::evidence::format::{Markdown, TextTest, values};
use phasegate_core::policy::matcher::ArgTest;
use pulldown_cmark::HeadingLevel;
use serde_json::Value;

/// The most faults that are told of a file.
const MAX_FAULTS: usize = 3;
/// The most characters of a text in a fault.
const MAX_CHARS: usize = 60;

/// What is wrong with a file, with lines; `None`: nothing. Of the file's own text only headings are told.
pub(super) fn fault(rules: &Markdown, bytes: &[u8]) -> Option<String> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Some("it is not UTF-8 text".to_owned()) };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let matter = front_matter(text);
    let body = matter.as_ref().map_or(text, |matter| matter.rest);
    let before = text.get(..text.len() - body.len()).unwrap_or_default();
    let lines = Lines { body, before: before.matches('\n').count() };
    let mut faults = Vec::new();
    if !rules.front_matter.is_empty() {
        let fields = matter.as_ref().map(|matter| matter.fields.as_ref());
        faults.extend(fault_of_fields(&rules.front_matter, fields, before));
    }
    let last = rules.last_line.as_ref().and_then(|_| last_line(body));
    let outline = Outline::of(body, last.as_ref().map_or(body.len(), |range| range.start));
    if let Some(title) = &rules.title {
        faults.extend(fault_of_title(title, &outline, &lines));
    }
    let least = rules.min_words.unwrap_or(1);
    let sections = outline.sections(|heading| rules.sections.iter().any(|section| section.fits(heading)));
    let found = Sections { outline: &outline, all: &sections, least };
    faults.extend(rules.sections.iter().filter_map(|section| fault_of_section(section, &found, &lines)));
    if let (true, Some(least)) = (rules.sections.is_empty(), rules.min_words) {
        let words = outline.words();
        faults.extend((words < least).then(|| format!("it has {words} of {least} words")));
    }
    faults.extend(rules.lines.iter().filter_map(|line| fault_of_line(line, body, &outline)));
    if let Some(wanted) = &rules.last_line {
        faults.extend(fault_of_last_line(wanted, last, &outline, &lines));
    }
    let more = faults.len().saturating_sub(MAX_FAULTS);
    faults.truncate(MAX_FAULTS);
    if more > 0 {
        faults.push(format!("{more} more"));
    }
    (!faults.is_empty()).then(|| faults.join("; "))
}

/// `fields`: those of the front matter; `None`: there is none, and if there is `None` in it, it is no YAML.
fn fault_of_fields(tests: &[ArgTest], fields: Option<Option<&Value>>, text: &str) -> Option<String> {
    let Some(fields) = fields else { return Some("the front matter is missing".to_owned()) };
    let Some(fields) = fields else { return Some("the front matter is not YAML that can be read (line 1)".to_owned()) };
    let wrong = |test: &&ArgTest| {
        let found = test.path.split('.').try_fold(fields, |value, key| value.get(key));
        !test.is.holds(found.filter(|value| !value.is_null()))
    };
    let test = tests.iter().find(wrong)?;
    let key = test.path.split('.').next().unwrap_or_default();
    let line =
        text.lines().position(|line| line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':')));
    let line = line.map_or(1, |line| line + 1);
    let wanted = values(&test.is).map_or_else(|| "as it has to be".to_owned(), |values| cut(&values));
    Some(format!("`{}` in the front matter is not {wanted} (line {line})", cut(&test.path)))
}

fn fault_of_title(title: &TextTest, outline: &Outline, lines: &Lines<'_>) -> Option<String> {
    let Some(first) = outline.headings().next() else { return Some(format!("the title {} is missing", shown(title))) };
    let fits = first.level == HeadingLevel::H1 && title.fits(&first.text);
    let line = lines.of(first.start);
    (!fits)
        .then(|| format!("the first heading, `{}` (line {line}), is not the title {}", cut(&first.text), shown(title)))
}

/// The sections of a document, and how many words each has to have.
struct Sections<'o> {
    outline: &'o Outline,
    all: &'o [(&'o Heading, u64)],
    least: u64,
}

fn fault_of_section(section: &TextTest, sections: &Sections<'_>, lines: &Lines<'_>) -> Option<String> {
    let Sections { outline, all, least } = *sections;
    let found = all.iter().filter(|(heading, _)| section.fits(&heading.text));
    let Some((heading, words)) = found.max_by_key(|(_, words)| *words) else {
        return Some(format!("the section {} is missing", shown(section)));
    };
    let (name, line) = (cut(&heading.text), lines.of(heading.start));
    let fault = match words {
        0 => format!("the section `{name}` is empty (line {line})"),
        words if *words < least => format!("the section `{name}` has {words} of {least} words (line {line})"),
        _ => return None,
    };
    // What was meant as a rule made a heading of the text, and ended the section.
    let next = outline.headings().find(|other| other.start > heading.start).filter(|next| next.underlined);
    let hint = next.map(|next| {
        let line = lines.of(next.start);
        format!(
            ", because the text in line {line} has a line of `-` or `=` below it, which makes it a heading; put an \
                 empty line between them"
        )
    });
    Some(format!("{fault}{}", hint.unwrap_or_default()))
}

fn fault_of_line(wanted: &TextTest, body: &str, outline: &Outline) -> Option<String> {
    let mut start = 0;
    let found = body.split_inclusive('\n').any(|line| {
        let at = start;
        start += line.len();
        !outline.raw.iter().any(|raw| raw.contains(&at)) && wanted.fits(&plain(line))
    });
    (!found).then(|| format!("the line {} is missing", shown(wanted)))
}

/// A line without what marks an item of a list, and without signs of emphasis and code.
fn plain(line: &str) -> String {
    let line = line.trim();
    let item = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
    spaced(&item.replace("**", "").replace('`', ""))
}

fn fault_of_last_line(
    wanted: &TextTest,
    last: Option<Range<usize>>,
    outline: &Outline,
    lines: &Lines<'_>,
) -> Option<String> {
    let Some(last) = last else { return Some(format!("the last line {} is missing", shown(wanted))) };
    let line = lines.of(last.start);
    if outline.raw.iter().any(|raw| raw.contains(&last.start)) {
        return Some(format!("the last line (line {line}) stands in a block of code or HTML"));
    }
    let text = lines.body.get(last).unwrap_or_default();
    (!wanted.fits(&spaced(text))).then(|| format!("the last line (line {line}) is not {}", shown(wanted)))
}

/// The last line that is not empty.
fn last_line(body: &str) -> Option<Range<usize>> {
    let end = body.trim_end().len();
    let start = body.get(..end)?.rfind('\n').map_or(0, |line| line + 1);
    (start < end).then_some(start..end)
}

/// The Markdown of a file, which so many lines precede.
struct Lines<'t> {
    body: &'t str,
    before: usize,
}

impl Lines<'_> {
    /// The number of the line of the file that a byte stands in.
    fn of(&self, at: usize) -> usize {
        self.before + 1 + self.body.get(..at).unwrap_or_default().matches('\n').count()
    }
}

fn shown(test: &TextTest) -> String {
    match test {
        TextTest::Is(text) => format!("`{}`", cut(text)),
        TextTest::Matches(pattern) => format!("that matches `{}`", cut(pattern)),
    }
}

fn cut(text: &str) -> String {
    let plain: String = text.chars().filter(|letter| !letter.is_control()).collect();
    match plain.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}\u{2026}", plain.get(..end).unwrap_or_default()),
        None => plain,
    }
}

#[cfg(test)]
mod tests;
