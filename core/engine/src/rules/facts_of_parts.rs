//! What facts of rules ask of each part of a call (rules 4.10).

use alloc::collections::BTreeMap;

use phasegate_rules::{Request, Value, Var};
use serde_json::json;

use crate::calls::analysis::{Access, CallAnalysis, PathUse};
use crate::calls::exit_status::Status;
use crate::calls::parts::{labels_of, own_labels, text_of};
use crate::calls::tool::{Call, EXECUTE, Labels, READ, SHELL, WRITE};
use crate::decide::judge::Caller;
use crate::events::event::Event;
use crate::policy::Policy;
use crate::policy::matcher::{Matcher, Servers, Subject, Use};
use crate::prelude::*;
use crate::rules::RuleLevel;
use crate::rules::fact_part::FactPart;
use crate::rules::rule_fact::{AskedOfCalls, RuleFact};
use crate::rules::rule_request::{OfState, Origin, RuleCall};
use crate::state::redacted_tests::Fit;

/// The most parts of a call that are told apart; one more stands for the rest, and may be anything.
pub(crate) const MAX_PARTS: usize = 256;

/// The levels whose rules have facts.
pub(crate) fn levels(policy: &Policy) -> impl Iterator<Item = &RuleLevel> {
    policy.rules.iter().flat_map(|rules| &rules.levels).filter(|level| !level.facts.is_empty())
}

/// The facts of all levels, by their keys.
pub(crate) fn facts(policy: &Policy) -> BTreeMap<&str, &RuleFact> {
    levels(policy).flat_map(|level| &level.facts).map(|fact| (fact.key.as_str(), fact)).collect()
}

/// What the facts of a policy ask of the parts of a call, in the order in which rules see them.
pub(crate) fn parts(policy: &Policy, call: &Call, event: &Event, caller: Caller<'_>) -> Vec<FactPart> {
    let seen = call.analysis.redacted.as_ref().and_then(|before| before.rules.as_ref());
    if let Some(seen) = seen {
        return seen.facts.clone();
    }
    let mut parts: Vec<FactPart> = Vec::new();
    for level in levels(policy) {
        let (own, state) = (RuleCall::new(&level.tools, call, event, caller), OfState::default());
        let request = own.request(&state);
        parts.resize_with(request.parts.len().min(MAX_PARTS + 1), FactPart::default);
        let asks_for_tests = level.facts.iter().any(|fact| matches!(fact.asks, AskedOfCalls::Passed { .. }));
        if asks_for_tests {
            let (commands, origins) = (own.commands_of_parts(), own.origins());
            for number in 0..parts.len() {
                let changed = number >= MAX_PARTS || changes(&request, number);
                if let Some(last) = parts.get_mut(last_of(&origins, number, false)).filter(|_| changed) {
                    last.changes = true;
                }
                let Some(part) = parts.get_mut(number) else { continue };
                let command = commands.get(number).copied().flatten().filter(|_| !call.analysis.unproven);
                part.tests = command.and_then(|command| command.tests);
                part.status = part.tests.and(command).map_or(Status::Lost, |command| command.status);
            }
        }
        note_meant(level, &own, &request, call, caller, &mut parts);
    }
    parts
}

/// Notes the facts of a level, a line of which means a part. A command or a path that several parts stand for counts once,
/// with the last of them: until then it has not happened.
fn note_meant(
    level: &RuleLevel,
    own: &RuleCall<'_>,
    request: &Request<'_>,
    call: &Call,
    caller: Caller<'_>,
    parts: &mut [FactPart],
) {
    let (origins, of_level) = (own.origins(), request.action.labels.iter().map(|label| String::from(*label)));
    let whole: Labels = of_level.collect();
    let is_read = origins.len() == request.parts.len();
    let mut one = Call { analysis: CallAnalysis::default(), ..call.clone() };
    for number in 0..parts.len() {
        let path = request.parts.get(number).and_then(|part| part.path.as_ref());
        let origin = origins.get(number).filter(|_| is_read);
        let labels = origin.map_or_else(|| whole.clone(), |origin| narrow(&mut one, origin, path, call, &whole));
        let Caller { agent, kind: agent_kind } = caller;
        let call = if is_read { &one } else { call };
        let subject = Subject { call, labels: &labels, agent, agent_kind, named: true, evidence: false };
        for fact in &level.facts {
            let by_path = fact.lines().iter().any(|line| !line.paths.is_empty());
            let means = |line: &Matcher| number >= MAX_PARTS || means(line, subject);
            if fact.lines().iter().any(means)
                && let Some(part) = parts.get_mut(last_of(&origins, number, by_path))
                && !part.meant.contains(&fact.key)
            {
                part.meant.push(fact.key.clone());
            }
        }
    }
    if is_read {
        leave_to_inner(&origins, call, parts);
    }
}

