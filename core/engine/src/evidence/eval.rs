//! Conditions held against evidence and facts.

mod open_calls;
mod artifact;
pub(crate) mod written;

use alloc::collections::BTreeSet;

use serde_json::Value;

use crate::answers::phrase;
use crate::calls::outcome::CallOutcome;
use crate::calls::tool::Call;
use crate::decide::Done;
use crate::evidence::artifact::{Follows, faults, first_fault, new_or_changed};
use crate::evidence::condition::{CallTest, Condition, Content, Gate, Truth};
use crate::evidence::fact::{FactKey, FactValue, Facts};
use crate::evidence::missing::Missing;
use crate::policy::input::Instance;
use crate::policy::plan::{Plan, PlanFault, PlanFile};
use crate::policy::steps::Steps;
use crate::policy::{Optional, Phase};
use crate::prelude::*;
use crate::state::{Children, Evidence, OpenCall, OwnFile, Run, State};
use crate::values::glob;

/// What is said of files of which nobody knows which there are.
const UNKNOWN_FILES: &str =
    " (which files there are cannot be told: there is too much to look at, or a link leads there)";

/// What conditions are held against, and which facts they turned out to want.
pub(crate) struct World<'a> {
    facts: &'a Facts,
    /// Gates that count as passed.
    assumed: BTreeSet<Gate>,
    /// The provisional runs with an open call of the phase they are in.
    held: Vec<String>,
    /// The paths that lines may still change.
    open: Vec<String>,
    /// The paths that calls may still write, with those that lines may.
    writing: Vec<String>,
    /// Which call wrote which file last of the artifacts of which each run has its own.
    own_files: Vec<OwnFile>,
    wanted: Vec<FactKey>,
    instances: Vec<Instance>,
}

/// Which evidence of a run counts.
#[derive(Clone, Copy)]
enum Seen<'c> {
    /// That of the present visit of the current phase.
    Here,
    /// All that the run has kept.
    Anywhere,
    /// All that the run has kept, and where a condition compares objects, what is about the same as this call.
    About(&'c Call),
}

