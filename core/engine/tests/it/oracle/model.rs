//! The model's memory: a log of all that happened, and the stays of every run. Nothing is kept that the log can tell.

use std::collections::{BTreeMap, BTreeSet};

use phasegate_core::events::event::{By, Outcome, PermissionOutcome, SessionSource};
use phasegate_core::evidence::condition::{CallTest, Condition, Truth, Wanted};
use phasegate_core::policy::matcher::Matcher;
use phasegate_core::policy::{Mode, Optional, Phase, Policy, Scope, Skill};
use phasegate_core::state::Status;
use phasegate_core::{Event, EventKind, Facts};

use super::matching::{Asked, forbids, has, only_reads, permits};

/// A stay of a run in a phase.
#[derive(Clone, Debug)]
pub(crate) struct Stay {
    pub(crate) phase: usize,
    pub(crate) visit: u32,
    /// Entered by request from a phase with a `done_when`.
    pub(crate) provisional: bool,
    /// How many phases had been skipped when it began.
    pub(crate) skipped: usize,
}

/// An activation of a skill. Its stays are those that still count, one a phase, the present one last.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) skill: usize,
    pub(crate) mode: Mode,
    pub(crate) scope: Scope,
    pub(crate) session: String,
    pub(crate) status: Status,
    pub(crate) stays: Vec<Stay>,
    pub(crate) visits: u32,
    pub(crate) skipped: Vec<(String, By)>,
    pub(crate) backs: Vec<(usize, usize)>,
    /// In which phase and visit a person approved the only name that there is.
    pub(crate) approved: Option<(usize, u32)>,
    /// Whether a call began it.
    pub(crate) by_call: bool,
    /// Where the log has the calls that a phase of it lists.
    pub(crate) listed: Vec<usize>,
}

impl Run {
    pub(crate) fn stay(&self) -> &Stay {
        self.stays.last().unwrap()
    }

    /// Whether calls of this visit still count.
    fn counts(&self, phase: usize, visit: u32) -> bool {
        self.stays.iter().any(|stay| stay.phase == phase && stay.visit == visit)
    }
}

/// One event, and for a call that was let through where it was decided: run, phase, visit.
pub(crate) struct Entry {
    pub(crate) event: Event,
    pub(crate) decided: Option<Vec<(usize, usize, u32)>>,
    /// The stays of all runs that counted when it came.
    pub(crate) counting: Vec<(usize, usize, u32)>,
}

/// A call of the log that was let through, with its outcome if that was seen.
struct Ended<'a> {
    session: &'a str,
    asked: Asked,
    decided: &'a [(usize, usize, u32)],
    outcome: Option<Outcome>,
    /// The place in the log of what told the outcome.
    told: usize,
}

/// Everything the model knows.
pub(crate) struct World {
    pub(crate) policy: Policy,
    pub(crate) runs: Vec<Run>,
    pub(crate) log: Vec<Entry>,
    pub(crate) facts: Facts,
    /// The skills that a person ended in a session, which do not begin there again by themselves.
    pub(crate) over_for_good: Vec<(String, usize)>,
}

pub(crate) fn asked(event: &Event) -> Option<Asked> {
    Some(Asked { call: event.call()?, agent: event.agent.clone() })
}

impl World {
    pub(crate) fn new(policy: Policy) -> Self {
        Self { policy, runs: vec![], log: vec![], facts: Facts::new(), over_for_good: vec![] }
    }

    pub(crate) fn skill(&self, run: usize) -> &Skill {
        &self.policy.skills[self.runs[run].skill]
    }

    pub(crate) fn phase(&self, run: usize) -> &Phase {
        &self.skill(run).phases[self.runs[run].stay().phase]
    }

    /// The runs, live or ended, whose scope holds a session; those of the project first.
    pub(crate) fn scope(&self, session: &str) -> Vec<usize> {
        let place = |scope: Scope| (0..self.runs.len()).filter(move |run| self.runs[*run].scope == scope);
        let own = place(Scope::Session).filter(|run| self.runs[*run].session == session);
        place(Scope::Project).chain(own).collect()
    }

    pub(crate) fn live(&self, session: &str) -> Vec<usize> {
        self.scope(session).into_iter().filter(|run| self.runs[*run].status == Status::Active).collect()
    }

    /// How each call of a session ended, by its place in the log; `None`: it is open.
    pub(crate) fn outcomes(&self, session: &str) -> BTreeMap<usize, Option<Outcome>> {
        let mut told = Told::default();
        for (place, entry) in self.log.iter().enumerate().filter(|(_, entry)| entry.event.session == session) {
            told.hear(&self.log, place, entry);
        }
        told.calls
    }

