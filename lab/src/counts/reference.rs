//! The committed counts, and what differs from them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::callgrind::Profile;
use super::trace::Trace;
use xtask::failure::{Failure, Result};
use xtask::root::{read, root, write};

/// By how much a count may differ where it hangs a little on the machine, in thousandths.
const TOLERANCE: u64 = 20;
/// How much of a share may be lost before it is stale, in thousandths.
const STALE: u64 = 100;

/// What one kind of work came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Work {
    /// What is compared exactly.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    exact: BTreeMap<String, u64>,
    /// What may differ by [`TOLERANCE`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    near: BTreeMap<String, u64>,
    /// What must not fall by [`STALE`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    least: BTreeMap<String, u64>,
    /// How many of the instructions are in each crate. Not compared: they say what grew.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    crates: BTreeMap<String, u64>,
}

impl Work {
    pub(super) fn near(&mut self, what: &str, count: u64) {
        self.near.insert(what.to_owned(), count);
    }

    pub(super) fn least(&mut self, what: &str, count: u64) {
        self.least.insert(what.to_owned(), count);
    }

    /// All that a profile says of a process.
    pub(super) fn profile(&mut self, profile: Profile) {
        self.near("allocations", profile.allocations);
        self.instructions(profile);
    }

    /// Its instructions alone: calls are counted also where nothing else is.
    pub(super) fn instructions(&mut self, profile: Profile) {
        self.near(INSTRUCTIONS, profile.instructions);
        let least = profile.instructions / 200;
        self.crates = profile.crates.into_iter().filter(|(_, count)| *count > least).collect();
    }

    pub(super) fn trace(&mut self, trace: Trace) {
        self.exact.insert("system calls".to_owned(), trace.calls);
        self.near("bytes read", trace.read);
        self.near("bytes written", trace.written);
        let opened = trace.opened.into_iter().map(|(path, times)| (format!("opens {path}"), times));
        self.exact.extend(opened);
    }

    /// What differs from the committed counts.
    fn differences(&self, before: &Self, same_compiler: bool) -> Vec<String> {
        let said = |what: &str, now: u64, was: u64| format!("{what}: {was} -> {now} ({})", change(now, was));
        let mut found: Vec<String> = pairs(&self.exact, &before.exact)
            .filter(|(_, now, was)| now != was)
            .map(|(what, now, was)| said(what, now, was))
            .collect();
        for (what, now, was) in pairs(&self.near, &before.near).filter(|(_, now, was)| !is_near(*now, *was)) {
            let compiled = what == INSTRUCTIONS;
            if compiled && !same_compiler {
                continue;
            }
            let of = if compiled { grown(&self.crates, &before.crates, now.abs_diff(was)) } else { String::new() };
            found.push(said(what, now, was) + &of);
        }
        let stale = pairs(&self.least, &before.least).filter(|(_, now, was)| now * 1000 < was * (1000 - STALE));
        found.extend(stale.map(|(what, now, was)| said(what, now, was) + "; `cargo xtask hook-order` lists them anew"));
        found
    }
}

const INSTRUCTIONS: &str = "instructions";

/// The counts of both, by name; 0 where one is missing.
fn pairs<'a>(
    now: &'a BTreeMap<String, u64>,
    was: &'a BTreeMap<String, u64>,
) -> impl Iterator<Item = (&'a str, u64, u64)> {
    let count = |counts: &BTreeMap<String, u64>, name: &str| counts.get(name).copied().unwrap_or(0);
    let gone = was.keys().filter(|name| !now.contains_key(*name));
    now.keys().chain(gone).map(move |name| (name.as_str(), count(now, name), count(was, name)))
}

fn is_near(now: u64, was: u64) -> bool {
    now.abs_diff(was) * 1000 <= was * TOLERANCE
}

fn change(now: u64, was: u64) -> String {
    let sign = if now < was { '-' } else { '+' };
    match (now.abs_diff(was) * 1000).checked_div(was) {
        Some(change) => format!("{sign}{}.{} %", change / 10, change % 10),
        None => "new".to_owned(),
    }
}

