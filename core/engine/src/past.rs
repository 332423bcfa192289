//! What happened before, as rules ask for it (rules 4.10): whether a condition holds at a call, and what the call adds to
//! the history of the session and of the project.

mod ended;
mod keeping;
mod part;

use alloc::string::String;
use alloc::vec::Vec;

use phasegate_history::{
    Event as Happening, Field, Fields, History, Leaf, Observation, Scope as Whose, Value as Kept, Verdict, observe,
};
use phasegate_rules::{Past, Request, Truth};

use self::ended::{Ended, is_over};
use self::keeping::Keeping;
use self::part::{CHANGES, OfPart, also, recorded};
use crate::change::Change;
use crate::draft::Draft;
use crate::event::Event;
use crate::judge::Caller;
use crate::part_snapshot::{Began, PartSnapshot};
use crate::policy::{Policy, Scope};
use crate::rule_request::{OfState, RuleCall};
use crate::rules::RuleLevel;
use crate::state::State;
use crate::tool::Call;

/// The most parts of a call before one that is asked about; of more nothing is told.
const MAX_BEFORE: usize = 256;
/// The type of the ids of actions.
const ACTIONS: &str = "Action";

/// The conditions of a level, and what is kept for them.
#[derive(Debug)]
pub(crate) struct Remembered<'a> {
    leaves: &'a [Leaf],
    session: &'a History,
    project: &'a History,
    time: Option<i64>,
    /// What a record that leaves arguments out says of the parts.
    recorded: &'a [PartSnapshot],
}

impl<'a> Remembered<'a> {
    pub(crate) fn new(level: &'a RuleLevel, state: &'a State, event: &Event, call: &'a Call) -> Self {
        Self {
            leaves: &level.history,
            session: &state.session.history.conditions,
            project: &state.project.history.conditions,
            time: event.time,
            recorded: recorded(call),
        }
    }
}

impl Past for Remembered<'_> {
    fn holds(&self, field: &str, request: &Request<'_>, part: usize) -> Option<Truth> {
        let leaf = self.leaves.iter().find(|leaf| leaf.field == field)?;
        let fields = OfPart { request, part, recorded: self.recorded.get(part) };
        let unclear = leaf.params.iter().any(|param| fields.value(param) == Field::Unclear);
        if unclear {
            return Some(Truth::Unknown);
        }
        let history = if leaf.scope == Whose::Project { self.project } else { self.session };
        let time = time(self.time, history);
        if part > MAX_BEFORE {
            return Some(Truth::Unknown);
        }
        let before = self.with_before(history, leaf, request, part, time);
        let history = before.as_ref().unwrap_or(history);
        Some(match history.evaluate(leaf, &happening(request, time, "request", &fields), &fields) {
            Verdict::True => Truth::Yes,
            Verdict::False => Truth::No,
            Verdict::Unknown(_) => Truth::Unknown,
        })
    }
}

impl Remembered<'_> {
    /// What is kept, with the parts of the same call that stand before one; `None`: there are none.
    fn with_before(
        &self,
        history: &History,
        leaf: &Leaf,
        request: &Request<'_>,
        part: usize,
        time: i64,
    ) -> Option<History> {
        let mut seen = (part > 0).then(|| history.clone())?;
        for before in 0..part {
            let fields = OfPart { request, part: before, recorded: self.recorded.get(before) };
            // It has ended, and told nothing.
            for kind in ["request", "call", "response"] {
                seen.apply(&observe([leaf], &happening(request, time, kind, &fields)));
            }
        }
        Some(seen)
    }
}

/// When an event happens: one without a time counts as one of the latest time.
fn time(own: Option<i64>, history: &History) -> i64 {
    own.or(history.clock()).unwrap_or_default()
}

fn happening<'a>(request: &'a Request<'_>, time: i64, kind: &'a str, fields: &'a dyn Fields) -> Happening<'a> {
    let action = request.action.id;
    Happening { time, namespace: ACTIONS, action, also: also(action), kind, fields }
}

/// The levels whose rules ask for what happened before.
fn levels(policy: &Policy) -> impl Iterator<Item = &RuleLevel> {
    policy.rules.iter().flat_map(|rules| &rules.levels).filter(|level| !level.history.is_empty())
}

/// What rules see of a call that is decided, and what of it is kept until it ends; `None`: no rule asks for it.
///
/// Every part of the call is an event of the kind `request`, and, where it is let through, of the kind `call`. Also whether a
/// part of it changes files of the project.
pub(crate) fn decided(
    policy: &Policy,
    draft: &mut Draft,
    call: &Call,
    event: &Event,
    caller: Caller<'_>,
    let_through: bool,
) -> (Vec<PartSnapshot>, bool) {
    let mut seen = Seen::default();
    let mut keeping = Keeping { call, kind: Some("response"), parts: Vec::new() };
    let kinds: &[&str] = if let_through { &["request", "call"] } else { &["request"] };
    for level in levels(policy) {
        let (own, state) = (RuleCall::new(&level.tools, call, event, caller), OfState::default());
        let request = own.request(&state);
        let mut changes = 0;
        for part in 0..request.parts.len() {
            let fields = OfPart { request: &request, part, recorded: recorded(call).get(part) };
            changes += u64::from(let_through && fields.field(&[CHANGES.into()]) == Field::Is(Kept::Bool(true)));
            for kind in kinds {
                seen.add(level, draft.state(), |_, history| {
                    happening(&request, time(event.time, history), kind, &fields)
                });
            }
        }
        seen.changes = seen.changes.max(changes);
        if let_through {
            keeping.add(level, &own, &request);
        }
    }
    let (at_first, changes) = (began(draft.state()), seen.changes > 0);
    seen.into_changes(policy, draft.state()).into_iter().for_each(|change| draft.change(change));
    keeping.parts.iter_mut().for_each(|part| part.began = at_first);
    (keeping.parts, changes)
}

