//! Expected failures: known departures, each with a reason, strict both ways.
//!
//! One file beside the cases for what is the same everywhere, and one in each adapter's folder.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use crate::trial::{Mismatch, Verdict};

/// `expected-failures.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedFailures {
    /// The departures.
    #[serde(default)]
    pub entry: Vec<Entry>,
}

/// One departure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Which field of the cases differs; a star for all of them.
    pub what: String,
    /// Why it does.
    pub reason: String,
    /// The trials in which it differs, by id; a star stands for anything but a `/`. All that match must fail.
    pub cases: Vec<String>,
}

impl ExpectedFailures {
    /// Reads the file's text.
    ///
    /// # Errors
    ///
    /// Not TOML, an unknown key, an entry without a reason or without a case.
    pub fn parse(text: &str) -> Result<Self, String> {
        let all: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        match all.entry.iter().find(|entry| entry.reason.trim().is_empty() || entry.cases.is_empty()) {
            Some(entry) => Err(format!("the entry for `{}` needs a reason and cases", entry.what)),
            None => Ok(all),
        }
    }

    /// Adds the departures of one adapter.
    ///
    /// # Errors
    ///
    /// The text of an entry that names a trial of anything else.
    pub fn add(&mut self, adapter: &str, own: Self) -> Result<(), String> {
        let belongs = |case: &&String| case.split('/').nth(1) == Some(adapter);
        match own.entry.iter().flat_map(|entry| &entry.cases).find(|case| !belongs(case)) {
            Some(case) => Err(format!("`{case}` is no trial of `{adapter}`")),
            None => {
                self.entry.extend(own.entry);
                Ok(())
            }
        }
    }

    /// Takes the expected mismatches of a trial out, and adds a mismatch for every entry that the trial does not need.
    #[must_use]
    pub fn judge(&self, id: &str, mismatches: Vec<Mismatch>) -> Verdict {
        let total = mismatches.len();
        let entries: Vec<&Entry> =
            self.entry.iter().filter(|entry| entry.cases.iter().any(|case| names(case, id))).collect();
        let mut needed = BTreeSet::new();
        let mut left: Vec<Mismatch> = mismatches
            .into_iter()
            .filter(|mismatch| {
                let covering = entries.iter().find(|entry| entry.what == "*" || entry.what == mismatch.field);
                covering.is_none_or(|entry| {
                    needed.insert(entry.what.as_str());
                    false
                })
            })
            .collect();
        let expected_failures = total - left.len();
        for entry in entries.iter().filter(|entry| !needed.contains(entry.what.as_str())) {
            let wanted = Value::from(format!("a failure, because {}", entry.reason));
            left.push(Mismatch::new(
                "expected-failures.toml",
                &entry.what,
                wanted,
                Value::from("it passes: remove the case"),
            ));
        }
        Verdict { mismatches: left, expected_failures }
    }

    /// Why a field of the trials whose names begin so differs, where it differs in one of them.
    #[must_use]
    pub fn reason_for(&self, field: &str, area: &str) -> Option<&str> {
        let mut of_area = self.entry.iter().filter(|entry| entry.cases.iter().any(|case| case.starts_with(area)));
        of_area.find(|entry| entry.what == field).map(|entry| entry.reason.as_str())
    }

    /// Cases named by an entry that no trial has.
    #[must_use]
    pub fn unknown<'a>(&'a self, ids: &BTreeSet<&str>) -> Vec<&'a str> {
        let named = self.entry.iter().flat_map(|entry| &entry.cases);
        named.map(String::as_str).filter(|case| !ids.iter().any(|id| names(case, id))).collect()
    }
}

/// Whether a case of an entry, in which a star stands for anything but a `/`, names a trial.
fn names(case: &str, id: &str) -> bool {
    let (mut wanted, mut given) = (case.split('/'), id.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some(pattern), Some(part)) if matches(pattern, part) => {}
            _ => return false,
        }
    }
}

/// Whether a text matches a pattern in which a star stands for anything.
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    let rest = middle.iter().try_fold(rest, |rest, part| rest.split_once(part).map(|(_, rest)| rest));
    rest.is_some_and(|rest| rest.ends_with(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> ExpectedFailures {
        ExpectedFailures::parse("[[entry]]\nwhat = \"recovery\"\nreason = \"r\"\ncases = [\"a\", \"b\"]\n").unwrap()
    }

    fn mismatch(field: &str) -> Mismatch {
        Mismatch::new("step 1", field, Value::Null, Value::from(1))
    }

    #[test]
    fn an_expected_mismatch_passes_and_any_other_does_not() {
        assert!(list().judge("a", vec![mismatch("recovery"), mismatch("recovery")]).passed());
        assert!(!list().judge("a", vec![mismatch("recovery"), mismatch("decision")]).passed());
        assert!(!list().judge("c", vec![mismatch("recovery")]).passed());
    }

    #[test]
    fn an_entry_that_passes_fails() {
        let verdict = list().judge("a", Vec::new());
        assert!(!verdict.passed());
        assert_eq!(verdict.mismatches[0].place, "expected-failures.toml");
    }

    #[test]
    fn a_star_covers_every_field_and_is_needed_too() {
        let all = ExpectedFailures::parse("[[entry]]\nwhat = \"*\"\nreason = \"r\"\ncases = [\"a\"]\n").unwrap();
        assert!(all.judge("a", vec![mismatch("x"), mismatch("y")]).passed());
        assert!(!all.judge("a", Vec::new()).passed());
    }

    #[test]
    fn a_star_in_a_case_stays_within_its_part() {
        assert!(names("decode/a/cells/*/idle", "decode/a/cells/1.0/idle"));
        assert!(!names("decode/a/*/idle", "decode/a/cells/1.0/idle"));
        assert!(!names("decode/a/cells/*", "decode/a/cells"));
        assert!(names("session/a/cells/s@*", "session/a/cells/s@2"));
    }

    #[test]
    fn an_adapter_departs_only_in_its_own_trials() {
        let own = |case: &str| {
            ExpectedFailures::parse(&format!("[[entry]]\nwhat = \"x\"\nreason = \"r\"\ncases = [\"{case}\"]\n"))
                .unwrap()
        };
        let mut all = list();
        all.add("a", own("decode/a/x")).unwrap();
        assert_eq!(all.entry.len(), 2);
        assert!(all.add("a", own("decode/b/x")).unwrap_err().contains("no trial of `a`"));
        assert!(all.add("a", own("decide/x")).is_err());
    }

    #[test]
    fn a_star_stands_for_anything() {
        assert!(matches("decide/a/b", "decide/a/b"));
        assert!(!matches("decide/a", "decide/a/b"));
        assert!(matches("*b", "decide/a/b"));
        assert!(matches("decide/*/b@*", "decide/a/b@strict"));
        assert!(!matches("decide/*/c", "decide/a/b"));
    }

    #[test]
    fn entries_are_checked_themselves() {
        assert_eq!(list().unknown(&BTreeSet::from(["a"])), ["b"]);
        assert!(ExpectedFailures::parse("[[entry]]\nwhat = \"x\"\nreason = \"\"\ncases = [\"a\"]\n").is_err());
        assert!(
            ExpectedFailures::parse("[[entry]]\nwhat = \"x\"\nreason = \"r\"\ncases = [\"a\"]\nmore = 1\n").is_err()
        );
    }
}