    /// The calls of a session that went on in the background, by their places in the log.
    pub(crate) fn launched(&self, session: &str) -> BTreeSet<usize> {
        let mut told = Told::default();
        for (place, entry) in self.log.iter().enumerate().filter(|(_, entry)| entry.event.session == session) {
            told.hear(&self.log, place, entry);
        }
        told.launched
    }

    /// Where in the log the outcome of each ended call of a session was told.
    fn told(&self, session: &str) -> BTreeMap<usize, usize> {
        let (mut told, mut when) = (Told::default(), BTreeMap::new());
        for (place, entry) in self.log.iter().enumerate().filter(|(_, entry)| entry.event.session == session) {
            told.hear(&self.log, place, entry);
            for (call, outcome) in &told.calls {
                if outcome.is_some() {
                    when.entry(*call).or_insert(place);
                }
            }
        }
        when
    }

    /// Whether the newest result of a stay is a failure.
    pub(crate) fn failed(&self, run: usize, stay: &Stay) -> bool {
        let skill = self.skill(run);
        let phase = &skill.phases[stay.phase];
        let mut wanted = vec![];
        if let Some(condition) = &phase.done_when {
            plain(condition, &mut wanted);
        }
        let is_result = |asked: &Asked| {
            if wanted.is_empty() { !only_reads(asked, skill) } else { permits(&wanted, asked, skill) }
        };
        let results = self.ended().into_iter().filter(|call| {
            call.decided.contains(&(run, stay.phase, stay.visit))
                && matches!(call.outcome, Some(Outcome::Ok | Outcome::Failed))
                && has(phase, &call.asked, skill)
                && !forbids(&skill.global_forbidden, &call.asked, skill)
                && is_result(&call.asked)
        });
        // Of calls that one event ended, any failure counts: nothing but a result fails a call, and it ends one alone.
        results.max_by_key(|call| call.told).is_some_and(|call| call.outcome == Some(Outcome::Failed))
    }

