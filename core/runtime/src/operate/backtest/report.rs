//! What a policy would have answered: counts, findings and the course of each session.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use phasegate_core::Effect;
use serde::Serialize;
use serde_json::Value;

/// The most findings that are kept; further ones are counted.
const MAX_FINDINGS: usize = 20_000;

/// What an event was answered.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The effect; `allow` where nothing was decided.
    pub effect: Effect,
    /// The code of a denial, a question or a warning.
    pub code: Option<String>,
    /// The skill that decided, or in which the session stands.
    pub skill: Option<String>,
    /// Its phase.
    pub phase: Option<String>,
    /// The rule over calls that decided.
    pub rule: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

impl Answer {
    /// The answer in an output object of a replay.
    pub(super) fn of(output: &Value) -> Self {
        let text = |key: &str| output.get(key).and_then(Value::as_str).map(str::to_owned);
        let effect = match output.get("decision").and_then(Value::as_str) {
            Some("deny") => Effect::Deny,
            Some("ask") => Effect::Ask,
            Some("warn") => Effect::Warn,
            _ => Effect::Allow,
        };
        let rule = output.pointer("/admission/rule_name").and_then(Value::as_str).map(str::to_owned);
        let (skill, phase) = (text("skill"), text("phase_before").or_else(|| text("phase")));
        Self { effect, code: text("code"), skill, phase, rule, reason: text("reason") }
    }

    /// Where it comes from: a rule, or a phase of a skill.
    fn source(&self) -> String {
        match (&self.rule, &self.skill, &self.phase) {
            (Some(rule), ..) => format!("rule {rule}"),
            (None, Some(skill), Some(phase)) => format!("{skill} / {phase}"),
            (None, Some(skill), None) => skill.clone(),
            (None, None, _) => "the guard itself".to_owned(),
        }
    }
}

/// How many calls were answered how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All calls.
    pub calls: u64,
    /// Those that were let through with a warning.
    pub warned: u64,
    /// Those about which a person was asked.
    pub asked: u64,
    /// Those that were denied.
    pub denied: u64,
}

impl Counts {
    fn add(&mut self, effect: Effect) {
        self.calls += 1;
        match effect {
            Effect::Allow => {}
            Effect::Warn => self.warned += 1,
            Effect::Ask => self.asked += 1,
            Effect::Deny => self.denied += 1,
        }
    }

    fn merge(&mut self, other: Self) {
        self.calls += other.calls;
        self.warned += other.warned;
        self.asked += other.asked;
        self.denied += other.denied;
    }

    /// Those that did not pass in silence.
    pub fn stopped(&self) -> u64 {
        self.warned + self.asked + self.denied
    }
}

/// A call that did not pass in silence, or that two policies answer differently.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Which call of the session it is, from 1 on.
    pub call: u64,
    /// The tool.
    pub tool: String,
    /// What the call is about, in one line.
    pub what: String,
    /// What it was answered.
    #[serde(flatten)]
    pub answer: Answer,
    /// What the other policy answered, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Effect>,
    /// How the call ended in the recorded session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// Whether a whole run of tests passed later in the session.
    pub tests_passed_later: bool,
    /// Whether the same call was let through elsewhere.
    pub passes_elsewhere: bool,
}

impl Finding {
    pub(super) fn new(call: u64, tool: &str, what: String, answer: Answer, before: Option<Effect>) -> Self {
        let tool = tool.to_owned();
        Self { call, tool, what, answer, before, ended: None, tests_passed_later: false, passes_elsewhere: false }
    }

    /// Whether the denial may be wrong: the call succeeded, and the session went on well or the same call passes elsewhere.
    pub fn may_be_wrong(&self) -> bool {
        self.answer.effect > Effect::Warn
            && self.ended.as_deref() == Some("ok")
            && (self.tests_passed_later || self.passes_elsewhere)
    }

    /// Whether the policies answer differently.
    pub fn differs(&self) -> bool {
        self.before.is_some_and(|before| before != self.answer.effect)
    }
}

/// From which call on a session stood in a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseSpan {
    /// The number of calls before it.
    pub from: u64,
    /// The skill; empty: none was live.
    pub skill: String,
    /// The phase.
    pub phase: String,
}

/// The course of one session.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SessionReport {
    /// The session's id.
    pub id: String,
    /// The file that has it.
    pub file: String,
    /// How many events it has.
    pub events: u64,
    /// How many calls.
    pub calls: u64,
    /// A letter for each call: `.` allowed, `w` warned, `a` asked, `d` denied.
    pub course: String,
    /// Where it stood.
    pub phases: Vec<PhaseSpan>,
    /// How often the agent would have been kept at the end of a turn.
    pub held: u64,
    /// What did not pass in silence.
    pub findings: Vec<Finding>,
    /// The calls whose end is not known yet, by id.
    #[serde(skip)]
    open: BTreeMap<String, u64>,
}

impl SessionReport {
    /// Notes where the session stands.
    pub(super) fn stand(&mut self, answer: &Answer) {
        let (skill, phase) = (answer.skill.clone().unwrap_or_default(), answer.phase.clone().unwrap_or_default());
        if self.phases.last().is_none_or(|last| last.skill != skill || last.phase != phase) {
            self.phases.push(PhaseSpan { from: self.calls, skill, phase });
        }
    }

