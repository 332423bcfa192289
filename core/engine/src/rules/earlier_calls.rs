//! Earlier calls, as facts of rules ask for them (rules 4.10): what a fact is at a part of a call, and what the call adds.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::OnceCell;

use phasegate_rules::{Facts, Value};

use crate::calls::exit_status::Status;
use crate::calls::outcome::CallOutcome;
use crate::calls::tool::Call;
use crate::decide::judge::Caller;
use crate::events::event::{Event, EventKind};
use crate::evidence::condition::{ReportWanted, TestsResult, Wanted};
use crate::policy::{Policy, Scope};
use crate::rules::fact_part::FactPart;
use crate::rules::facts_of_parts::{MAX_PARTS, facts, levels, parts};
use crate::rules::rule_fact::{AskedOfCalls, RuleFact};
use crate::state::State;
use crate::state::call_counts::{CountedCall, Dropped, FactChange, KeptFacts};
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::open_call::{Began, GOES_ON, OpenCall};

/// The most parts of a call whose tests are looked at when it ends.
const MAX_TESTS: usize = 64;

/// What is known of the calls before one that is decided.
#[derive(Debug)]
pub(crate) struct EarlierCalls<'a> {
    policy: &'a Policy,
    state: &'a State,
    event: &'a Event,
    call: &'a Call,
    caller: Caller<'a>,
    /// The parts of the call, once a fact asks for those that stand before one.
    parts: OnceCell<Vec<FactPart>>,
}

impl<'a> EarlierCalls<'a> {
    pub(crate) fn new(
        policy: &'a Policy,
        state: &'a State,
        event: &'a Event,
        call: &'a Call,
        caller: Caller<'a>,
    ) -> Self {
        Self { policy, state, event, call, caller, parts: OnceCell::new() }
    }

    /// The parts of the same call that stand before one: they have happened by then.
    fn before(&self, part: usize) -> &[FactPart] {
        if part == 0 {
            return &[];
        }
        let parts = self.parts.get_or_init(|| parts(self.policy, self.call, self.event, self.caller));
        parts.get(..part).unwrap_or(parts)
    }
}

impl Facts for EarlierCalls<'_> {
    fn value(&self, key: &str, part: usize) -> Option<Value<'static>> {
        let fact = levels(self.policy).flat_map(|level| &level.facts).find(|fact| fact.key == key)?;
        let kept = half(self.state, fact.scope);
        let now = time(self.event, kept);
        let before = self.before(part);
        // A call whose process is gone no longer runs; whether it ran to its end, nobody knows.
        let runs = matches!(fact.asks, AskedOfCalls::Running(_));
        let gone = if runs { &*self.call.analysis.gone } else { &[] };
        let known = kept.facts.get(key).map_or(Some(0), |calls| calls.count(now, fact.within, gone));
        if part > MAX_PARTS {
            return Some(Value::Unknown);
        }
        let is_meant = |part: &&FactPart| part.meant.iter().any(|meant| meant == key);
        Some(match (&fact.asks, known) {
            (AskedOfCalls::Passed { unchanged: true }, _) if before.iter().any(|part| part.changes) => {
                Value::Bool(false)
            }
            (_, None) => Value::Unknown,
            // What stands before in such a line may go on, too.
            (AskedOfCalls::Running(_), Some(0)) => {
                Value::Bool(self.call.analysis.leaves_running && before.iter().any(|part| is_meant(&part)))
            }
            (AskedOfCalls::Passed { .. } | AskedOfCalls::Running(_), Some(known)) => Value::Bool(known > 0),
            (AskedOfCalls::Count(_), Some(known)) => {
                let here = u64::try_from(before.iter().filter(is_meant).count()).unwrap_or(u64::MAX);
                Value::Long(i64::try_from(known.saturating_add(here)).unwrap_or(i64::MAX))
            }
        })
    }
}

fn half(state: &State, scope: Scope) -> &KeptFacts {
    if scope == Scope::Project { &state.project.facts } else { &state.session.facts }
}

/// When an event happens: one without a time counts as one of the latest time.
fn time(event: &Event, kept: &KeptFacts) -> i64 {
    event.time.or(kept.latest()).unwrap_or_default()
}

/// What a call that was let through is known by where its end counts.
fn name(state: &State, number: u64) -> String {
    format!("{}:{number}", state.session.id)
}

