//! Verdicts: the one answer to all events of a frame.

use phasegate_core::state::Obligation;
use phasegate_core::{Decision, Effect, Outcome, RunPosition};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The combined answer to a frame. The driver computes it once, and every codec renders the same one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The strictest decision among the frame's events; of equally strict ones the last. `None` if no event asked for one.
    pub decision: Option<Decision>,
    /// The decisions that let a call through with a warning, in the order of the events.
    pub warnings: Vec<Decision>,
    /// What the agent must be told, each obligation once.
    pub obligations: Vec<Obligation>,
    /// The answer of the control command that the frame gave, or what the person is told when a session starts.
    pub result: Option<Value>,
    /// The live runs after the frame; `None` if the session and its project never had a run.
    pub runs: Option<Vec<RunPosition>>,
}

impl Verdict {
    /// Combines the outcomes of a frame's events, in their order.
    #[must_use]
    pub fn of(outcomes: &[Outcome]) -> Self {
        let decisions = || outcomes.iter().filter_map(|outcome| outcome.decision.as_ref());
        let warnings = decisions().filter(|decision| decision.effect == Effect::Warn);
        let mut obligations: Vec<Obligation> = Vec::new();
        for obligation in outcomes.iter().flat_map(|outcome| &outcome.obligations) {
            if !obligations.iter().any(|known| known.id == obligation.id) {
                obligations.push(obligation.clone());
            }
        }
        Self {
            decision: decisions().max_by_key(|decision| decision.effect).cloned(),
            warnings: warnings.cloned().collect(),
            obligations,
            result: outcomes.iter().find_map(|outcome| outcome.result.clone()),
            runs: outcomes.last().and_then(Outcome::positions),
        }
    }

    /// The decision, if it keeps the call from running now: a denial or a question.
    #[must_use]
    pub fn denial(&self) -> Option<&Decision> {
        self.decision.as_ref().filter(|decision| !decision.lets_through())
    }

    /// What the person is told: what a control command answers to who gave it, or what a session starts with.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.result.as_ref()?.get("text")?.as_str()
    }
}

#[cfg(test)]
mod tests {
    use phasegate_core::answers::code::Code;
    use phasegate_core::answers::decision::Gate;
    use phasegate_core::state::ObligationKind;
    use phasegate_core::{Decision, Effect, Outcome};
    use serde_json::json;

    use super::Verdict;
    use phasegate_core::state::Obligation;

    fn step(effect: Option<Effect>, told: &[&str]) -> Outcome {
        let obligation = |id: &&str| Obligation {
            id: (*id).to_owned(),
            kind: ObligationKind::Context((*id).to_owned()),
            given: 0,
            call: None,
        };
        Outcome {
            decision: effect.map(|effect| match effect {
                Effect::Allow => Decision::allow(),
                _ => Decision::problem(effect, Gate::Phase, Code::PhaseForbidden, effect.word().to_owned()),
            }),
            obligations: told.iter().map(obligation).collect(),
            ..Outcome::default()
        }
    }

    fn of(effects: &[Option<Effect>]) -> (Option<Effect>, bool, usize) {
        let steps: Vec<Outcome> = effects.iter().map(|effect| step(*effect, &[])).collect();
        let verdict = Verdict::of(&steps);
        (verdict.decision.as_ref().map(|decision| decision.effect), verdict.denial().is_some(), verdict.warnings.len())
    }

    #[test]
    fn the_strictest_decision_wins_wherever_it_stands() {
        use Effect::{Allow, Ask, Deny, Warn};
        assert_eq!(of(&[]), (None, false, 0));
        assert_eq!(of(&[None]), (None, false, 0));
        assert_eq!(of(&[Some(Allow), None]), (Some(Allow), false, 0));
        for effects in [[Some(Warn), Some(Allow), Some(Deny)], [Some(Deny), Some(Allow), Some(Warn)]] {
            assert_eq!(of(&effects), (Some(Deny), true, 1));
        }
        assert_eq!(of(&[Some(Ask), Some(Warn), Some(Warn)]), (Some(Ask), true, 2));
        assert_eq!(of(&[Some(Warn), None, Some(Allow)]), (Some(Warn), false, 1));
    }

    #[test]
    fn obligations_are_given_once_and_the_first_result_counts() {
        let mut steps = [step(None, &["a", "b"]), step(Some(Effect::Allow), &["b", "c"])];
        steps[1].result = Some(json!({"text": "done"}));
        let verdict = Verdict::of(&steps);
        let ids: Vec<&str> = verdict.obligations.iter().map(|one| one.id.as_str()).collect();
        assert_eq!((ids, verdict.text()), (vec!["a", "b", "c"], Some("done")));
        assert_eq!(verdict.runs, None);
    }
}
