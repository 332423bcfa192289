//! What happened before, as rules ask for it (rules 4.10): whether a condition holds at a call, and what the call adds to
//! the history of the session and of the project.

use alloc::string::String;
use alloc::vec::Vec;

use phasegate_history::leaf::{Param, Path, Pattern, Root};
use phasegate_history::{
    Event as Happening, Field, Fields, History, Leaf, Observation, Request as Decided, Scope as Whose, Value as Kept,
    Verdict, observe,
};
use phasegate_rules::{ANY_TOOL, OTHER_TOOL, Past, Request, Truth, Value, Var, is_builtin};

use crate::change::Change;
use crate::draft::Draft;
use crate::event::Event;
use crate::judge::Caller;
use crate::kept_part::{KeptPart, is_over};
use crate::policy::{Policy, Scope};
use crate::rule_request::{OfState, RuleCall};
use crate::rules::RuleLevel;
use crate::state::State;
use crate::tool::Call;

/// The type of the ids of actions.
const ACTIONS: &str = "Action";
/// The most parts of a call that are kept until it ends.
const MAX_PARTS: usize = 64;

/// The conditions of a level, and what is kept for them.
#[derive(Debug)]
pub(crate) struct Remembered<'a> {
    leaves: &'a [Leaf],
    session: &'a History,
    project: &'a History,
    time: Option<i64>,
    /// What a record that leaves arguments out says of the parts.
    recorded: &'a [KeptPart],
}

impl<'a> Remembered<'a> {
    pub(crate) fn new(level: &'a RuleLevel, state: &'a State, event: &Event, call: &'a Call) -> Self {
        Self {
            leaves: &level.history,
            session: &state.session.history,
            project: &state.project.history,
            time: event.time,
            recorded: recorded(call),
        }
    }
}

/// What a record that leaves arguments out says of the parts of the call.
fn recorded(call: &Call) -> &[KeptPart] {
    let seen = call.analysis.redacted.as_ref().and_then(|before| before.rules.as_ref());
    seen.map_or(&[], |seen| seen.past.as_slice())
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
        Some(match history.evaluate(leaf, &happening(request, time, "request", &fields), &fields) {
            Verdict::True => Truth::Yes,
            Verdict::False => Truth::No,
            Verdict::Unknown(_) => Truth::Unknown,
        })
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

/// What patterns name the action by beside its own id.
fn also(action: &str) -> &'static [&'static str] {
    if is_builtin(action) { &[ANY_TOOL] } else { &[ANY_TOOL, OTHER_TOOL] }
}

/// A part of a call, as an event.
struct OfPart<'r, 'a> {
    request: &'r Request<'a>,
    part: usize,
    recorded: Option<&'r KeptPart>,
}

impl Fields for OfPart<'_, '_> {
    fn field(&self, path: &[String]) -> Field {
        let of_call =
            path.first().is_some_and(|first| matches!(first.as_str(), "input" | "command" | "path" | "changes"));
        if let Some(recorded) = self.recorded.filter(|_| of_call) {
            return recorded.field(path);
        }
        match path.first().map(String::as_str) {
            Some("first") => Field::Is(Kept::Bool(self.part == 0)),
            Some("session") => Field::Is(Kept::text(self.request.principal.session)),
            Some("agent") => Field::Is(Kept::text(self.request.principal.id)),
            Some("changes") => Field::Is(Kept::Bool(self.changes())),
            Some("input" | "command" | "path") => found(self.request.at(Var::Context, path, self.part)),
            _ => Field::Absent,
        }
    }

    fn is(&self, path: &[String], value: &Kept) -> Option<bool> {
        let wanted = if let Kept::Text(text) = value { Some(&**text) } else { None };
        if self.recorded.is_none()
            && let (Some(wanted), Some(own)) = (wanted, self.request.at(Var::Context, path, self.part))
            && own.equals(&Value::Text(wanted)) == Truth::No
        {
            return Some(false);
        }
        match self.field(path) {
            Field::Unclear => None,
            Field::Is(found) => Some(found == *value),
            Field::Absent => Some(false),
        }
    }
}

