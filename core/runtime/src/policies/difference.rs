//! In what one set of configs differs from another: whether it only asks for more, and in words.

use phasegate_core::policy::{Mode, Policy, Skill};
use phasegate_core::rules::RuleLevel;

use crate::policies::policy_store::{Current, KeptSettings, Ready, summary};
use crate::policies::strength::Strength;

/// Whether what is `now` asks for all that was asked for `before`, and at most for more, as far as that can be proved: by
/// what is equal, and by what can only forbid.
pub(crate) fn only_asks_for_more(now: &Current, before: &Current) -> bool {
    match (now, before) {
        (Current::Ready(now), Current::Ready(before)) => {
            settings_only_ask_for_more(&now.settings, &before.settings)
                && policy_only_asks_for_more(&now.policy, &before.policy)
        }
        (Current::Ready(now), Current::Unguarded) => {
            settings_only_ask_for_more(&now.settings, &KeptSettings::default())
                && policy_only_asks_for_more(&now.policy, &Policy::default())
        }
        _ => false,
    }
}

fn settings_only_ask_for_more(now: &KeptSettings, before: &KeptSettings) -> bool {
    let same = KeptSettings { mode: before.mode, distrust_repository: before.distrust_repository, ..now.clone() };
    same == *before && now.mode >= before.mode && now.distrust_repository >= before.distrust_repository
}

fn policy_only_asks_for_more(now: &Policy, before: &Policy) -> bool {
    let rest = Policy {
        version: before.version.clone(),
        skills: before.skills.clone(),
        rules: before.rules.clone(),
        mode: before.mode,
        ..now.clone()
    };
    let levels = |policy: &Policy| policy.rules.as_ref().map(|rules| rules.levels.clone()).unwrap_or_default();
    rest == *before
        && now.mode >= before.mode
        && before.skills.iter().all(|was| now.skill(&was.name).is_some_and(|is| is_as_strict(is, was)))
        && now.skills.iter().all(|skill| before.skill(&skill.name).is_some() || only_forbids(skill, before))
        && rules_only_forbid_more(&levels(now), &levels(before))
}

/// The same skill, in a mode that is not weaker.
fn is_as_strict(is: &Skill, was: &Skill) -> bool {
    is.mode >= was.mode && Skill { mode: was.mode, version: was.version.clone(), ..is.clone() } == *was
}

/// A skill beside others can only forbid, if it says nothing of tools and no invocation of another means it.
fn only_forbids(skill: &Skill, before: &Policy) -> bool {
    let speaks = |skill: &Skill| !skill.tools.is_empty();
    !speaks(skill) && !skill.children.iter().any(speaks) && before.invoked(&skill.name).is_none()
}

fn rules_only_forbid_more(now: &[RuleLevel], before: &[RuleLevel]) -> bool {
    if before.is_empty() {
        return now.iter().all(|level| level.tools.is_empty());
    }
    let pairs = || now.iter().zip(before);
    now.len() == before.len()
        && pairs().all(|(now, before)| {
            let (is, was) = (&now.rules, &before.rules);
            is.default == was.default
                && now.tools == before.tools
                && now.facts == before.facts
                && was.rules().iter().all(|rule| is.rules().contains(rule))
                && is.rules().iter().all(|rule| rule.forbids.is_some() || was.rules().contains(rule))
        })
}

/// In what the configs of `now` differ from those of `before`, each as a fragment; never empty.
pub(crate) fn difference(now: &Current, before: &Current) -> Vec<String> {
    let (now, before) = match (now, before) {
        (Current::Ready(now), Current::Ready(before)) => (now, before),
        (Current::Ready(now), _) => return named(now),
        (Current::Invalid { diagnostics, .. }, _) => return vec![summary(diagnostics)],
        (Current::Unguarded, _) => return vec!["the files are gone".to_owned()],
    };
    let strength = |ready: &Ready| Strength::of(ready, None);
    let (is, was) = (strength(now), strength(before));
    let mut found = is.less_than(&was);
    found.extend(is.more_than(&was));
    for skill in &now.policy.skills {
        let name = format!("skill `{}` ", skill.name);
        let other = before.policy.skill(&skill.name).is_some_and(|before| before.version != skill.version);
        if other && !found.iter().any(|said| said.starts_with(&name)) {
            found.push(format!("{name}is another"));
        }
    }
    let (is, was) = (&now.policy, &before.policy);
    if is.rules != was.rules {
        found.push("the rules are others".to_owned());
    }
    let settings = |ready: &Ready| KeptSettings { mode: None, programs: Default::default(), ..ready.settings.clone() };
    let rest = |of: &Policy| Policy {
        version: String::new(),
        skills: Vec::new(),
        rules: None,
        mode: None,
        approve: Default::default(),
        ..of.clone()
    };
    if settings(now) != settings(before) || rest(is) != rest(was) || found.is_empty() {
        found.push("the settings are others".to_owned());
    }
    found
}

fn named(ready: &Ready) -> Vec<String> {
    let mode = (ready.strictest() == Mode::Block).then(|| "block mode is new".to_owned());
    let skills = ready.policy.skills.iter().map(|skill| format!("skill `{}` is new", skill.name));
    let mut all: Vec<String> = mode.into_iter().chain(skills).collect();
    if all.is_empty() {
        all.push("the settings are others".to_owned());
    }
    all
}

/// What a person does about configs that wait and mean this.
pub(crate) fn way(now: &Current) -> &'static str {
    match now {
        Current::Ready(_) => {
            "To accept them, type `/phasegate reload`, or run `phasegate reload` in a terminal. If nobody meant this \
             change, restore the files."
        }
        Current::Unguarded => "Restore the files. `phasegate init --undo` ends the guard.",
        Current::Invalid { .. } => {
            "Restore the files, or correct what `phasegate check` lists and then run `phasegate reload`."
        }
    }
}
