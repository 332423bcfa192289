//! Denial reasons: their texts are pinned, and what is written is read again.
#![allow(
    clippy::unwrap_used,
    clippy::too_many_lines,
    reason = "a test says what is wrong by failing, and data is long"
)]

use phasegate_core::DenialKind;
use phasegate_core::answers::reason::{DenialReason, Resets};
use proptest::prelude::*;
use proptest::strategy::Union;

/// Each kind with its canonical JSON, its sentence and its code. The texts are ours; a change of one is a change for whoever reads them.
fn pinned() -> Vec<(DenialReason, &'static str, &'static str, &'static str)> {
    let budget = |resets: Option<Resets>| DenialReason::budget("edits an hour", 20, 21, resets);
    vec![
        (
            DenialReason::no_rule_matched(),
            r#"{"kind":"no_rule_matched"}"#,
            "no rule permits this call",
            "no-rule-matched",
        ),
        (
            budget(None),
            r#"{"kind":"budget","limit":"20","observed":"21","which":"edits an hour"}"#,
            "the budget \"edits an hour\" is spent: with this call it would be 21 of at most 20",
            "budget-spent",
        ),
        (
            budget(Some(Resets::At(1_700_000_000_000))),
            r#"{"kind":"budget","limit":"20","observed":"21","resets":"1700000000000","which":"edits an hour"}"#,
            "the budget \"edits an hour\" is spent: with this call it would be 21 of at most 20; it resets at 2023-11-14 22:13:20 UTC",
            "budget-spent",
        ),
        (
            budget(Some(Resets::Phase)),
            r#"{"kind":"budget","limit":"20","observed":"21","resets":"phase","which":"edits an hour"}"#,
            "the budget \"edits an hour\" is spent: with this call it would be 21 of at most 20; it resets when the phase is left",
            "budget-spent",
        ),
        (
            DenialReason::effect_invariant_violated("balance"),
            r#"{"invariant":"balance","kind":"effect_invariant_violated"}"#,
            "an effect would violate the invariant \"balance\"",
            "effect-invariant-violated",
        ),
        (
            DenialReason::axiom_violation("AX-01"),
            r#"{"axiom_id":"AX-01","kind":"axiom_violation"}"#,
            "the call violates axiom AX-01",
            "axiom-violation",
        ),
        (
            DenialReason::policy("P1", "x"),
            r#"{"kind":"policy","policy_id":"P1","policy_reason":"x"}"#,
            "policy P1 denies the call: x",
            "policy-denied",
        ),
        (
            DenialReason::rule_version_mismatch("sha256:a", "sha256:b"),
            r#"{"actual":"sha256:b","expected":"sha256:a","kind":"rule_version_mismatch"}"#,
            "the rules have changed: the request is for version sha256:a, the rules have version sha256:b",
            "rule-version-mismatch",
        ),
        (
            DenialReason::ambiguous_ruleset(),
            r#"{"kind":"ambiguous_ruleset"}"#,
            "several rules match the call, and none comes first",
            "ambiguous-ruleset",
        ),
        (
            DenialReason::rule_rejected("R", "denied_by_rule"),
            r#"{"kind":"rule_rejected","rule_name":"R","rule_reason":"denied_by_rule"}"#,
            "rule R denies the call: denied_by_rule",
            "rule-rejected",
        ),
    ]
}

#[test]
fn each_kind_has_its_json_its_sentence_and_its_code() {
    let mut kinds: Vec<&str> = Vec::new();
    for (reason, json, sentence, code) in pinned() {
        assert_eq!(reason.canonical(), json);
        assert_eq!(DenialReason::parse(json).as_ref(), Ok(&reason));
        assert_eq!(reason.to_string(), sentence);
        assert!(json.contains(&format!(r#""kind":"{}""#, reason.kind())));
        kinds.push(reason.kind());
        assert_eq!(DenialKind::Admission(Box::new(reason)).code().id(), code);
    }
    kinds.dedup();
    assert_eq!(kinds, DenialReason::KINDS);
}

#[test]
fn what_is_not_a_reason_is_refused() {
    for wrong in [
        "",
        "[]",
        "{}",
        r#"{"kind":"other"}"#,
        r#"{"kind":"no_rule_matched","more":"x"}"#,
        r#"{"kind":"ambiguous_ruleset","kind":"ambiguous_ruleset"}"#,
        r#"{"kind":"axiom_violation"}"#,
        r#"{"kind":"axiom_violation","axiom_id":1}"#,
        r#"{"kind":"policy","policy_id":"P1"}"#,
        r#"{"kind":"policy","policy_id":"P1","policy_reason":"x","policy_reason":"y"}"#,
        r#"{"kind":"policy","policy_id":"P1","policy_reason":"x","extra":"y"}"#,
        r#"{"kind":"budget","which":"x","limit":1,"observed":"2"}"#,
        r#"{"kind":"budget","which":"x","limit":"01","observed":"2"}"#,
        r#"{"kind":"budget","which":"x","limit":"+1","observed":"2"}"#,
        r#"{"kind":"budget","which":"x","limit":"1","observed":"-2"}"#,
        r#"{"kind":"budget","which":"x","limit":"1","observed":"18446744073709551616"}"#,
        r#"{"kind":"budget","which":"x","limit":"1","observed":"2","resets":"soon"}"#,
        r#"{"kind":"rule_rejected","rule_name":"R","rule_reason":"x"} "x""#,
    ] {
        assert!(DenialReason::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_denial_stays_small() {
    assert!(size_of::<DenialKind>() < 128, "{}", size_of::<DenialKind>());
}

fn reasons() -> Union<BoxedStrategy<DenialReason>> {
    let text = any::<String>;
    let resets =
        prop_oneof![Just(Resets::Phase), Just(Resets::Session), Just(Resets::Never), any::<u64>().prop_map(Resets::At)];
    let budget = (text(), any::<u64>(), any::<u64>(), proptest::option::of(resets))
        .prop_map(|(which, limit, observed, resets)| DenialReason::Budget { which, limit, observed, resets });
    Union::new([
        Just(DenialReason::NoRuleMatched {}).boxed(),
        Just(DenialReason::AmbiguousRuleset {}).boxed(),
        budget.boxed(),
        text().prop_map(|invariant| DenialReason::EffectInvariantViolated { invariant }).boxed(),
        text().prop_map(|axiom_id| DenialReason::AxiomViolation { axiom_id }).boxed(),
        (text(), text())
            .prop_map(|(policy_id, policy_reason)| DenialReason::Policy { policy_id, policy_reason })
            .boxed(),
        (text(), text()).prop_map(|(expected, actual)| DenialReason::RuleVersionMismatch { expected, actual }).boxed(),
        (text(), text())
            .prop_map(|(rule_name, rule_reason)| DenialReason::RuleRejected { rule_name, rule_reason })
            .boxed(),
    ])
}

proptest! {
    #[test]
    fn a_reason_is_read_as_it_was_written(reason in reasons()) {
        let json = reason.canonical();
        prop_assert_eq!(DenialReason::parse(&json), Ok(reason.clone()));
        // Keys are sorted, and nothing stands between them.
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        let sorted: std::collections::BTreeMap<_, _> = value.as_object().unwrap().iter().collect();
        prop_assert_eq!(serde_json::to_string(&sorted).unwrap(), json);
        prop_assert!(!reason.render().is_empty());
    }
}