impl OfPart<'_, '_> {
    /// Whether the part changes files of the project, or may: it does not say which, or nobody knows what it does.
    fn changes(&self) -> bool {
        let at = |path: &[&str]| {
            let path: Vec<String> = path.iter().map(|name| String::from(*name)).collect();
            self.request.at(Var::Context, &path, self.part)
        };
        let is_repository = |name: &str| name == ".git" || name.starts_with(".git/");
        let elsewhere = at(&["path", "inside"]) == Some(Value::Bool(false))
            || matches!(at(&["path", "name"]), Some(Value::Text(name)) if is_repository(name));
        let writes = at(&["path", "writes"]).is_some_and(|writes| writes != Value::Bool(false));
        let unheard = match at(&["command", "verdict"]) {
            Some(Value::Text(verdict)) => verdict == "unknown",
            verdict => verdict.is_some(),
        };
        (writes && !elsewhere) || unheard
    }

    fn value(&self, param: &Param) -> Field {
        let var = match param.root {
            Root::Context => Var::Context,
            Root::Principal => Var::Principal,
            Root::Resource => Var::Resource,
        };
        match self.recorded.filter(|_| var == Var::Context) {
            Some(recorded) if recorded.has(&param.path) => recorded.field(&param.path),
            _ => found(self.request.at(var, &param.path, self.part)),
        }
    }
}

impl Decided for OfPart<'_, '_> {
    fn param(&self, param: &Param) -> Option<Kept> {
        if let Field::Is(value) = self.value(param) { Some(value) } else { None }
    }
}

/// A value of a request, as a history keeps it.
fn found(value: Option<Value<'_>>) -> Field {
    value.map_or(Field::Absent, |value| kept(&value).map_or(Field::Unclear, Field::Is))
}

/// The same; `None`: some of it cannot be told.
fn kept(value: &Value<'_>) -> Option<Kept> {
    Some(match value {
        Value::Bool(flag) => Kept::Bool(*flag),
        Value::Long(number) => Kept::Int(*number),
        Value::Text(text) => Kept::text(text),
        Value::Entity(entity) => Kept::entity(entity.kind, entity.id),
        Value::Set(items) => {
            let mut items = items.iter().map(kept).collect::<Option<Vec<_>>>()?;
            items.sort();
            items.dedup();
            Kept::List(items)
        }
        Value::Record(fields) => {
            let each = fields.iter().map(|(name, value)| Some((String::from(*name), kept(value)?)));
            Kept::Record(each.collect::<Option<_>>()?)
        }
        Value::Maybe(_) | Value::Shape(_) | Value::Unknown => return None,
    })
}

/// The levels whose rules ask for what happened before.
fn levels(policy: &Policy) -> impl Iterator<Item = &RuleLevel> {
    policy.rules.iter().flat_map(|rules| &rules.levels).filter(|level| !level.history.is_empty())
}

