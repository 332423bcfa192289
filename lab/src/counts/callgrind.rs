//! What `valgrind --tool=callgrind` wrote: instructions, by the crate whose functions they are in, and allocations.

use std::collections::{BTreeMap, BTreeSet};

/// The functions of the C library that give memory.
const ALLOCATORS: [&str; 4] = ["malloc", "calloc", "realloc", "posix_memalign"];

/// What one run did.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Profile {
    /// How many instructions.
    pub(super) instructions: u64,
    /// How many of them in functions of each crate.
    pub(super) crates: BTreeMap<String, u64>,
    /// How often memory was asked for.
    pub(super) allocations: u64,
    /// The functions of this workspace that ran, by their paths; without those of traits, whose names have no path.
    pub(super) functions: BTreeSet<String>,
}

/// Reads a profile: `fn=(12) name` begins a function, `calls=N …` names how often it calls the `cfn=` before, and the line
/// after that is the callee's. Every other line of numbers is what the function itself did.
pub(super) fn read(text: &str) -> Profile {
    let mut names = BTreeMap::new();
    let (mut profile, mut function, mut callee, mut of_callee) =
        (Profile::default(), String::new(), String::new(), false);
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("fn=") {
            function = named(rest, &mut names);
        } else if let Some(rest) = line.strip_prefix("cfn=") {
            callee = named(rest, &mut names);
        } else if let Some(rest) = line.strip_prefix("calls=") {
            let calls: u64 = rest.split(' ').next().and_then(|calls| calls.parse().ok()).unwrap_or(0);
            profile.allocations += if ALLOCATORS.contains(&callee.as_str()) { calls } else { 0 };
            of_callee = true;
        } else if line.starts_with(|letter: char| letter.is_ascii_digit() || "+-*".contains(letter)) {
            let cost = line.split(' ').nth(1).and_then(|cost| cost.parse().ok()).unwrap_or(0);
            if !std::mem::take(&mut of_callee) {
                profile.instructions += cost;
                *profile.crates.entry(crate_of(&function)).or_default() += cost;
                if function.starts_with("phasegate_") && !function.contains(['<', '{']) {
                    profile.functions.insert(function.clone());
                }
            }
        }
    }
    profile
}

/// The name that `(12) name` gives, or that `(12)` stands for.
fn named(text: &str, names: &mut BTreeMap<String, String>) -> String {
    match text.split_once(' ') {
        Some((id, name)) => {
            let name = name.split('\'').next().unwrap_or(name).to_owned();
            names.insert(id.to_owned(), name.clone());
            name
        }
        None => names.get(text).cloned().unwrap_or_default(),
    }
}

/// The crate of a function: the first name of its path. Functions of C have no path.
fn crate_of(function: &str) -> String {
    let path = function.trim_start_matches(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    match path.split_once("::") {
        Some((name, _)) if name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_') => {
            name.to_owned()
        }
        Some(_) | None => "C".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_those_of_functions_without_their_callees() {
        let text = "events: Ir\nfn=(1) serde_json::de::from_str\n5 10\n+1 5\ncfn=(2) malloc\ncalls=3 0 \n* 900\n\n\
                    fn=(2)\n0 900\nfn=(3) <alloc::vec::Vec<T> as core::clone::Clone>::clone\n1 7\ncfn=(1)\n\
                    calls=1 5\n1 915\n";
        let crates = [("C", 900), ("alloc", 7), ("serde_json", 15)].map(|(name, cost)| (name.to_owned(), cost));
        let functions = BTreeSet::new();
        assert_eq!(read(text), Profile { instructions: 922, crates: crates.into(), allocations: 3, functions });
    }
}
