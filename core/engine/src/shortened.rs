//! Arguments that a record does not repeat: what was found out about them while they were there (rules 8.6).
//!
//! A record is decided again from what it holds. Where it holds a digest in place of an argument, the outcomes of the
//! tests that read the argument stand beside it, and are used in place of the tests.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};

use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::matcher::{ArgTest, Matcher};
use crate::observe;
use crate::policy::{Optional, Policy, Skill};
use crate::tool::Call;

/// Whether a part of a matcher applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// It does not.
    No,
    /// Nobody can tell: an argument is absent or of another type.
    Doubt,
    /// It does.
    Yes,
}

/// What was found out about the arguments of a call before some were left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shortened {
    /// The digest of all arguments, by which a result without an id is paired.
    pub digest: String,
    /// The outcome of each test that read what was left out, by the test as JSON.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outcomes: BTreeMap<String, Fit>,
}

impl Shortened {
    /// What every matcher of the policy says about these parts of the call's arguments, given as names with dots
    /// between them; an empty one is all of them.
    #[must_use]
    pub fn of(policy: &Policy, call: &Call, parts: &[String]) -> Self {
        let mut outcomes = BTreeMap::new();
        let reads = |path: &str| parts.iter().any(|part| overlap(part, path));
        for skill in policy.skills.iter().chain(&policy.earlier) {
            each_matcher(skill, &mut |matcher| {
                for test in matcher.args.iter().filter(|test| reads(&test.path)) {
                    outcomes.entry(name_of(test)).or_insert_with(|| test.fits(call));
                }
                if let Some(command) = matcher.command.as_ref().filter(|_| reads("command")) {
                    outcomes.entry(command_name(command)).or_insert_with(|| matcher.fits_command(call));
                }
            });
        }
        Self { digest: observe::digest(&call.input), outcomes }
    }

    /// The outcome of a test of an argument, if it was left out.
    pub(crate) fn argument(&self, test: &ArgTest) -> Option<Fit> {
        self.outcomes.get(&name_of(test)).copied()
    }

    /// The outcome of the comparison with a command, if that was left out.
    pub(crate) fn command(&self, command: &str) -> Option<Fit> {
        self.outcomes.get(&command_name(command)).copied()
    }
}

fn name_of(test: &ArgTest) -> String {
    serde_json::to_string(test).unwrap_or_default()
}

fn command_name(command: &str) -> String {
    serde_json::Value::from(command).to_string()
}

/// Whether one of two names with dots lies in the other.
fn overlap(one: &str, other: &str) -> bool {
    let inside = |outer: &str, inner: &str| {
        outer.is_empty() || inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    inside(one, other) || inside(other, one)
}

/// Calls `visit` with every matcher of a skill.
fn each_matcher<'a>(skill: &'a Skill, visit: &mut dyn FnMut(&'a Matcher)) {
    skill.tools.iter().for_each(|note| visit(&note.matcher));
    skill.global_forbidden.iter().for_each(&mut *visit);
    for phase in &skill.phases {
        phase.allowed.iter().chain(&phase.forbidden).for_each(&mut *visit);
        let optional = match &phase.optional {
            Optional::When(condition) => Some(condition),
            Optional::No | Optional::Yes => None,
        };
        let own = [phase.requires.as_ref(), phase.done_when.as_ref(), optional].into_iter().flatten();
        let forward = phase.next.iter().filter_map(|edge| edge.when.as_ref());
        let back = phase.back.iter().filter_map(|edge| edge.when.as_ref());
        own.chain(forward).chain(back).for_each(|condition: &Condition| {
            condition.each_call(&mut |test| visit(&test.matcher));
        });
    }
}