/// What events of calls that ended say: each part of such a call is one of the kind `response`.
pub(crate) fn ended(policy: &Policy, before: &State, draft: &mut Draft, event: &Event) {
    if levels(policy).next().is_none() {
        return;
    }
    let mut seen = Seen::default();
    for change in draft.changes() {
        let Change::CallOutcome { call, outcome } = change else { continue };
        let Some(open) = before.session.calls.iter().find(|open| open.number == *call) else { continue };
        // It changed files at any time until now.
        seen.changes = seen.changes.saturating_add(u64::from(open.changes && is_over(*outcome)));
        let others = || before.session.calls.iter().filter(|other| other.number != *call);
        let alone = !others().any(|other| other.changes && other.may_go_on(event.time));
        for part in open.parts.iter().filter(|_| is_over(*outcome)) {
            let (now, ended) = (began(draft.state()), |unchanged| Ended::new(part, *outcome, event, unchanged));
            let of_session = ended(alone && now.session == part.began.session);
            let of_project = ended(alone && now.project == part.began.project);
            for level in levels(policy) {
                seen.add(level, draft.state(), |whose, history| Happening {
                    time: time(event.time, history),
                    namespace: ACTIONS,
                    action: &part.action,
                    also: also(&part.action),
                    kind: "response",
                    fields: if whose == Whose::Session { &of_session } else { &of_project },
                });
            }
        }
    }
    if !seen.is_empty() {
        seen.into_changes(policy, draft.state()).into_iter().for_each(|change| draft.change(change));
    }
}

/// What events add to the histories of the session and the project.
#[derive(Default)]
struct Seen {
    session: Vec<Observation>,
    project: Vec<Observation>,
    /// How many parts change files of the project.
    changes: u64,
}

impl Seen {
    fn is_empty(&self) -> bool {
        self.session.is_empty() && self.project.is_empty() && self.changes == 0
    }

    fn add<'e>(&mut self, level: &RuleLevel, state: &State, event: impl Fn(Whose, &History) -> Happening<'e>) {
        for (whose, history, all) in [
            (Whose::Session, &state.session.history.conditions, &mut self.session),
            (Whose::Project, &state.project.history.conditions, &mut self.project),
        ] {
            let leaves: Vec<&Leaf> = level.history.iter().filter(|leaf| leaf.scope == whose).collect();
            if leaves.is_empty() {
                continue;
            }
            let observation = observe(leaves, &event(whose, history));
            // The clock of the session goes on with every event; that of the project with those that concern it.
            let clock = whose == Whose::Session && all.is_empty();
            if clock || !observation.leaves.is_empty() {
                all.push(observation);
            }
        }
    }

    /// The changes. What is kept of conditions that no rule has any more is forgotten with them.
    fn into_changes(mut self, policy: &Policy, state: &State) -> Vec<Change> {
        let known: Vec<String> = levels(policy).flat_map(|level| &level.history).map(|leaf| leaf.key.clone()).collect();
        if self.session.len() > 1 {
            self.session.retain(|observation| !observation.leaves.is_empty());
        }
        let asks = |whose| levels(policy).flat_map(|level| &level.history).any(|leaf| leaf.scope == whose);
        let mut changes = Vec::new();
        for (whose, scope, seen, history) in [
            (Whose::Session, Scope::Session, self.session, &state.session.history.conditions),
            (Whose::Project, Scope::Project, self.project, &state.project.history.conditions),
        ] {
            let stale = history.keys().any(|key| !known.iter().any(|known| known == key));
            let count = Some(self.changes).filter(|count| *count > 0 && asks(whose));
            if stale || !seen.is_empty() || count.is_some() {
                changes.push(Change::Observed { scope, seen, changes: count, known: stale.then(|| known.clone()) });
            }
        }
        changes
    }
}

/// How many parts of calls have changed files so far.
fn began(state: &State) -> Began {
    Began { session: state.session.history.changes, project: state.project.history.changes }
}

/// What a record that leaves arguments out keeps for conditions over what happened before.
pub(crate) fn recorded_parts(policy: &Policy, call: &Call, event: &Event, caller: Caller<'_>) -> Vec<PartSnapshot> {
    let mut keeping = Keeping { call, kind: None, parts: Vec::new() };
    for level in levels(policy) {
        let (own, state) = (RuleCall::new(&level.tools, call, event, caller), OfState::default());
        keeping.add(level, &own, &own.request(&state));
    }
    keeping.parts
}