/// How many parts of calls have changed files so far.
fn began(state: &State) -> Began {
    Began { session: state.session.facts.changes, project: state.project.facts.changes }
}

/// Counts a call that is decided. Notes in it what is asked when it ends.
pub(crate) fn decided(
    policy: &Policy,
    draft: &mut Draft,
    call: &Call,
    event: &Event,
    caller: Caller<'_>,
    open: Option<&mut OpenCall>,
) {
    let mut seen = Seen::default();
    for name in &call.analysis.gone {
        facts(policy).into_values().for_each(|fact| seen.over(fact, draft.state(), name, CallOutcome::Unknown));
    }
    if let Some(open) = open {
        let (parts, leaves_running) = (parts(policy, call, event, caller), call.analysis.leaves_running);
        seen.changes = parts.iter().map(|part| u64::from(part.changes)).sum();
        let goes_on = leaves_running && seen.changes > 0;
        seen.left = goes_on.then(|| time(event, &draft.state().session.facts));
        for fact in facts(policy).into_values() {
            seen.count(fact, draft.state(), event, &Counted { parts: &parts, asked: open.asked, leaves_running });
        }
        (open.began, open.changes) = (began(draft.state()), seen.changes > 0);
        open.tests = parts.into_iter().filter(|part| part.tests.is_some()).take(MAX_TESTS).collect();
    }
    seen.apply(policy, draft);
}

/// Counts what events of calls that ended say of earlier calls.
pub(crate) fn ended(policy: &Policy, before: &State, draft: &mut Draft, event: &Event) {
    let all = facts(policy);
    if all.is_empty() {
        return;
    }
    let mut seen = Seen::default();
    for change in draft.changes() {
        let Change::CallOutcome { call, outcome } = change else { continue };
        let Some(open) = before.session.calls.iter().find(|open| open.number == *call) else { continue };
        if *outcome == CallOutcome::Launched {
            continue;
        }
        let name = name(draft.state(), *call);
        all.values().for_each(|fact| seen.over(fact, draft.state(), &name, *outcome));
        if *outcome == CallOutcome::Refused {
            continue;
        }
        // It changed files at any time until now.
        seen.changes = seen.changes.saturating_add(u64::from(open.changes));
        let mut others = before.session.calls.iter().filter(|other| other.number != *call);
        let alone = !others.any(|other| other.changes && other.may_go_on(event.time));
        let results: Vec<TestsResult> = open.tests.iter().filter_map(|part| tests_of(part, *outcome, event)).collect();
        for fact in all.values() {
            // What a line left running may still change files: nobody tells its end.
            let kept = half(draft.state(), fact.scope);
            let alone = alone && kept.left.is_none_or(|left| time(event, kept).saturating_sub(left) >= GOES_ON);
            seen.tests(fact, draft.state(), event, open, alone, &results);
        }
    }
    if !seen.is_empty() {
        seen.apply(policy, draft);
    }
}

/// How the tests of a part of a call ended.
fn tests_of(part: &FactPart, outcome: CallOutcome, event: &Event) -> Option<TestsResult> {
    let run = part.tests?;
    let reports = match &event.kind {
        EventKind::ToolResult { tests, .. } if matches!(outcome, CallOutcome::Ok | CallOutcome::Failed) => {
            tests.as_slice()
        }
        _ => &[],
    };
    let through = run.through.filter(|_| part.status == Status::Piped);
    let ended = |result: &TestsResult| {
        let (runner, part, unsure) = (run.runner, !run.whole, run.unsure);
        let wanted = ReportWanted { result: *result, runner, part, unsure, through };
        Wanted::Report(wanted).proven_by(outcome, reports)
    };
    let broken = Some(TestsResult::Broken).filter(|_| !run.beside);
    let mut all = [TestsResult::Passed, TestsResult::Failed].into_iter().chain(broken);
    let is_ok = outcome == CallOutcome::Ok && part.status.tells();
    all.find(ended).filter(|result| *result != TestsResult::Passed || through.is_some() || is_ok)
}

/// A call that is let through.
#[derive(Clone, Copy)]
struct Counted<'a> {
    parts: &'a [FactPart],
    /// Whether a person is asked about it, and may refuse it.
    asked: bool,
    /// Whether something of it goes on after its end.
    leaves_running: bool,
}