impl<'a> World<'a> {
    pub(crate) fn new(facts: &'a Facts) -> Self {
        Self {
            facts,
            assumed: BTreeSet::new(),
            held: Vec::new(),
            open: Vec::new(),
            writing: Vec::new(),
            own_files: Vec::new(),
            wanted: Vec::new(),
            instances: Vec::new(),
        }
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
            Some(FactValue::Known(_)) => Truth::of(given.content.as_ref() == Some(&self.in_run(content, run))),
        }
    }

    /// The value of what has to be as it is; `null` if it is unknown, which nothing is equal to.
    pub(crate) fn now(&mut self, content: &Content) -> Value {
        match self.fact(&content.fact) {
            Some(FactValue::Known(value)) => value,
            None | Some(FactValue::Absent | FactValue::Unknown) => Value::Null,
        }
    }

    /// As `now`: where only what is new or changed counts, that is what changed since a phase that produces it was entered.
    pub(crate) fn in_run(&mut self, content: &Content, run: &Run) -> Value {
        let now = self.now(content);
        self.counting(content, run, now)
    }

    /// Whether a person rejected what the gate is about, in this run, and it is what it was then.
    pub(crate) fn is_rejected(&mut self, gate: &Gate, run: &Run) -> bool {
        let Some(content) = gate.content.as_ref().filter(|_| !run.rejected.is_empty()) else { return false };
        let now = self.in_run(content, run);
        run.rejected.iter().any(|no| no.gate == *gate && no.content.as_ref() == Some(&now))
    }

    /// What counts of a content in a run: what is new or changed since a phase that produces it was entered, and where only
    /// that counts, what a call of the run wrote since.
    fn counting(&self, content: &Content, run: &Run, now: Value) -> Value {
        let Some(atom) = content.since else { return now };
        let entered = newest_of(run, atom, |_| true);
        // What the run's own calls wrote counts, also where the same text was there before.
        let (Some(by), Value::Object(files)) = (content.by, &now) else {
            return new_or_changed(now, entered.map(|entered| entered.as_of.as_ref().unwrap_or(&Value::Null)));
        };
        let since = entered.map_or(run.visit, |entered| entered.visit);
        let of_run = |path: &String| {
            let last = self.own_files.iter().find(|one| one.path == *path);
            run.evidence.iter().any(|one| {
                let of_last = last.is_none_or(|last| one.is_of_call(&last.call));
                one.atom == by && one.visit >= since && one.wrote(path) && of_last
            })
        };
        files.iter().filter(|(path, _)| of_run(path)).map(|(path, digest)| (path.clone(), digest.clone())).collect()
    }

    /// The file of a content that a call of the run wrote, and after it another run's.
    pub(crate) fn rewritten(&self, content: &Content, run: &Run) -> Option<String> {
        let by = content.by?;
        let is_others = |one: &&OwnFile| {
            let mut own = run.evidence.iter().filter(|proof| proof.atom == by && proof.wrote(&one.path)).peekable();
            own.peek().is_some() && !own.any(|proof| proof.is_of_call(&one.call))
        };
        self.own_files.iter().find(is_others).map(|one| one.path.clone())
    }

    /// Whether facts of this source were asked for.
    pub(crate) fn asks(&self, source: &str) -> bool {
        self.facts.keys().any(|key| key.source() == source)
    }

    /// As `in_run`, where it was asked for; `None`: it was not.
    pub(crate) fn seen_in_run(&self, content: &Content, run: &Run) -> Option<Value> {
        let FactValue::Known(now) = self.facts.get(&content.fact)?.value.clone() else { return None };
        Some(self.counting(content, run, now))
    }

    /// Whether what a proof is about is as it was then.
    fn unchanged(&mut self, content: &Content, then: Option<&Value>) -> Truth {
        match then {
            None | Some(Value::Null) => Truth::Unknown,
            Some(_) if self.may_change(content) => Truth::Unknown,
            Some(then) => match self.now(content) {
                Value::Null => Truth::Unknown,
                now => Truth::of(now == *then),
            },
        }
    }

    /// Asks for a skill with values.
    pub(crate) fn want_instance(&mut self, instance: Instance) {
        self.instances.push(instance);
    }

    /// What was asked for and not given, each once: facts, and skills with values.
    pub(crate) fn into_wanted(self) -> (Vec<FactKey>, Vec<Instance>) {
        let (mut wanted, mut instances) = (self.wanted, self.instances);
        wanted.sort();
        wanted.dedup();
        instances.sort();
        instances.dedup();
        (wanted, instances)
    }

    /// Whether the run's current phase is done.
    /// Where the phase consists of other runs, their end decides, and that they left what the phase produces.
    pub(crate) fn done(&mut self, run: &Run, phase: &Phase) -> Done {
        match (run.children, &phase.done_when) {
            _ if run.spent.is_some() || run.halted.is_some() => Done::No,
            (Children::Live | Children::Gate | Children::Failed, _) => Done::No,
            (Children::Finished, _) if self.lacks(run, phase) => Done::No,
            (Children::Finished, _) => Done::Yes,
            (Children::None, _) if phase.run.is_some() => Done::No,
            (Children::None, _) if self.fails(run, phase) => Done::No,
            // The steps of a plan are done whatever else is asked for.
            (Children::None, _) if phase.steps.is_some() && !run.steps.as_ref().is_some_and(Steps::are_done) => {
                Done::No
            }
            (Children::None, None) if phase.steps.is_some() => Done::Yes,
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

    /// Whether the gate of the wave that has ended is passed.
    pub(crate) fn gate_passed(&mut self, run: &Run, phase: &Phase) -> bool {
        let holds = phase.done_when.as_ref().is_none_or(|gate| self.truth(gate, run, Seen::Here).holds());
        holds && !self.fails(run, phase)
    }

    /// Whether the current phase of a run failed, and so is not done: it counts where a rollback edge waits for that, and
    /// where the phase says itself what makes it fail.
    fn fails(&mut self, run: &Run, phase: &Phase) -> bool {
        let goes_back = phase.done_when.is_some() && phase.back.iter().any(|back| back.on_failure);
        let counts = phase.failed_when.is_some() || goes_back;
        counts && self.has_failed(run, phase)
    }

    /// Whether the current phase of a run failed. What is not known of a condition is taken for a failure.
    pub(crate) fn has_failed(&mut self, run: &Run, phase: &Phase) -> bool {
        match &phase.failed_when {
            Some(condition) => self.truth(condition, run, Seen::Here) != Truth::No,
            None => run.failed || self.lacks(run, phase),
        }
    }

    /// Whether the runs that the phase consists of have finished, and what it produces is not there.
    fn lacks(&mut self, run: &Run, phase: &Phase) -> bool {
        let product =
            phase.done_when.as_ref().filter(|_| run.children == Children::Finished && !phase.produces.is_empty());
        product.is_some_and(|product| !self.truth(product, run, Seen::Here).holds())
    }

    /// Whether a condition that is not a `done_when` holds; no condition holds.
    pub(crate) fn holds(&mut self, condition: Option<&Condition>, run: &Run) -> bool {
        condition.is_none_or(|condition| self.truth(condition, run, Seen::Anywhere).holds())
    }

    /// Whether a run may enter the phase: what it requires holds, and its plan can be worked on.
    pub(crate) fn admits(&mut self, run: &Run, phase: &Phase) -> bool {
        self.holds(phase.requires.as_ref(), run)
            && phase.plan().is_none_or(|file| matches!(self.plan(run, file), Some(Ok(_))))
    }

    /// What keeps a run from entering the phase.
    pub(crate) fn missing_to_enter<'p>(&mut self, run: &Run, phase: &'p Phase) -> Missing<'p> {
        let mut missing = match &phase.requires {
            Some(condition) => self.missing_there(run, condition),
            None => Missing::default(),
        };
        if missing.words.is_empty() {
            self.missing_of_plan(run, phase, &mut missing);
        }
        missing
    }

    /// What keeps the plan of a phase from being worked on. Returns whether anything does.
    fn missing_of_plan(&mut self, run: &Run, phase: &Phase, missing: &mut Missing<'_>) -> bool {
        let Some(file) = phase.plan() else { return false };
        let fault = match self.plan(run, file) {
            Some(Ok(_)) => return false,
            Some(Err(fault)) => fault.to_string(),
            None => format!("a plan in `{}` that can be read", file.content.text),
        };
        missing.words.push(fault.clone());
        missing.phrases.push(fault);
        missing.more = true;
        true
    }

    /// The plan as it is now; `None`: it is not known.
    pub(crate) fn plan(&mut self, run: &Run, file: &PlanFile) -> Option<Result<Plan, PlanFault>> {
        let Value::Object(files) = self.in_run(&file.content, run) else { return None };
        if file.format && !files.is_empty() {
            let Some(FactValue::Known(answer)) = self.fact(&follows(run).format(&file.artifact, &files)) else {
                return None;
            };
            if let Some(fault) = first_fault(&faults(&files, &answer)) {
                return Some(Err(PlanFault::of_format(fault)));
            }
        }
        let elements = match self.fact(&file.fact) {
            Some(FactValue::Known(elements)) => elements,
            Some(FactValue::Absent) => Value::Null,
            None | Some(FactValue::Unknown) => return None,
        };
        Some(file.read(&files, &elements))
    }

    /// Whether the condition of a line holds for the call that the line lists.
    pub(crate) fn holds_for(&mut self, condition: &Condition, run: &Run, call: &Call) -> bool {
        self.truth(condition, run, Seen::About(call)).holds()
    }

    /// How true the condition of a line is for a call.
    pub(crate) fn truth_for(&mut self, condition: &Condition, run: &Run, call: &Call) -> Truth {
        self.truth(condition, run, Seen::About(call))
    }

    /// What the condition of a line still wants for the call that the line lists.
    pub(crate) fn missing_for<'p>(&mut self, run: &Run, condition: &'p Condition, call: &Call) -> Missing<'p> {
        let mut missing = Missing::default();
        self.missing(condition, run, Seen::About(call), &mut missing);
        missing
    }

    /// Whether a phase that is not current may be passed over: it is optional, or a person said that it is skipped.
    pub(crate) fn optional(&mut self, run: &Run, phase: &Phase) -> bool {
        if run.is_to_skip(&phase.name) {
            return true;
        }
        match &phase.optional {
            Optional::No | Optional::Never => false,
            Optional::Yes => true,
            Optional::When(condition) => self.truth(condition, run, Seen::Anywhere).holds(),
        }
    }

    /// What the current phase's `done_when` still wants, as call tests and as words.
    pub(crate) fn missing_here<'p>(&mut self, run: &Run, phase: &'p Phase) -> Missing<'p> {
        // A person had the run go on to the phase before there was a plan.
        let mut missing = Missing::default();
        if run.plan.is_none() && self.missing_of_plan(run, phase, &mut missing) {
            return missing;
        }
        missing = Missing::of_runs(phase, run);
        let asked = phase
            .done_when
            .as_ref()
            .filter(|_| phase.run.is_none() || run.children == Children::Gate || self.lacks(run, phase));
        let Some(condition) = asked else { return missing };
        self.missing(condition, run, Seen::Here, &mut missing);
        if let Some(failure) = phase.failed_when.as_ref().filter(|_| self.has_failed(run, phase)) {
            missing.words.push(format!("not {failure}"));
            missing.phrases.push(format!("that this no longer holds: {}", phrase::wanted(failure)));
            missing.more = true;
            return missing;
        }
        if missing.words.is_empty() && self.fails(run, phase) {
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

    // Every fact that could matter is asked for at once. What compares files is asked only where it decides.
    fn truth(&mut self, condition: &Condition, run: &Run, seen: Seen<'_>) -> Truth {
        match condition {
            Condition::All(parts) => cheap_first(parts, Truth::No, |part| self.truth(part, run, seen), Truth::min),
            Condition::Any(parts) => cheap_first(parts, Truth::Yes, |part| self.truth(part, run, seen), Truth::max),
            Condition::Not(inner) => self.truth(inner, run, seen).negated(),
            Condition::Call(test) => match (newest(run, test, seen), &test.unchanged, &test.written) {
                (None, _, _) => Truth::No,
                (Some(_), None, None) => Truth::Yes,
                (Some(evidence), Some(content), _) => self.unchanged(content, evidence.as_of.as_ref()),
                (Some(evidence), None, Some(content)) => self.as_written(content, evidence.as_of.as_ref()),
            },
            Condition::Unchanged(test) => match newest_of(run, test.atom, |one| one.visit == run.visit) {
                // The visit is still to begin, with what is there now.
                None => {
                    let now = self.now(&test.content);
                    self.unchanged(&test.content, Some(&now))
                }
                Some(evidence) => self.unchanged(&test.content, evidence.as_of.as_ref()),
            },
            Condition::Fact(test) => {
                let Some(fact) = self.facts.get(&test.fact) else {
                    self.wanted.push(test.fact.clone());
                    return Truth::Unknown;
                };
                test.truth(fact)
            }
            Condition::Artifact(test) => self.artifact(test, run),
            Condition::Says(test) => Truth::of(newest_of(run, test.atom, |one| one.visit == run.visit).is_some()),
            Condition::Approved(gate) if self.assumed.contains(gate) => Truth::Yes,
            Condition::Approved(gate) => self.passed(gate, run),
        }
    }

    fn missing<'p>(&mut self, condition: &'p Condition, run: &Run, seen: Seen<'_>, out: &mut Missing<'p>) {
        if self.truth(condition, run, seen).holds() {
            return;
        }
        match condition {
            Condition::All(parts) => {
                for part in parts {
                    let (words, phrases) = (out.words.len(), out.phrases.len());
                    self.missing(part, run, seen, out);
                    // While the artifact is not there, that says all.
                    if phrase::written(part, parts).is_some_and(|artifact| !self.truth(artifact, run, seen).holds()) {
                        out.words.truncate(words);
                        out.phrases.truncate(phrases);
                    }
                }
            }
            Condition::Any(parts) => {
                let (first, first_phrase) = (out.words.len(), out.phrases.len());
                parts.iter().for_each(|part| self.missing(part, run, seen, out));
                let words: Vec<String> = out.words.split_off(first);
                out.words.push(words.join(" or "));
                let mut phrases: Vec<String> = out.phrases.split_off(first_phrase);
                phrase::without_approvals(&mut phrases);
                out.phrases.push(phrase::either(&phrases));
            }
            Condition::Call(test) => {
                let then = newest(run, test, seen).and_then(|evidence| evidence.as_of.as_ref());
                let since = match (&test.unchanged, &test.written, then) {
                    (Some(content), _, Some(then)) => self
                        .going_on(content)
                        .unwrap_or_else(|| since(&content.text, self.unchanged(content, Some(then)))),
                    (None, Some(content), Some(then)) => self.not_as_written(content, then),
                    _ => String::new(),
                };
                let about = if let Seen::About(call) = seen { phrase::about(&test.same, call) } else { String::new() };
                out.calls.push(test);
                out.words.push(format!("{condition}{about}{since}"));
                out.phrases.push(format!("{}{about}{since}", phrase::wanted(condition)));
            }
            Condition::Approved(gate) => {
                let before = run.approvals.iter().any(|approval| approval.gate == *gate);
                let since = if before { ", which changed since it was approved" } else { "" };
                out.words.push(format!("{condition}{since}"));
                out.phrases.push(format!("{}{since}", phrase::wanted(condition)));
                out.gates.push(gate);
            }
            Condition::Artifact(test) => self.missing_artifact(condition, test, run, out),
            Condition::Not(_) | Condition::Fact(_) | Condition::Unchanged(_) | Condition::Says(_) => {
                out.words.push(condition.to_string());
                out.phrases.push(phrase::wanted(condition));
                out.more = true;
            }
        }
    }
}