    /// Notes a call; its number.
    pub(super) fn call(&mut self, effect: Effect, id: Option<String>) -> u64 {
        self.calls += 1;
        self.course.push(match effect {
            Effect::Allow => '.',
            Effect::Warn => 'w',
            Effect::Ask => 'a',
            Effect::Deny => 'd',
        });
        if let Some(id) = id.filter(|_| effect > Effect::Allow) {
            self.open.insert(id, self.calls);
        }
        self.calls
    }

    /// Notes how a call ended.
    pub(super) fn ended(&mut self, id: Option<&str>, word: Option<&str>) {
        let Some(number) = id.and_then(|id| self.open.remove(id)) else { return };
        if let Some(finding) = self.findings.iter_mut().rev().find(|finding| finding.call == number) {
            finding.ended = word.map(str::to_owned);
        }
    }

    /// Notes that a run of tests passed.
    pub(super) fn tests_passed(&mut self) {
        self.findings.iter_mut().for_each(|finding| finding.tests_passed_later = true);
    }
}

/// Lines that were left out for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// How many.
    pub times: u64,
    /// The file and the line of the first one.
    pub first: String,
}

/// What a policy would have answered in recorded sessions.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// How many files were read.
    pub files: u64,
    /// All calls.
    pub total: Counts,
    /// The calls by tool.
    pub tools: BTreeMap<String, Counts>,
    /// What did not pass in silence, by the phase or rule that said so.
    pub sources: BTreeMap<String, Counts>,
    /// The same by code.
    pub codes: BTreeMap<String, u64>,
    /// How many calls two policies answer differently.
    pub differing: u64,
    /// The sessions, in the order in which they were read.
    pub sessions: Vec<SessionReport>,
    /// What was left out, by the reason.
    pub left_out: BTreeMap<String, LeftOut>,
    /// How many findings are counted and not kept.
    pub not_kept: u64,
    /// How many are kept.
    #[serde(skip)]
    kept: usize,
    /// Where each session stands in the list.
    #[serde(skip)]
    places: BTreeMap<String, usize>,
    /// Digests of the calls that were let through.
    #[serde(skip)]
    passed: BTreeSet<u64>,
}

impl Report {
    /// The course of a session; always there.
    pub(super) fn session(&mut self, id: &str, file: impl FnOnce() -> String) -> Option<&mut SessionReport> {
        let next = self.sessions.len();
        let at = *self.places.entry(id.to_owned()).or_insert(next);
        if at == next {
            self.sessions.push(SessionReport { id: id.to_owned(), file: file(), ..SessionReport::default() });
        }
        self.sessions.get_mut(at)
    }

    pub(super) fn count(&mut self, tool: &str, answer: &Answer, differs: bool) {
        self.total.add(answer.effect);
        self.tools.entry(tool.to_owned()).or_default().add(answer.effect);
        self.differing += u64::from(differs);
        if answer.effect > Effect::Allow {
            self.sources.entry(answer.source()).or_default().add(answer.effect);
            *self.codes.entry(answer.code.clone().unwrap_or_default()).or_default() += 1;
        }
    }

    pub(super) fn find(&mut self, session: &str, finding: Finding) {
        match self.places.get(session).and_then(|at| self.sessions.get_mut(*at)) {
            Some(session) if self.kept < MAX_FINDINGS => {
                self.kept += 1;
                session.findings.push(finding);
            }
            _ => self.not_kept += 1,
        }
    }

    pub(super) fn note_passed(&mut self, tool: &str, what: &str) {
        self.passed.insert(digest(tool, what));
    }

    pub(super) fn leave_out(&mut self, why: String, place: &str) {
        self.left_out.entry(why).or_insert_with(|| LeftOut { times: 0, first: place.to_owned() }).times += 1;
    }

    /// Adds what was found in further files.
    pub fn merge(&mut self, other: Self) {
        self.files += other.files;
        self.total.merge(other.total);
        for (name, counts) in other.tools {
            self.tools.entry(name).or_default().merge(counts);
        }
        for (name, counts) in other.sources {
            self.sources.entry(name).or_default().merge(counts);
        }
        for (code, times) in other.codes {
            *self.codes.entry(code).or_default() += times;
        }
        self.differing += other.differing;
        self.not_kept += other.not_kept;
        self.kept += other.kept;
        self.sessions.extend(other.sessions);
        for (why, left) in other.left_out {
            let times = left.times;
            self.left_out.entry(why).or_insert(LeftOut { times: 0, ..left }).times += times;
        }
        self.passed.extend(other.passed);
    }

    /// Says of each finding whether the same call passes elsewhere. To be called once all files are merged.
    pub fn compare(&mut self) {
        let passed = &self.passed;
        for finding in self.sessions.iter_mut().flat_map(|session| &mut session.findings) {
            finding.passes_elsewhere = passed.contains(&digest(&finding.tool, &finding.what));
        }
    }

    /// The findings, each with its session.
    pub fn findings(&self) -> impl Iterator<Item = (&SessionReport, &Finding)> {
        self.sessions.iter().flat_map(|session| session.findings.iter().map(move |finding| (session, finding)))
    }
}

fn digest(tool: &str, what: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (tool, what).hash(&mut hasher);
    hasher.finish()
}
