//! Versions: the hash of what was compiled, not of how it was written.

use phasegate_core::policy::{Approve, ChangedTools, Policy, Skill};
use phasegate_core::values::canonical::Sorted;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The lists whose order changes no decision.
const UNORDERED: [&str; 4] = ["allowed", "forbidden", "global_forbidden", "tools"];

/// Gives every skill and the policy their versions. Call it again after any change.
pub(crate) fn stamp(policy: &mut Policy) {
    policy.skills.sort_by(|a, b| a.name.cmp(&b.name));
    policy.skills.iter_mut().for_each(stamp_skill);
    let names: Vec<(&str, &str)> =
        policy.skills.iter().map(|skill| (skill.name.as_str(), skill.version.as_str())).collect();
    policy.version = match (policy.changed_tools, policy.approve) {
        (ChangedTools::Report, Approve::Never) => digest(&names),
        (strict @ ChangedTools::Deny, Approve::Never) => digest(&(names, strict)),
        (changed, approve @ Approve::Reads) => digest(&(names, changed, approve)),
    };
    if !policy.safety.is_default() {
        policy.version = digest(&(&policy.version, &policy.safety));
    }
    if !policy.access.is_normal() || !policy.budgets.is_empty() {
        policy.version = digest(&(&policy.version, policy.access, &policy.budgets));
    }
    if let Some(rules) = &policy.rules {
        policy.version = digest(&(&policy.version, rules));
    }
    if let Some(mode) = policy.mode {
        policy.version = digest(&(&policy.version, mode));
    }
}

/// Gives a skill and those that it runs their versions.
pub(crate) fn stamp_skill(skill: &mut Skill) {
    skill.children.iter_mut().for_each(stamp_skill);
    skill.version = of_skill(skill);
}

/// The version of one skill: the digest of its content, whatever version it says it has.
pub fn of_skill(skill: &Skill) -> String {
    let mut value = serde_json::to_value(skill).unwrap_or_default();
    if let Some(map) = value.as_object_mut() {
        map.remove("version");
    }
    sort_unordered(&mut value);
    hash(Sorted(&value).to_string().as_bytes())
}

fn digest(content: &impl Serialize) -> String {
    hash(&serde_json::to_vec(content).unwrap_or_default())
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sort_unordered(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map.iter_mut() {
                if let Value::Array(items) = inner
                    && UNORDERED.contains(&key.as_str())
                {
                    items.sort_by_cached_key(|item| Sorted(item).to_string());
                }
                sort_unordered(inner);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(sort_unordered),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