/// Takes a fact from a command that runs another one which is meant by it: `sudo git push` is one push.
fn leave_to_inner(origins: &[Origin<'_>], call: &Call, parts: &mut [FactPart]) {
    let own = |origin: &Origin<'_>| {
        let (_, command) = origin.command.filter(|(at, _)| *at < call.analysis.commands.len())?;
        Some((command.span, command.launched))
    };
    let spans: Vec<_> = origins.iter().take(MAX_PARTS).map(own).collect();
    // The command around one that is run, with the nearest span, runs it.
    let launcher = |(start, end): (u32, u32)| {
        let all = spans.iter().flatten().map(|(span, _)| *span);
        let around = all.filter(|outer| outer.0 <= start && end <= outer.1 && *outer != (start, end));
        around.min_by_key(|(start, end)| end.saturating_sub(*start))
    };
    let mut inner = Vec::new();
    for (part, own) in parts.iter().zip(&spans) {
        let around = own.filter(|(_, launched)| *launched).and_then(|(span, _)| launcher(span));
        inner.extend(around.map(|around| (around, part.meant.clone())));
    }
    for (part, own) in parts.iter_mut().zip(&spans) {
        let runs = |key: &String| {
            let of_own = |(around, _): &&((u32, u32), Vec<String>)| own.is_some_and(|(span, _)| span == *around);
            inner.iter().filter(of_own).any(|(_, meant)| meant.contains(key))
        };
        part.meant.retain(|key| !runs(key));
    }
}

/// The last of the parts that stand for the same command, or for the same path of it, as this one.
fn last_of(origins: &[Origin<'_>], number: usize, by_path: bool) -> usize {
    let own = origins.iter().take(MAX_PARTS).skip(number);
    let same = own.take_while(|other| origins.get(number).is_some_and(|origin| origin.is_same(other, by_path)));
    number.saturating_add(same.count().saturating_sub(1))
}

/// Whether a line means a part: what it may do counts, and of paths those alone that it names.
fn means(line: &Matcher, subject: Subject<'_>) -> bool {
    match line.fit(subject, Servers::Every, Use::Forbid) {
        Fit::Yes => true,
        Fit::Doubt => line.paths.is_empty(),
        Fit::No => false,
    }
}

/// Makes a call one of its parts alone. Gives the labels of the part.
fn narrow(one: &mut Call, origin: &Origin<'_>, path: Option<&Value<'_>>, call: &Call, whole: &Labels) -> Labels {
    let at = origin.command.map(|_| 0);
    one.analysis.commands = origin.command.into_iter().map(|(_, command)| command.clone()).collect();
    one.analysis.paths = path.map(named).unwrap_or_default();
    one.analysis.paths.iter_mut().for_each(|path| path.command = at);
    let Some((_, command)) = origin.command else { return whole.clone() };
    if !call.command().is_some_and(serde_json::Value::is_string) {
        one.input = json!({"command": text_of(command)});
    }
    labels_of(command, &own_labels(whole))
}

/// The path of a part, for each thing that is or may be done to it; none where the call does not name it.
fn named(path: &Value<'_>) -> Vec<PathUse> {
    let Value::Record(fields) = path else { return Vec::new() };
    let field = |wanted: &str| fields.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value);
    let (Some(Value::Bool(true)), Some(Value::Text(name))) = (field("named"), field("name")) else { return Vec::new() };
    let each =
        [("reads", Access::Read), ("writes", Access::Write), ("removes", Access::Remove), ("runs", Access::Execute)];
    let done = each.into_iter().filter(|(does, _)| field(does) != Some(&Value::Bool(false)));
    let path =
        |(_, access)| PathUse { resolved: Some(String::from(*name)), ..PathUse::new(String::from(*name), access) };
    done.map(path).collect()
}

/// Whether a part changes files of the project, or may: it does not say which, or nobody knows what it does.
fn changes(request: &Request<'_>, part: usize) -> bool {
    let labels = &request.action.labels;
    if labels.contains(&READ) && ![WRITE, EXECUTE, SHELL].iter().any(|label| labels.contains(label)) {
        return false;
    }
    let at = |path: [&str; 2]| request.at(Var::Context, &path.map(String::from), part);
    let is_repository = |name: &str| name == ".git" || name.starts_with(".git/");
    let elsewhere = at(["path", "inside"]) == Some(Value::Bool(false))
        || matches!(at(["path", "name"]), Some(Value::Text(name)) if is_repository(name));
    let writes = at(["path", "writes"]).is_some_and(|writes| writes != Value::Bool(false));
    let verdict = at(["command", "verdict"]);
    // What is sent to another machine, without a file that is named, changes that one.
    let sends = verdict == Some(Value::Text("send")) && at(["path", "named"]) == Some(Value::Bool(false));
    let unheard = match verdict {
        Some(Value::Text(verdict)) => verdict == "unknown",
        verdict => verdict.is_some(),
    };
    (writes && !elsewhere && !sends) || unheard
}