/// What events add to what the session and the project keep.
#[derive(Default)]
struct Seen {
    session: Vec<FactChange>,
    project: Vec<FactChange>,
    /// How many parts change files of the project.
    changes: u64,
    /// When something began that goes on after its line, and may change some.
    left: Option<i64>,
}

impl Seen {
    fn is_empty(&self) -> bool {
        self.session.is_empty() && self.project.is_empty() && self.changes == 0
    }

    fn add(&mut self, fact: &RuleFact, without: Option<Dropped>, with: Option<CountedCall>) {
        let all = if fact.scope == Scope::Project { &mut self.project } else { &mut self.session };
        all.push(FactChange { fact: fact.key.clone(), without, with });
    }

    /// Takes note that a call which is kept by its name is over.
    fn over(&mut self, fact: &RuleFact, state: &State, name: &String, outcome: CallOutcome) {
        let kept = half(state, fact.scope).facts.get(&fact.key);
        let counted = kept.and_then(|kept| kept.calls.iter().find(|known| known.call.as_ref() == Some(name)));
        let Some(counted) = counted.cloned() else { return };
        self.add(fact, Some(Dropped::Call(name.clone())), None);
        // Of a call that ran, a count keeps all but its name.
        if matches!(fact.asks, AskedOfCalls::Count(_)) && outcome != CallOutcome::Refused {
            let old = fact.within.map(|within| Dropped::Before(counted.time.saturating_sub(within)));
            self.add(fact, old, Some(CountedCall { call: None, ..counted }));
        }
    }

    /// Counts the parts of a call that is let through.
    fn count(&mut self, fact: &RuleFact, state: &State, event: &Event, counted: &Counted<'_>) {
        let Counted { parts, asked, leaves_running } = *counted;
        let kept = half(state, fact.scope);
        if fact.ends_by_change() && self.changes > 0 && kept.facts.contains_key(&fact.key) {
            return self.add(fact, Some(Dropped::All), None);
        }
        let parts = parts.iter().filter(|part| part.meant.contains(&fact.key)).count();
        let (time, parts) = (time(event, kept), u32::try_from(parts).unwrap_or(u32::MAX));
        if parts > 0 {
            // Of what a line leaves running, nobody tells the end.
            let by_end = if matches!(fact.asks, AskedOfCalls::Running(_)) { !leaves_running } else { asked };
            let call = by_end.then(|| name(state, state.session.events));
            let old = fact.within.map(|within| Dropped::Before(time.saturating_sub(within)));
            self.add(fact, old, Some(CountedCall { time, parts, call }));
        }
    }

    /// Counts how tests of a call ended. `alone`: no other call may have changed files meanwhile.
    fn tests(
        &mut self,
        fact: &RuleFact,
        state: &State,
        event: &Event,
        open: &OpenCall,
        alone: bool,
        results: &[TestsResult],
    ) {
        let AskedOfCalls::Passed { unchanged } = fact.asks else { return };
        let now = began(state);
        let same = if fact.scope == Scope::Project {
            now.project == open.began.project
        } else {
            now.session == open.began.session
        };
        let kept = half(state, fact.scope);
        let counts = |result: &&TestsResult| **result != TestsResult::Passed || !unchanged || (alone && same);
        match results.iter().rfind(counts) {
            Some(TestsResult::Passed) => {
                let with = CountedCall { time: time(event, kept), parts: 1, call: None };
                self.add(fact, Some(Dropped::All), Some(with));
            }
            Some(_) if kept.facts.contains_key(&fact.key) => self.add(fact, Some(Dropped::All), None),
            _ => {}
        }
    }

    /// Applies the changes. What is kept for facts that no rule has any more is forgotten with them.
    fn apply(self, policy: &Policy, draft: &mut Draft) {
        let all = facts(policy);
        for (scope, seen) in [(Scope::Session, self.session), (Scope::Project, self.project)] {
            let kept = half(draft.state(), scope);
            let stale = kept.facts.keys().any(|key| !all.contains_key(key.as_str()));
            let asks = all.values().any(|fact| fact.scope == scope && fact.ends_by_change());
            let changes = if asks { self.changes } else { 0 };
            let left = self.left.filter(|_| asks);
            if stale || changes > 0 || !seen.is_empty() {
                let known = stale.then(|| all.keys().map(|key| String::from(*key)).collect());
                draft.change(Change::CallsCounted { scope, seen, changes, left, known });
            }
        }
    }
}
