//! Conditions held against evidence and facts.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::condition::{CallTest, Condition, Gate, Truth};
use crate::decide::Done;
use crate::fact::{FactKey, FactValue, Facts};
use crate::matcher::Use;
use crate::outcome::CallOutcome;
use crate::phrase;
use crate::policy::{Optional, Phase, Skill};
use crate::state::{Children, OpenCall, Run, State};

/// What conditions are held against, and which facts they turned out to want.
pub(crate) struct World<'a> {
    facts: &'a Facts,
    /// Gates that count as passed.
    assumed: BTreeSet<Gate>,
    /// The provisional runs with an open call of the phase they are in.
    held: Vec<String>,
    wanted: Vec<FactKey>,
}

/// Which evidence of a run counts.
#[derive(Clone, Copy)]
enum Seen {
    /// That of the present visit of the current phase.
    Here,
    /// All that the run has kept.
    Anywhere,
}

impl<'a> World<'a> {
    pub(crate) fn new(facts: &'a Facts) -> Self {
        Self { facts, assumed: BTreeSet::new(), held: Vec::new(), wanted: Vec::new() }
    }

    /// Takes note of the provisional runs whose phase has an open call: such a phase forbids what it forbids.
    pub(crate) fn hold(&mut self, state: &State) {
        let of = |run: &Run, call: &OpenCall| {
            call.visits.iter().any(|visit| visit.run == run.id && visit.visit == run.visit && visit.listed)
        };
        let held = |run: &&Run| state.session.calls.iter().any(|call| of(run, call));
        self.held =
            state.live_runs().filter(|run| run.provisional.is_some()).filter(held).map(|run| run.id.clone()).collect();
    }

    /// Whether an open call holds the run in its provisional phase.
    pub(crate) fn holds_provisional(&self, run: &Run) -> bool {
        self.held.contains(&run.id)
    }

    /// What `ask` answers if these gates count as passed.
    pub(crate) fn assuming<T>(&mut self, gates: BTreeSet<Gate>, ask: impl FnOnce(&mut Self) -> T) -> T {
        let before = core::mem::replace(&mut self.assumed, gates);
        let answer = ask(self);
        self.assumed = before;
        answer
    }

    /// The value of a fact, which is asked for if it is not known.
    pub(crate) fn fact(&mut self, key: &FactKey) -> Option<FactValue> {
        let known = self.facts.get(key).map(|fact| fact.value.clone());
        if known.is_none() {
            self.wanted.push(key.clone());
        }
        known
    }

    /// Whether a person approved what the gate names, in this run, and it is what it was then.
    pub(crate) fn passed(&mut self, gate: &Gate, run: &Run) -> Truth {
        let Some(given) = run.approvals.iter().find(|approval| approval.gate == *gate) else { return Truth::No };
        let Some(content) = &gate.content else { return Truth::Yes };
        match self.fact(&content.fact) {
            None | Some(FactValue::Unknown) => Truth::Unknown,
            Some(FactValue::Absent) => Truth::No,
            Some(FactValue::Known(value)) => Truth::of(given.content.as_ref() == Some(&value)),
        }
    }

    /// The facts that were asked for and not given, each once.
    pub(crate) fn into_wanted(self) -> Vec<FactKey> {
        let mut wanted = self.wanted;
        wanted.sort();
        wanted.dedup();
        wanted
    }

    /// Whether the run's current phase is done.
    /// Where the phase consists of other runs, their end decides.
    pub(crate) fn done(&mut self, run: &Run, phase: &Phase) -> Done {
        match (run.children, &phase.done_when) {
            (Children::Live | Children::Failed, _) => Done::No,
            (Children::Finished, _) => Done::Yes,
            (Children::None, Some(_)) if failed(run, phase) => Done::No,
            (Children::None, None) => Done::NotAsked,
            (Children::None, Some(condition)) => {
                if self.truth(condition, run, Seen::Here).holds() {
                    Done::Yes
                } else {
                    Done::No
                }
            }
        }
    }

    /// Whether a condition that is not a `done_when` holds; no condition holds.
    pub(crate) fn holds(&mut self, condition: Option<&Condition>, run: &Run) -> bool {
        condition.is_none_or(|condition| self.truth(condition, run, Seen::Anywhere).holds())
    }

    /// Whether a phase that is not current may be passed over because it is optional.
    pub(crate) fn optional(&mut self, run: &Run, phase: &Phase) -> bool {
        match &phase.optional {
            Optional::No => false,
            Optional::Yes => true,
            Optional::When(condition) => self.truth(condition, run, Seen::Anywhere).holds(),
        }
    }