/// What rules see of a call that is decided, and what of it is kept until it ends; `None`: no rule asks for it.
///
/// Every part of the call is an event of the kind `request`, and, where it is let through, of the kind `call`.
pub(crate) fn decided(
    policy: &Policy,
    draft: &mut Draft,
    call: &Call,
    event: &Event,
    caller: Caller<'_>,
    let_through: bool,
) -> Vec<KeptPart> {
    let mut seen = Seen::default();
    let mut keeping = Keeping { call, kind: Some("response"), parts: Vec::new() };
    let kinds: &[&str] = if let_through { &["request", "call"] } else { &["request"] };
    for level in levels(policy) {
        let (own, state) = (RuleCall::new(&level.tools, call, event, caller), OfState::default());
        let request = own.request(&state);
        for kind in kinds {
            for part in 0..request.parts.len() {
                let fields = OfPart { request: &request, part, recorded: recorded(call).get(part) };
                seen.add(level, draft.state(), |history| happening(&request, time(event.time, history), kind, &fields));
            }
        }
        if let_through {
            keeping.add(level, &own, &request);
        }
    }
    seen.into_changes(policy, draft.state()).into_iter().for_each(|change| draft.change(change));
    keeping.parts
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
        for part in open.parts.iter().filter(|_| is_over(*outcome)) {
            let fields = part.ended(*outcome, event);
            for level in levels(policy) {
                seen.add(level, draft.state(), |history| Happening {
                    time: time(event.time, history),
                    namespace: ACTIONS,
                    action: &part.action,
                    also: also(&part.action),
                    kind: "response",
                    fields: &fields,
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
}

impl Seen {
    fn is_empty(&self) -> bool {
        self.session.is_empty() && self.project.is_empty()
    }

    fn add<'e>(&mut self, level: &RuleLevel, state: &State, event: impl Fn(&History) -> Happening<'e>) {
        for (whose, history, all) in [
            (Whose::Session, &state.session.history, &mut self.session),
            (Whose::Project, &state.project.history, &mut self.project),
        ] {
            let leaves: Vec<&Leaf> = level.history.iter().filter(|leaf| leaf.scope == whose).collect();
            if leaves.is_empty() {
                continue;
            }
            let observation = observe(leaves, &event(history));
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
        let stale = state.session.history.keys().any(|key| !known.iter().any(|known| known == key));
        let mut changes = Vec::new();
        if stale {
            changes.push(Change::HistoryKept { conditions: known });
        }
        if self.session.len() > 1 {
            self.session.retain(|observation| !observation.leaves.is_empty());
        }
        for (scope, seen) in [(Scope::Session, self.session), (Scope::Project, self.project)] {
            if !seen.is_empty() {
                changes.push(Change::Observed { scope, seen });
            }
        }
        changes
    }
}

/// The parts of a call, with the fields that patterns name.
struct Keeping<'c> {
    call: &'c Call,
    /// The kind of event whose patterns count; `None`: all of them, and what conditions read of the call.
    kind: Option<&'c str>,
    parts: Vec<KeptPart>,
}

impl Keeping<'_> {
    /// Notes the fields that the conditions of a level name.
    fn add(&mut self, level: &RuleLevel, own: &RuleCall<'_>, request: &Request<'_>) {
        let wanted = self.wanted(level, request.action.id);
        let Some(wanted) = wanted else { return };
        // Of more parts than are kept, one stands for all: nothing is known of it.
        let many = request.parts.len() > MAX_PARTS;
        let commands = own.commands_of_parts();
        for part in 0..if many { 1 } else { request.parts.len() } {
            let recorded = recorded(self.call).get(part);
            if self.parts.len() <= part {
                let command = commands.get(part).copied().flatten().filter(|_| !many);
                let unproven = many || self.call.analysis.unproven;
                let new = KeptPart::new(request.action.id, command, unproven);
                let (tests, status) = recorded.map_or((new.tests, new.status), |known| (known.tests, known.status));
                self.parts.push(KeptPart { tests, status, ..new });
            }
            let Some(kept) = self.parts.get_mut(part).filter(|_| !many) else { continue };
            let fields = OfPart { request, part, recorded };
            wanted.iter().for_each(|path| kept.note(path, fields.field(path)));
        }
    }

    /// The fields that the conditions of a level name of an action; `None`: none of them asks for it.
    fn wanted<'l>(&self, level: &'l RuleLevel, action: &str) -> Option<Vec<&'l Path>> {
        let also = also(action);
        let named = |pattern: &Pattern| pattern.action == action || also.contains(&pattern.action.as_str());
        let counts = |pattern: &&Pattern| named(pattern) && self.kind.is_none_or(|kind| pattern.kind == kind);
        let patterns: Vec<&Pattern> = level.history.iter().flat_map(|leaf| &leaf.patterns).filter(counts).collect();
        let counts_all = level.history.iter().flat_map(|leaf| &leaf.tables).any(|table| table.others);
        if patterns.is_empty() && !counts_all && self.kind.is_some() {
            return None;
        }
        let of_pattern = |pattern: &'l Pattern| {
            let equal = pattern.equal.iter().map(|field| &field.path);
            let compared = pattern.compared.iter().map(|field| &field.path);
            equal.chain(&pattern.present).chain(compared)
        };
        let of_call = |param: &&Param| self.kind.is_none() && param.root == Root::Context;
        let params = level.history.iter().flat_map(|leaf| &leaf.params).filter(of_call).map(|param| &param.path);
        let all = patterns.into_iter().flat_map(of_pattern).chain(params);
        Some(all.filter(|path| path.first().is_some_and(|first| first != "output")).collect())
    }
}

/// What a record that leaves arguments out keeps for conditions over what happened before.
pub(crate) fn recorded_parts(policy: &Policy, call: &Call, event: &Event, caller: Caller<'_>) -> Vec<KeptPart> {
    let mut keeping = Keeping { call, kind: None, parts: Vec::new() };
    for level in levels(policy) {
        let (own, state) = (RuleCall::new(&level.tools, call, event, caller), OfState::default());
        keeping.add(level, &own, &own.request(&state));
    }
    keeping.parts
}