    fn ended(&self) -> Vec<Ended<'_>> {
        let sessions: BTreeSet<&str> = self.log.iter().map(|entry| entry.event.session.as_str()).collect();
        let mut all = Vec::new();
        for session in sessions {
            let when = self.told(session);
            for (place, outcome) in self.outcomes(session) {
                let entry = &self.log[place];
                let (asked, decided) = (asked(&entry.event).unwrap(), entry.decided.as_deref().unwrap());
                all.push(Ended {
                    session,
                    asked,
                    decided,
                    outcome,
                    told: when.get(&place).copied().unwrap_or_default(),
                });
            }
        }
        all
    }

    /// All stays that count now.
    pub(crate) fn counting(&self) -> Vec<(usize, usize, u32)> {
        let of =
            |(at, run): (usize, &Run)| run.stays.iter().map(|stay| (at, stay.phase, stay.visit)).collect::<Vec<_>>();
        self.runs.iter().enumerate().flat_map(of).collect()
    }

    /// Whether some call ended as the test wants, among those decided where `counts` says, and none that came to its end
    /// later, in the same visit or in a later one, ended otherwise. Under `not` nothing takes it back.
    fn seen(&self, run: usize, test: &CallTest, doubt: bool, counts: &dyn Fn(usize, u32) -> bool) -> bool {
        let list = [test.matcher.clone()];
        let fits = |asked: &Asked| {
            if doubt { forbids(&list, asked, self.skill(run)) } else { permits(&list, asked, self.skill(run)) }
        };
        let otherwise = match test.wanted {
            Wanted::Outcome(Outcome::Ok) => Some(Outcome::Failed),
            Wanted::Outcome(Outcome::Failed) => Some(Outcome::Ok),
            _ => None,
        };
        let all = self.ended();
        let undone = |proof: &Ended<'_>, visit: u32| {
            all.iter().any(|call| {
                let late = |place: &&(usize, usize, u32)| {
                    place.0 == run && place.2 >= visit && self.log[call.told].counting.contains(place)
                };
                call.told > proof.told
                    && !doubt
                    && call.outcome.is_some()
                    && call.outcome == otherwise
                    && fits(&call.asked)
                    && call.decided.iter().any(|place| late(&place))
            })
        };
        all.iter().any(|call| {
            let held = |visit: u32| !undone(call, visit);
            call.decided.iter().any(|(of, phase, visit)| *of == run && counts(*phase, *visit) && held(*visit))
                && call.outcome.is_some_and(|outcome| test.wanted.accepts(outcome))
                && fits(&call.asked)
        })
    }

    /// `doubt`: whether a call that may match counts, as it does under `not`.
    fn truth(&self, run: usize, condition: &Condition, doubt: bool, counts: &dyn Fn(usize, u32) -> bool) -> Truth {
        let part = |condition| self.truth(run, condition, doubt, counts);
        match condition {
            Condition::All(parts) => parts.iter().map(part).min().unwrap_or(Truth::Yes),
            Condition::Any(parts) => parts.iter().map(part).max().unwrap_or(Truth::No),
            Condition::Not(inner) => self.truth(run, inner, !doubt, counts).negated(),
            Condition::Call(test) => Truth::of(self.seen(run, test, doubt, counts)),
            Condition::Fact(test) => test.truth(&self.facts[&test.fact]),
            Condition::Approved(_) => Truth::of(self.runs[run].approved.is_some()),
            Condition::Unchanged(_) | Condition::Artifact(_) | Condition::Says(_) => Truth::Unknown,
        }
    }

    /// Whether a condition holds over all evidence of the run that still counts.
    pub(crate) fn holds(&self, run: usize, condition: Option<&Condition>) -> bool {
        let counts = |phase, visit| self.runs[run].counts(phase, visit);
        condition.is_none_or(|condition| self.truth(run, condition, false, &counts).holds())
    }

    /// Whether the present phase has a `done_when`, and whether it holds in the present visit. A failure wins where a
    /// rollback edge waits for it.
    pub(crate) fn done(&self, run: usize) -> Option<bool> {
        let stay = self.runs[run].stay();
        let phase = self.phase(run);
        if phase.done_when.is_some() && phase.back.iter().any(|back| back.on_failure) && self.failed(run, stay) {
            return Some(false);
        }
        let counts = |phase, visit| phase == stay.phase && visit == stay.visit;
        self.phase(run).done_when.as_ref().map(|condition| self.truth(run, condition, false, &counts).holds())
    }

    pub(crate) fn optional(&self, run: usize, phase: usize) -> bool {
        match &self.skill(run).phases[phase].optional {
            Optional::No | Optional::Never => false,
            Optional::Yes => true,
            Optional::When(condition) => self.holds(run, Some(condition)),
        }
    }

    /// Whether a phase strictly between may be passed over.
    pub(crate) fn passes(&self, run: usize, phase: usize) -> bool {
        self.optional(run, phase) || self.skill(run).phases[phase].done_when.is_none()
    }

    /// Whether a call that the phase lists, decided in this visit, ended so; `None`: is open.
    pub(crate) fn listed_call_ended(&self, run: usize, stay: &Stay, outcome: Option<Outcome>) -> bool {
        let phase = &self.skill(run).phases[stay.phase];
        self.ended().iter().any(|call| {
            call.decided.contains(&(run, stay.phase, stay.visit))
                && call.outcome == outcome
                && (outcome.is_some() || self.log.last().is_some_and(|entry| entry.event.session == call.session))
                && has(phase, &call.asked, self.skill(run))
                && !forbids(&self.skill(run).global_forbidden, &call.asked, self.skill(run))
        })
    }
}

/// The calls whose success or end a condition asks for, not under `not`.
fn plain(condition: &Condition, found: &mut Vec<Matcher>) {
    match condition {
        Condition::All(parts) | Condition::Any(parts) => parts.iter().for_each(|part| plain(part, found)),
        Condition::Call(test) if test.wanted.accepts(Outcome::Ok) => found.push(test.matcher.clone()),
        Condition::Not(_)
        | Condition::Call(_)
        | Condition::Fact(_)
        | Condition::Approved(_)
        | Condition::Unchanged(_)
        | Condition::Artifact(_)
        | Condition::Says(_) => {}
    }
}

/// What the log says of a session's calls, up to some place.
#[derive(Default)]
struct Told {
    calls: BTreeMap<usize, Option<Outcome>>,
    launched: BTreeSet<usize>,
    /// Calls whose subagent has ended.
    over: BTreeSet<usize>,
    agents: BTreeMap<String, usize>,
    /// Subagents that have begun and not ended.
    alive: BTreeSet<String>,
}

impl Told {
    fn open(&self) -> Vec<usize> {
        self.calls.iter().filter(|(_, outcome)| outcome.is_none()).map(|(place, _)| *place).collect()
    }

    /// Open calls without a further event.
    fn forget(&mut self, log: &[Entry], which: &dyn Fn(usize) -> bool) {
        for place in self.open().into_iter().filter(|place| which(*place)) {
            self.end(log, place, Outcome::Unknown);
        }
    }

