//! Redaction: what the matchers of a policy say about arguments before a record leaves them out (rules 8.6).

use alloc::collections::BTreeMap;

use phasegate_rules::known;

use crate::calls::parts::of as parts_of;
use crate::calls::tool::Call;
use crate::decide::judge::Caller;
use crate::events::event::Event;
use crate::policy::Policy;
use crate::policy::budget::{self, Count};
use crate::policy::matcher::Matcher;
use crate::prelude::*;
use crate::rules::facts_of_parts;
use crate::rules::rule_request::{OfState, RuleCall};
use crate::state::redacted_tests::{Redacted, command_key, digest, part_prefix, sha256_hex, test_key};
use crate::state::rule_answers::RulesSeen;

/// What every matcher of the policy says about these parts of the call's arguments, given as names with dots between
/// them; an empty one is all of them.
pub fn redacted(policy: &Policy, event: &Event, call: &Call, parts: &[String]) -> Redacted {
    let (mut outcomes, mut values) = (BTreeMap::new(), BTreeMap::new());
    let commands = parts_of(call);
    let reads = |path: &str| parts.iter().any(|part| overlap(part, path));
    let mut note = |matcher: &Matcher| {
        for test in matcher.args.iter().filter(|test| reads(&test.path)) {
            outcomes.entry(test_key(test)).or_insert_with(|| test.fits(call));
        }
        for wanted in matcher.commands.iter().filter(|_| reads("command")) {
            let fits = |call: &Call, labels| Matcher::fits_one_command(wanted, call, labels);
            outcomes.entry(command_key(wanted)).or_insert_with(|| fits(call, &call.tool.labels));
            for part in &commands {
                let key = part_prefix(part.number) + command_key(wanted).as_str();
                outcomes.entry(key).or_insert_with(|| fits(&part.call, &part.labels));
            }
        }
    };
    for skill in policy.skills.iter().chain(&policy.earlier) {
        skill.each_matcher(&mut |matcher| note(matcher));
        for selector in skill.selectors() {
            let path = selector.to_string();
            if reads(&path)
                && let Some(found) = selector.values(call)
            {
                values.insert(path, found);
            }
        }
    }
    policy.budgets.iter().flat_map(|budget| &budget.of).for_each(|matcher| matcher.each(&mut |one| note(one)));
    let counts_bytes = policy.budgets.iter().any(|budget| budget.count == Count::Bytes);
    let bytes = counts_bytes.then(|| budget::bytes(call));
    Redacted {
        digest: digest(&call.input),
        sha256: sha256_hex(&call.input),
        outcomes,
        values,
        bytes,
        rules: rules_seen(policy, event, call),
    }
}

/// What the rules say of the arguments.
fn rules_seen(policy: &Policy, event: &Event, call: &Call) -> Option<RulesSeen> {
    let rules = policy.rules.as_deref()?;
    let caller = Caller { agent: event.subagent(), kind: "" };
    let mut seen = RulesSeen::default();
    for level in &rules.levels {
        let (own, state) = (RuleCall::new(&level.tools, call, event, caller), OfState::default());
        let request = own.request(&state);
        seen.parts = request.parts.len();
        seen.known.push(known(&level.rules, &request));
    }
    seen.facts = facts_of_parts::parts(policy, call, event, caller);
    Some(seen)
}

/// Whether one of two names with dots lies in the other.
fn overlap(one: &str, other: &str) -> bool {
    let inside = |outer: &str, inner: &str| {
        outer.is_empty() || inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    inside(one, other) || inside(other, one)
}
