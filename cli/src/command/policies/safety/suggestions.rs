//! The patterns that a skill suggests, in its section `## Plan Mode Safety Patterns`.

use phasegate_core::shell::safety::{Level, SafetyPattern};

/// The heading of the section.
const HEADING: &str = "plan mode safety patterns";

/// A pattern that a skill suggests.
pub(super) struct Suggestion {
    /// The name of the program.
    pub(super) program: String,
    pub(super) pattern: String,
    pub(super) level: Level,
}

/// What a skill suggests; lines that are no pattern with a level, with the reason.
#[derive(Default)]
pub(super) struct Suggestions {
    pub(super) found: Vec<Suggestion>,
    pub(super) unclear: Vec<String>,
}

/// Reads the section of a skill's text: a list or a table, in each line a pattern in backticks and then its level.
pub(super) fn of(text: &str) -> Suggestions {
    let mut suggestions = Suggestions::default();
    let mut inside: Option<usize> = None;
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let depth = line.chars().take_while(|letter| *letter == '#').count();
        if depth > 0 && !fenced {
            let heading = line.trim_matches(|letter: char| letter == '#' || letter == ':' || letter.is_whitespace());
            let is_it = heading.to_lowercase() == HEADING;
            inside = if is_it { Some(depth) } else { inside.filter(|outer| depth > *outer) };
            continue;
        }
        if inside.is_none() {
            continue;
        }
        let Some((pattern, rest)) = quoted(line) else {
            // A line of the list that names a level is meant as one.
            if is_item(line) && capitals(line).any(|word| Level::named(word).is_some()) {
                suggestions.unclear.push(format!("`{}`: no pattern in backticks", line.trim()));
            }
            continue;
        };
        let level = capitals(rest).filter_map(Level::named).next();
        let read = SafetyPattern::read(pattern);
        match (level, read.as_ref().ok().and_then(SafetyPattern::program), read.as_ref().err()) {
            (Some(level), Some(program), _) => {
                let (program, pattern) = (program.to_owned(), pattern.to_owned());
                suggestions.found.push(Suggestion { program, pattern, level });
            }
            (_, _, Some(fault)) => suggestions.unclear.push(format!("`{pattern}`: {}", fault.words())),
            _ => suggestions.unclear.push(format!("`{pattern}`: {}", without_level(rest))),
        }
    }
    suggestions
}

/// The words in capital letters.
fn capitals(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_uppercase()).filter(|word| word.len() > 1)
}

/// Whether a line is one of a list or a table.
fn is_item(line: &str) -> bool {
    line.trim_start().starts_with(['-', '*', '+', '|'])
}

/// What stands where a level should.
fn without_level(rest: &str) -> String {
    match capitals(rest).next() {
        Some(word) => {
            let known: Vec<&str> = Level::ALL.iter().map(|(word, _)| *word).collect();
            format!("`{word}` is no level (one of {})", known.join(", "))
        }
        None => "no level follows it".to_owned(),
    }
}

/// The first text in backticks, and what follows it.
fn quoted(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = line.split_once('`')?;
    let (pattern, rest) = rest.split_once('`')?;
    Some((pattern.trim(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_alone_is_read() {
        let text = "# Mail\n- `rm *` \u{2192} READ\n## Plan Mode Safety Patterns\nUse these:\n- `npx go-gmail * search *` \u{2192} \
                    READ\n| `npx go-gmail * send *` | DESTRUCTIVE |\n- `gcloud x; rm` -> READ\n- `gcloud *`\n- `gcloud x` \u{2192} MAYBE\n- acme show: READ\nREAD this\n### More\n- `gcloud * \
                    list *`: READ\n## Other\n- `ls *` \u{2192} READ\n";
        let Suggestions { found, unclear } = of(text);
        let found: Vec<_> = found.iter().map(|one| (one.program.as_str(), one.pattern.as_str(), one.level)).collect();
        let wanted = [
            ("go-gmail", "npx go-gmail * search *", Level::Read),
            ("go-gmail", "npx go-gmail * send *", Level::Destructive),
            ("gcloud", "gcloud * list *", Level::Read),
        ];
        assert_eq!(found, wanted);
        let whys = ["belongs to a line", "no level follows it", "`MAYBE` is no level", "no pattern in backticks"];
        assert!(unclear.len() == 4 && whys.iter().zip(&unclear).all(|(why, line)| line.contains(why)), "{unclear:?}");
        for heading in
            ["## Plan Mode Safety Patterns:", "### Plan mode safety patterns ##", "## plan mode safety patterns :"]
        {
            assert_eq!(of(&format!("{heading}\n- `gcloud * list *`: READ\n")).found.len(), 1, "{heading}");
        }
    }
}