    /// What the current phase's `done_when` still wants, as call tests and as words.
    pub(crate) fn missing_here<'p>(&mut self, run: &Run, phase: &'p Phase) -> Missing<'p> {
        let mut missing = Missing::default();
        let Some(condition) = &phase.done_when else { return missing };
        self.missing(condition, run, Seen::Here, &mut missing);
        if missing.words.is_empty() && failed(run, phase) {
            condition.each_call(&mut |test| {
                if test.wanted.accepts(CallOutcome::Ok) {
                    missing.calls.push(test);
                }
            });
            missing.words.push(format!("{condition}, as the last one failed"));
            missing.phrases.push(format!("{}, as the last one failed", phrase::wanted(condition)));
        }
        missing
    }

    /// What a condition elsewhere still wants.
    pub(crate) fn missing_there<'p>(&mut self, run: &Run, condition: &'p Condition) -> Missing<'p> {
        let mut missing = Missing::default();
        self.missing(condition, run, Seen::Anywhere, &mut missing);
        missing
    }

    // No short cut: every fact that could matter is asked for at once.
    fn truth(&mut self, condition: &Condition, run: &Run, seen: Seen) -> Truth {
        match condition {
            Condition::All(parts) => parts.iter().fold(Truth::Yes, |all, part| all.min(self.truth(part, run, seen))),
            Condition::Any(parts) => parts.iter().fold(Truth::No, |any, part| any.max(self.truth(part, run, seen))),
            Condition::Not(inner) => self.truth(inner, run, seen).negated(),
            Condition::Call(test) => Truth::of(has_evidence(run, test, seen)),
            Condition::Fact(test) => {
                let Some(fact) = self.facts.get(&test.fact) else {
                    self.wanted.push(test.fact.clone());
                    return Truth::Unknown;
                };
                test.truth(fact)
            }
            Condition::Approved(gate) if self.assumed.contains(gate) => Truth::Yes,
            Condition::Approved(gate) => self.passed(gate, run),
        }
    }

    fn missing<'p>(&mut self, condition: &'p Condition, run: &Run, seen: Seen, out: &mut Missing<'p>) {
        if self.truth(condition, run, seen).holds() {
            return;
        }
        match condition {
            Condition::All(parts) => parts.iter().for_each(|part| self.missing(part, run, seen, out)),
            Condition::Any(parts) => {
                let (first, first_phrase) = (out.words.len(), out.phrases.len());
                parts.iter().for_each(|part| self.missing(part, run, seen, out));
                let words: Vec<String> = out.words.split_off(first);
                out.words.push(words.join(" or "));
                let phrases: Vec<String> = out.phrases.split_off(first_phrase);
                out.phrases.push(phrase::either(&phrases));
            }
            Condition::Call(test) => {
                out.calls.push(test);
                out.words.push(condition.to_string());
                out.phrases.push(phrase::wanted(condition));
            }
            Condition::Approved(gate) => {
                let before = run.approvals.iter().any(|approval| approval.gate == *gate);
                let since = if before { ", which changed since it was approved" } else { "" };
                out.words.push(format!("{condition}{since}"));
                out.phrases.push(format!("{}{since}", phrase::wanted(condition)));
                out.gates.push(gate);
            }
            Condition::Not(_) | Condition::Fact(_) => {
                out.words.push(condition.to_string());
                out.phrases.push(phrase::wanted(condition));
                out.more = true;
            }
        }
    }
}

/// What keeps a condition from holding.
#[derive(Default)]
pub(crate) struct Missing<'p> {
    /// The calls whose outcome would help.
    pub(crate) calls: Vec<&'p CallTest>,
    /// What a person is to approve.
    pub(crate) gates: Vec<&'p Gate>,
    /// Whether something else is missing too.
    pub(crate) more: bool,
    /// The parts that do not hold, in the words of a config.
    pub(crate) words: Vec<String>,
    /// The same as phrases.
    pub(crate) phrases: Vec<String>,
}

impl Missing<'_> {
    /// Whether nothing but a person's word is missing.
    pub(crate) fn is_persons(&self) -> bool {
        !self.gates.is_empty() && self.calls.is_empty() && !self.more
    }
}

/// Whether the current phase of a run failed, which counts where a rollback edge waits for that.
fn failed(run: &Run, phase: &Phase) -> bool {
    run.failed && phase.back.iter().any(|back| back.on_failure)
}

fn has_evidence(run: &Run, test: &CallTest, seen: Seen) -> bool {
    run.evidence
        .iter()
        .any(|evidence| evidence.atom == test.atom && (matches!(seen, Seen::Anywhere) || evidence.visit == run.visit))
}

/// Calls `visit` with every call test that a call decided in phase `here` can prove: those of the phase's own
/// `done_when`, and those of the conditions that look at the whole run.
pub(crate) fn each_call<'s>(skill: &'s Skill, here: usize, visit: &mut dyn FnMut(&'s CallTest, Use)) {
    for (index, phase) in skill.phases.iter().enumerate() {
        let optional = match &phase.optional {
            Optional::When(condition) => Some(&**condition),
            Optional::No | Optional::Yes => None,
        };
        let done = phase.done_when.as_ref().filter(|_| index == here);
        let edges = phase.next.iter().filter_map(|edge| edge.when.as_ref());
        let backs = phase.back.iter().filter_map(|back| back.when.as_ref());
        let conditions = phase.requires.iter().chain(done).chain(optional).chain(edges).chain(backs);
        conditions.for_each(|condition| condition.each_use(Use::Permit, visit));
    }
}

/// The texts of a list of matchers.
pub(crate) fn texts(matchers: &[crate::matcher::Matcher]) -> Vec<String> {
    matchers.iter().map(|matcher| matcher.text.to_string()).collect()
}