    /// A call has ended. With a call of the main agent ends the subagent that it started, and what that has open.
    fn end(&mut self, log: &[Entry], place: usize, outcome: Outcome) {
        if self.calls[&place].is_some() {
            return;
        }
        self.calls.insert(place, Some(outcome));
        let started = self.agents.iter().find(|(id, call)| **call == place && self.alive.contains(*id));
        if let Some(id) = started.map(|(id, _)| id.clone()).filter(|_| log[place].event.subagent().is_none()) {
            self.alive.remove(&id);
            self.forget(log, &|open| log[open].event.subagent() == Some(&id));
        }
    }

    fn hear(&mut self, log: &[Entry], place: usize, entry: &Entry) {
        let by_id = |told: &Self, id: &str| {
            told.open().into_iter().find(|place| asked(&log[*place].event).unwrap().call.id.as_deref() == Some(id))
        };
        let launched = self.launched.clone();
        match &entry.event.kind {
            EventKind::ToolCall { id, .. } if entry.decided.is_some() => {
                // A result could belong to either of two open calls with one id.
                if let Some(place) = id.as_ref().and_then(|id| by_id(self, id)) {
                    self.end(log, place, Outcome::Unknown);
                }
                self.calls.insert(place, None);
            }
            EventKind::ToolResult { .. } => self.result(log, &entry.event),
            EventKind::Permission { id: Some(id), outcome: PermissionOutcome::Refused } => {
                if let Some(place) = by_id(self, id) {
                    self.end(log, place, Outcome::Refused);
                }
            }
            EventKind::BatchEnd {} | EventKind::Prompt { .. } | EventKind::Stop { .. } => {
                let same = |place: usize| log[place].event.subagent() == entry.event.subagent();
                self.forget(log, &|place| !launched.contains(&place) && same(place));
            }
            EventKind::SessionEnd {} => self.forget(log, &|_| true),
            EventKind::SessionStart { source, .. } if *source != SessionSource::Compact => {
                self.alive.clear();
                self.forget(log, &|_| true);
            }
            EventKind::SubagentStart { id, call, .. } => {
                self.alive.insert(id.clone());
                let starters: Vec<usize> = self
                    .open()
                    .into_iter()
                    .filter(|place| asked(&log[*place].event).unwrap().call.tool.name == "Agent")
                    .filter(|place| !self.agents.values().any(|other| other == place))
                    .collect();
                let starter = match call {
                    Some(call) => by_id(self, call),
                    None if starters.len() == 1 => starters.first().copied(),
                    None => None,
                };
                if let Some(place) = starter {
                    self.agents.retain(|_, other| *other != place);
                    self.agents.insert(id.clone(), place);
                }
            }
            EventKind::SubagentStop { id, .. } => {
                self.forget(log, &|place| log[place].event.subagent() == Some(id));
                self.alive.remove(id);
                if let Some(place) = self.agents.get(id).copied()
                    && self.calls[&place].is_none()
                {
                    self.over.insert(place);
                    if self.launched.contains(&place) {
                        self.end(log, place, Outcome::Ok);
                    }
                }
            }
            _ => {}
        }
    }

    fn result(&mut self, log: &[Entry], event: &Event) {
        let EventKind::ToolResult { id, outcome, ok, exit_code, tool, input, .. } = &event.kind else { return };
        let outcome = match (outcome, ok) {
            (Some(outcome), _) => *outcome,
            (None, Some(true)) => Outcome::Ok,
            (None, _) => Outcome::Failed,
        };
        let own = |place: &usize| {
            let call = asked(&log[*place].event).unwrap().call;
            match id {
                Some(id) => call.id.as_ref() == Some(id),
                None => {
                    call.id.is_none()
                        && log[*place].event.subagent() == event.subagent()
                        && Some(&call.tool.name) == tool.as_ref()
                        && Some(&call.input) == input.as_ref()
                }
            }
        };
        let Some(place) = self.open().into_iter().find(own) else { return };
        let executes = asked(&log[place].event).unwrap().call.tool.labels.contains("execute");
        let stranger = event.subagent().is_some() && event.subagent() != log[place].event.subagent();
        let outcome = match (outcome, exit_code) {
            _ if stranger => Outcome::Unknown,
            (Outcome::Launched, _) => {
                self.launched.insert(place);
                if self.over.contains(&place) {
                    self.end(log, place, Outcome::Ok);
                }
                return;
            }
            (Outcome::Ok | Outcome::Failed, Some(126 | 127)) if executes => Outcome::Unknown,
            (Outcome::Ok, None) if executes => Outcome::Unknown,
            (Outcome::Ok, Some(code)) if *code != 0 => Outcome::Failed,
            (outcome, _) => outcome,
        };
        self.end(log, place, outcome);
    }
}