fn follows(run: &Run) -> Follows<'_> {
    Follows { skill: &run.skill, version: &run.version }
}

/// The proof of a condition by the newest visit in which it was proven.
fn newest<'r>(run: &'r Run, test: &CallTest, seen: Seen<'_>) -> Option<&'r Evidence> {
    let mine: Vec<Vec<String>> = match seen {
        Seen::Here | Seen::Anywhere if !test.same.is_empty() => return None,
        Seen::Here => return newest_of(run, test.atom, |one| one.visit == run.visit),
        Seen::Anywhere => return newest_of(run, test.atom, |_| true),
        Seen::About(call) => test.same.iter().map(|same| same.mine.values(call)).collect::<Option<_>>()?,
    };
    newest_of(run, test.atom, |one| one.covers(&mine))
}

fn newest_of(run: &Run, atom: u32, counts: impl Fn(&Evidence) -> bool) -> Option<&Evidence> {
    run.evidence.iter().filter(|one| one.atom == atom && counts(one)).max_by_key(|one| one.visit)
}

/// Joins the truths of parts: those that compare files last, and only if the others do not settle it.
fn cheap_first(
    parts: &[Condition],
    settled: Truth,
    mut ask: impl FnMut(&Condition) -> Truth,
    join: fn(Truth, Truth) -> Truth,
) -> Truth {
    let mut truth = settled.negated();
    for dear in [false, true] {
        for part in parts.iter().filter(|part| part.compares_files() == dear) {
            if dear && truth == settled {
                return truth;
            }
            truth = join(truth, ask(part));
        }
    }
    truth
}

/// What a proof lacks that holds no more, or may hold no more.
fn since(files: &str, unchanged: Truth) -> String {
    match unchanged {
        Truth::Yes => String::new(),
        Truth::No => format!(", as {} changed since the last one", glob::quoted(files)),
        Truth::Unknown => {
            let files = glob::quoted(files);
            format!(", as it cannot be told whether {files} changed since the last one (it is too much to look at)")
        }
    }
}

/// The texts of a list of matchers.
pub(crate) fn texts(matchers: &[crate::policy::matcher::Matcher]) -> Vec<String> {
    matchers.iter().map(|matcher| matcher.text.to_string()).collect()
}
