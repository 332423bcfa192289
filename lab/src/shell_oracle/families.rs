//! Lines that a grammar makes, by family: what somebody tries who wants to get past the parser.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::corpus::Line;
use super::random::Random;
use xtask::failure::{Failure, Result};
use xtask::root::{read, root};

const FILE: &str = "conformance/shell/families.toml";
/// How deep parts may stand in parts.
const DEPTH: usize = 6;
/// How often a line is made anew where it came out as an earlier one.
const TRIES: usize = 20;
/// Signs beside which a line break is put after a backslash.
const SIGNS: &str = "$(){}<>&|;`\"'\\[]#=-";

/// `conformance/shell/families.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Grammar {
    pub(super) seed: u64,
    /// How many different lines are made, of all families together.
    pub(super) count: usize,
    families: BTreeMap<String, Family>,
    parts: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    lines: Vec<String>,
    /// Whether the line goes on after line breaks, anywhere.
    #[serde(default)]
    continued: bool,
}

impl Grammar {
    /// Reads the grammar.
    pub(super) fn load() -> Result<Self> {
        let grammar: Self =
            toml::from_str(&read(&root().join(FILE))?).map_err(|error| Failure::new(format!("{FILE}: {error}")))?;
        let lists = grammar.families.values().map(|family| &family.lines).chain(grammar.parts.values());
        if lists.into_iter().any(Vec::is_empty) {
            return Err(Failure::new(format!("{FILE}: an empty list")));
        }
        Ok(grammar)
    }

    /// `count` different lines, as many of each family; the same ones for the same seed.
    pub(super) fn lines(&self, harmless: &[String], count: usize, seed: u64) -> Vec<Line> {
        let each = count / self.families.len().max(1);
        let mut made = Vec::new();
        for (number, (name, family)) in self.families.iter().enumerate() {
            let corpus: &'static str = name.clone().leak();
            let mut random = Random::new(seed.wrapping_add(number as u64));
            let mut seen = BTreeSet::new();
            for _ in 0..each.saturating_mul(TRIES) {
                if seen.len() >= each {
                    break;
                }
                let text = self.one(&mut random, family, harmless);
                if !text.contains('\0') && seen.insert(text.clone()) {
                    made.push(Line { corpus, id: format!("{name}-{seed}-{:05}", seen.len()), text });
                }
            }
        }
        made
    }

    fn one(&self, random: &mut Random, family: &Family, harmless: &[String]) -> String {
        let template = random.pick(&family.lines).map_or("", String::as_str);
        let mut line = self.filled(random, template, harmless, DEPTH);
        if family.continued {
            for _ in 0..=random.below(3) {
                line = continued(random, &line);
            }
        }
        line
    }

    /// A template with every `{part}` in it replaced. Braces that name no part stay.
    fn filled(&self, random: &mut Random, template: &str, harmless: &[String], depth: usize) -> String {
        let mut text = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            text.push_str(before);
            let found = after.split_once('}').and_then(|(inner, after)| Some((self.place(inner)?, after)));
            let Some((place, after)) = found else {
                text.push('{');
                rest = after;
                continue;
            };
            rest = after;
            let times = 1 + random.below(place.most);
            for number in 0..times {
                if number > 0 {
                    text.push_str(place.between);
                }
                let list = place.list.unwrap_or(harmless);
                let part = random.pick(list).map_or("", String::as_str);
                match place.list {
                    Some(_) if depth > 0 => text.push_str(&self.filled(random, part, harmless, depth - 1)),
                    _ => text.push_str(part),
                }
            }
        }
        text.push_str(rest);
        text
    }

    /// What stands in braces, if it names a part.
    fn place<'g>(&'g self, inner: &str) -> Option<Place<'g>> {
        let at = inner.find(['*', '+']).unwrap_or(inner.len());
        let (name, count) = inner.split_at_checked(at)?;
        let list = if name == "line" { None } else { Some(self.parts.get(name)?.as_slice()) };
        let most = if count.is_empty() { 1 } else { count.get(1..)?.parse().ok()? };
        Some(Place { list, most, between: if count.starts_with('+') { " " } else { "" } })
    }
}

/// A place in a template.
struct Place<'g> {
    /// The texts of the part; none for a harmless line.
    list: Option<&'g [String]>,
    most: usize,
    between: &'static str,
}

/// A line with a line break after a backslash, as a rule beside a sign.
fn continued(random: &mut Random, line: &str) -> String {
    let places: Vec<usize> = line
        .char_indices()
        .filter(|(_, letter)| SIGNS.contains(*letter))
        .flat_map(|(at, letter)| [at, at + letter.len_utf8()])
        .collect();
    let anywhere = random.below(line.len() + 1);
    let at = match random.pick(&places) {
        Some(at) if !random.once_in(4) => *at,
        _ => (anywhere..=line.len()).find(|at| line.is_char_boundary(*at)).unwrap_or(line.len()),
    };
    let (before, after) = line.split_at(at);
    format!("{before}\\\n{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_lines_come_out_every_time_and_no_part_is_left() {
        let grammar = Grammar::load().unwrap();
        let harmless = ["ls -la".to_string(), "cat a.txt | sort".into()];
        let texts =
            |seed| -> Vec<String> { grammar.lines(&harmless, 400, seed).into_iter().map(|line| line.text).collect() };
        let first = texts(1);
        assert_eq!(first, texts(1));
        assert_ne!(first, texts(2));
        assert!(first.len() >= 390, "{}", first.len());
        let open = |line: &&String| grammar.parts.keys().any(|part| line.contains(&format!("{{{part}}}")));
        assert_eq!(first.iter().find(open), None);
    }
}
