//! Lines that only read, with a write spliced in: the same ones in every run.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::random::Random;
use xtask::failure::{Failure, Result};
use xtask::root::{read, root};

const FILE: &str = "conformance/shell/mutations.toml";
/// How often a line is made anew where it came out as an earlier one.
const TRIES: usize = 40;

/// `conformance/shell/mutations.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recipe {
    seed: u64,
    /// How many different lines are made.
    pub(super) count: usize,
    writes: Vec<String>,
    frames: Vec<String>,
    words: Vec<String>,
    noise: Vec<String>,
    disguises: Vec<String>,
    options: BTreeMap<String, Vec<String>>,
}

impl Recipe {
    /// Reads the recipe.
    pub(super) fn load() -> Result<Self> {
        let recipe: Self =
            toml::from_str(&read(&root().join(FILE))?).map_err(|error| Failure::new(format!("{FILE}: {error}")))?;
        let lists = [&recipe.writes, &recipe.frames, &recipe.words, &recipe.noise, &recipe.disguises];
        if lists.iter().any(|list| list.is_empty()) || recipe.options.values().any(Vec::is_empty) {
            return Err(Failure::new(format!("{FILE}: an empty list")));
        }
        Ok(recipe)
    }

    /// `count` different lines made from `lines`; the same ones for the same input.
    pub(super) fn mutate(&self, lines: &[String], count: usize) -> Vec<String> {
        let mut random = Random::new(self.seed);
        let mut seen: BTreeSet<String> = lines.iter().cloned().collect();
        let mut made = Vec::new();
        let mut tries = 0;
        while made.len() < count && tries < count.saturating_mul(TRIES) {
            tries += 1;
            let Some(line) = random.pick(lines).cloned() else { break };
            let line = self.one(&mut random, &line);
            if !line.contains('\0') && seen.insert(line.clone()) {
                made.push(line);
            }
        }
        made
    }

    fn one(&self, random: &mut Random, line: &str) -> String {
        let mut line = match random.below(10) {
            0..=3 => self.framed(random, line),
            4..=6 => self.with_word(random, line),
            _ => self.with_option(random, line),
        };
        if random.once_in(3) {
            for _ in 0..=random.below(3) {
                line = self.noisy(random, &line);
            }
        }
        line
    }

    /// A command that writes, perhaps in disguise, perhaps inside another frame.
    fn write(&self, random: &mut Random) -> String {
        let mut write = random.pick(&self.writes).cloned().unwrap_or_default();
        if random.once_in(3) {
            write = self.disguised(random, &write);
        }
        if random.once_in(5) {
            let frame = random.pick(&self.frames).cloned().unwrap_or_default();
            write = frame.replace("{line}", "true").replace("{write}", &write);
        }
        write
    }

    fn disguised(&self, random: &mut Random, write: &str) -> String {
        let (word, after) = write.split_at(write.find(' ').unwrap_or(write.len()));
        let mut letters = word.chars();
        let (Some(first), rest) = (letters.next(), letters.as_str()) else { return write.to_string() };
        if !word.chars().all(|letter| letter.is_ascii_alphanumeric()) {
            return write.to_string();
        }
        let disguise = random.pick(&self.disguises).cloned().unwrap_or_default();
        format!("{}{after}", disguise.replace("{first}", &first.to_string()).replace("{rest}", rest))
    }

    fn framed(&self, random: &mut Random, line: &str) -> String {
        let write = self.write(random);
        let frame = random.pick(&self.frames).cloned().unwrap_or_default();
        frame.replace("{line}", line).replace("{write}", &write)
    }

    /// Something put at the end, between two words, or anywhere.
    fn with_word(&self, random: &mut Random, line: &str) -> String {
        let write = self.write(random);
        let word = random.pick(&self.words).cloned().unwrap_or_default().replace("{write}", &write);
        let blanks: Vec<usize> = line.match_indices(' ').map(|(at, _)| at).collect();
        match random.below(4) {
            0 => format!("{line} {word}"),
            1 => format!("{line}{word}"),
            2 => {
                let at = random.pick(&blanks).copied().unwrap_or(line.len());
                let (before, after) = line.split_at(at);
                format!("{before} {word}{after}")
            }
            _ => insert(random, line, &word),
        }
    }

    /// An option put after the name of a program that has one that writes.
    fn with_option(&self, random: &mut Random, line: &str) -> String {
        let mut places = Vec::new();
        for (name, options) in &self.options {
            for (at, _) in line.match_indices(name.as_str()) {
                let end = at + name.len();
                let letter =
                    |found: Option<char>| found.is_some_and(|found| found.is_alphanumeric() || "-_./".contains(found));
                let before = line.get(..at).and_then(|text| text.chars().next_back());
                let after = line.get(end..).and_then(|text| text.chars().next());
                if !letter(before) && !letter(after) {
                    places.push((end, options));
                }
            }
        }
        let Some((end, options)) = random.pick(&places) else { return self.framed(random, line) };
        let option = random.pick(options).cloned().unwrap_or_default();
        if random.once_in(3) {
            return format!("{line} {option}");
        }
        let (before, after) = line.split_at(*end);
        format!("{before} {option}{after}")
    }

    /// One letter more, less, or moved.
    fn noisy(&self, random: &mut Random, line: &str) -> String {
        if random.once_in(3) {
            let letters: Vec<char> = line.chars().collect();
            let gone = random.below(letters.len());
            return letters.iter().enumerate().filter(|(at, _)| *at != gone).map(|(_, letter)| letter).collect();
        }
        let noise = random.pick(&self.noise).cloned().unwrap_or_default();
        insert(random, line, &noise)
    }
}

/// A text put anywhere.
fn insert(random: &mut Random, line: &str, text: &str) -> String {
    let at = random.below(line.chars().count() + 1);
    let before: String = line.chars().take(at).collect();
    let after: String = line.chars().skip(at).collect();
    format!("{before}{text}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_lines_come_out_every_time_and_all_are_different() {
        let recipe = Recipe::load().unwrap();
        let lines = ["ls -la".to_string(), "cat a.txt | sort".into(), "git log --oneline".into()];
        let first = recipe.mutate(&lines, 500);
        assert_eq!(first.len(), 500);
        assert_eq!(first, recipe.mutate(&lines, 500));
        assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), 500);
        assert!(first.iter().any(|line| line.contains("--output") || line.contains("-o pwned")));
    }
}
