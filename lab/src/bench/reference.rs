//! The committed figures: ratios, so that another machine can be compared with them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use owo_colors::OwoColorize as _;

use super::failed::failed;
use xtask::failure::{Failure, Result};
use xtask::root::{read, root, write};

/// How much worse than the committed one a figure may be.
const WORSE: f64 = 1.1;

/// What a measurement came to, by name. Smaller is better.
#[derive(Debug, Default)]
pub(super) struct Figures {
    found: BTreeMap<String, f64>,
    targets: Vec<(String, f64, f64)>,
}

impl Figures {
    /// Adds a figure that is kept, with the most it should be.
    pub(super) fn add(&mut self, name: &str, value: f64, most: Option<f64>) {
        self.found.insert(name.to_string(), (value * 1000.0).round() / 1000.0);
        if let Some(most) = most {
            self.add_absolute(name, value, most);
        }
    }

    /// Adds a figure that hangs on the machine, with the most it should be.
    pub(super) fn add_absolute(&mut self, name: &str, value: f64, most: f64) {
        self.targets.push((name.to_string(), value, most));
    }

    /// Says of every target whether it is met.
    pub(super) fn show_targets(&self) {
        anstream::println!("\n{:<62} {:>8} {:>8}", "target".bold(), "found", "at most");
        for (name, value, most) in &self.targets {
            let word = if value <= most { "met".green().to_string() } else { "MISSED".red().bold().to_string() };
            anstream::println!("{name:<62} {value:>8.2} {most:>8.2}  {word}");
        }
    }

    /// Writes the figures as those to compare with; those that were not measured now stay.
    pub(super) fn bless(&self) -> Result {
        let mut all: BTreeMap<String, f64> = serde_json::from_str(&read(&path())?).map_err(failed)?;
        all.extend(self.found.clone());
        let text = serde_json::to_string_pretty(&all).map_err(failed)?;
        write(&path(), &format!("{text}\n"))
    }

    /// Compares the figures with the committed ones, and the targets.
    pub(super) fn check(&self) -> Result {
        let committed: BTreeMap<String, f64> =
            serde_json::from_str(&read(&path())?).map_err(|error| Failure::file(&path(), error))?;
        let mut wrong = worse(&self.found, &committed);
        wrong.extend(
            self.targets
                .iter()
                .filter(|(_, value, most)| value > most)
                .map(|(name, value, most)| format!("{name}: {value:.2} is above its target, {most:.2}")),
        );
        if wrong.is_empty() {
            return Ok(());
        }
        Err(Failure::new(format!("{} figures are worse than they should be\n  {}", wrong.len(), wrong.join("\n  "))))
    }
}

fn path() -> PathBuf {
    root().join("lab/bench/reference.json")
}

/// What is worse than committed, and what is not committed.
fn worse(found: &BTreeMap<String, f64>, committed: &BTreeMap<String, f64>) -> Vec<String> {
    let judge = |(name, value): (&String, &f64)| match committed.get(name) {
        None => Some(format!("{name}: {value:.2} is not committed; `cargo xtask bench --bless` does that")),
        Some(before) if *value > before * WORSE => Some(format!("{name}: {value:.2} was {before:.2}")),
        Some(_) => None,
    };
    found.iter().filter_map(judge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_percent_are_noise_and_more_is_a_regression() {
        let map = |values: [(&str, f64); 2]| values.map(|(name, value)| (name.to_string(), value)).into();
        let committed = map([("a", 1.0), ("b", 2.0)]);
        assert!(worse(&map([("a", 1.09), ("b", 1.0)]), &committed).is_empty());
        assert_eq!(worse(&map([("a", 1.2), ("b", 1.0)]), &committed), ["a: 1.20 was 1.00"]);
        assert_eq!(worse(&map([("a", 1.0), ("c", 1.0)]), &committed).len(), 1);
    }

    #[test]
    fn the_committed_figures_can_be_read() {
        let text = read(&path()).unwrap();
        assert!(!serde_json::from_str::<BTreeMap<String, f64>>(&text).unwrap().is_empty());
    }
}