/// The crates that differ by a tenth of the whole difference, or more.
fn grown(now: &BTreeMap<String, u64>, was: &BTreeMap<String, u64>, whole: u64) -> String {
    let mut parts: Vec<(&str, u64, u64)> =
        pairs(now, was).filter(|(_, now, was)| now.abs_diff(*was) * 10 >= whole).collect();
    parts.sort_by_key(|(_, now, was)| std::cmp::Reverse(now.abs_diff(*was)));
    let parts = parts.iter().map(|(name, now, was)| format!("{name} {was} -> {now}"));
    let parts = parts.collect::<Vec<_>>().join(", ");
    if parts.is_empty() { parts } else { format!("; in {parts}") }
}

/// What was counted, by the name of the work.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Counts(BTreeMap<String, Work>);

impl Counts {
    /// The counts of this work.
    pub(super) fn of(&mut self, name: &str) -> &mut Work {
        self.0.entry(name.to_owned()).or_default()
    }

    /// A line for each kind of work.
    pub(super) fn table(&self) -> String {
        let line = |(name, work): (&String, &Work)| {
            let counts =
                work.near.iter().chain(&work.least).chain(&work.exact).filter(|(what, _)| !what.starts_with("opens "));
            let counts: Vec<String> = counts.map(|(what, count)| format!("{count} {what}")).collect();
            format!("{name}: {}\n", counts.join(", "))
        };
        self.0.iter().map(line).collect()
    }
}

/// What is committed.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reference {
    /// The compiler that made the instructions.
    compiler: String,
    counts: Counts,
}

impl Reference {
    pub(super) fn read() -> Result<Self> {
        if !path().exists() {
            return Ok(Self::default());
        }
        serde_json::from_str(&read(&path())?).map_err(|error| Failure::file(&path(), error))
    }

    /// The reference with these counts in place of those that it had.
    pub(super) fn with(mut self, counts: Counts, compiler: String) -> Self {
        self.counts.0.extend(counts.0);
        Self { compiler, ..self }
    }

    pub(super) fn write(&self) -> Result {
        let text = serde_json::to_string_pretty(self).map_err(|error| Failure::new(error.to_string()))?;
        write(&path(), &format!("{text}\n"))
    }

    /// What differs, a line each. Instructions are compared where the compiler is the same.
    pub(super) fn differences(&self, counts: &Counts, compiler: &str) -> Vec<String> {
        let same = self.compiler == compiler;
        if !same {
            anstream::println!("instructions are not compared: they are of {}, this is {compiler}", self.compiler);
        }
        let none = Work::default();
        let of = |(name, work): (&String, &Work)| {
            let before = self.counts.0.get(name).unwrap_or(&none);
            work.differences(before, same).into_iter().map(move |line| format!("{name}: {line}")).collect::<Vec<_>>()
        };
        counts.0.iter().flat_map(of).collect()
    }
}

fn path() -> PathBuf {
    root().join("lab/bench/counts.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(calls: u64, instructions: u64, of_serde: u64) -> Work {
        let map = |name: &str, count| [(name.to_owned(), count)].into();
        Work {
            exact: map("opens */guarded", calls),
            near: map(INSTRUCTIONS, instructions),
            least: BTreeMap::new(),
            crates: map("serde_json", of_serde),
        }
    }

    #[test]
    fn what_grew_is_named_and_what_shrank() {
        let before = work(1, 1000, 100);
        assert!(work(1, 1020, 120).differences(&before, true).is_empty());
        assert_eq!(
            work(2, 900, 100).differences(&before, true),
            ["opens */guarded: 1 -> 2 (+100.0 %)", "instructions: 1000 -> 900 (-10.0 %)",]
        );
        let found = work(1, 1100, 200).differences(&before, true);
        assert_eq!(found, ["instructions: 1000 -> 1100 (+10.0 %); in serde_json 100 -> 200"]);
        assert!(work(1, 1100, 200).differences(&before, false).is_empty());
        let found = work(1, 1000, 100).differences(&Work::default(), true);
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_share_may_grow_and_fall_a_little() {
        let share = |share: u64| Work { least: [("listed".to_owned(), share)].into(), ..Work::default() };
        assert!(share(905).differences(&share(1000), true).is_empty());
        assert!(share(1000).differences(&share(500), true).is_empty());
        let found = share(880).differences(&share(1000), true);
        assert_eq!(found, ["listed: 1000 -> 880 (-12.0 %); `cargo xtask hook-order` lists them anew"]);
    }

    #[test]
    fn the_committed_counts_can_be_read() {
        assert!(!Reference::read().unwrap().counts.0.is_empty());
    }
}
