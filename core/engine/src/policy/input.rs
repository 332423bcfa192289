//! Inputs: values that a run is given when it begins. `${name}` in a path, a command or a text of the skill stands for one.

use alloc::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::prelude::*;

/// The longest value, in bytes.
const LONGEST_VALUE: usize = 200;

/// The name of the input that a parallel phase gives to the run of each branch: the name of the branch.
pub const BRANCH: &str = "branch";
/// The name of the input that a skill gives to the run of another where it runs that in several places: the phase, and what
/// tells the runs of the phase apart, with a line at the end. Elsewhere it is empty.
pub const PART: &str = "part";

/// Values by the names of their inputs.
pub type Values = BTreeMap<String, String>;

/// An input of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// The regular expression that the whole value matches.
    pub pattern: String,
    /// The value, in the instance that a run follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// A skill with values that a step needs and the policy does not have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instance {
    /// The name of the skill.
    pub skill: String,
    /// Its version.
    pub version: String,
    /// The values of its inputs.
    pub values: Values,
}

impl Input {
    /// Whether this may be its value. What would mean something else in a glob, a command line or a path is no value,
    /// whatever the pattern says.
    pub fn takes(&self, value: &str) -> bool {
        is_word(value) && whole(&self.pattern).is_some_and(|pattern| pattern.is_match(value))
    }
}

/// Whether a value is one word of a command and one path, whatever the expression of its input says.
pub(crate) fn is_word(value: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/@+:=".contains(&byte);
    value.len() <= LONGEST_VALUE
        && value.bytes().all(plain)
        && !value.starts_with('-')
        && value.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// The expression that asks for a whole value; `None`: it is not valid.
fn whole(pattern: &str) -> Option<regex::Regex> {
    regex::Regex::new(&format!("^(?:{pattern})$")).ok()
}

/// Why this is no regular expression; `None`: it is one.
pub fn fault(pattern: &str) -> Option<String> {
    regex::Regex::new(pattern).err().map(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_means_nothing_but_itself() {
        let input = |pattern: &str| Input { name: "id".into(), pattern: pattern.into(), value: None };
        for good in ["A-1", "a.b_c", "x/y", "user@host", "k=v"] {
            assert!(input(".*").takes(good), "{good}");
        }
        for bad in [
            "", "*", "a b", "../x", "a/../b", "a//b", "/etc", "-rf", "{a,b}", "a,b", "$x", "a\\b", "'", "ä", "a\n",
            "./a",
        ] {
            assert!(!input(".*").takes(bad), "{bad}");
        }
        assert!(!input(".*").takes(&"x".repeat(LONGEST_VALUE + 1)));
        assert!(!input("a|b").takes("ax"), "an alternative is anchored too");
        assert!(!input("(").takes("a"));
    }
}
