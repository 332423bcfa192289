//! How an agent gets on from a violation: reason, recovery, what is missing, and calls that would be allowed now.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value};

use crate::code::Code;
use crate::decide::Line;
use crate::decision::{Decision, Effect, Gate, NextCall};
use crate::eval::{Missing, World, bracketed};
use crate::event::builtin_labels;
use crate::example::Example;
use crate::judge::{Caller, Held, Verdict};
use crate::matcher::{ArgIs, Matcher, ServerPattern, ToolPattern};
use crate::policy::{Mode, Phase, Policy, Skill};
use crate::state::{Run, State};
use crate::tool::{Call, Reading, Tool};

/// The most calls that are suggested.
const MOST: usize = 3;

/// A run that was judged, with what the table said.
pub(crate) struct Judged<'a> {
    pub(crate) run: &'a Run,
    pub(crate) skill: &'a Skill,
    pub(crate) verdict: Verdict,
}

/// The effect of a verdict: what its run's mode makes of a violation.
pub(crate) fn effect(judged: &Judged<'_>) -> Effect {
    match (judged.verdict.line.is_violation(), judged.run.mode) {
        (false, _) => Effect::Allow,
        (true, Mode::Warn) => Effect::Warn,
        (true, Mode::Block) => Effect::Deny,
    }
}

/// The answer to a call that broke a rule of a run.
pub(crate) fn violation(
    world: &mut World<'_>,
    policy: &Policy,
    state: &State,
    judged: &Judged<'_>,
    (call, caller): (&Call, Caller<'_>),
) -> Decision {
    let (run, skill) = (judged.run, judged.skill);
    let blocking = blocking(world, judged);
    let phase = blocking.as_ref().map_or(run.phase.as_str(), |found| found.phase.name.as_str());
    let missing = blocking.as_ref().map(|found| found.missing.words.clone()).unwrap_or_default();
    let mut decision = Decision {
        effect: effect(judged),
        code: Some(code(judged.verdict.line)),
        gate: Some(Gate::Phase),
        line: Some(judged.verdict.line),
        tool: call.tool.name.clone(),
        reason: reason(judged, &call.tool.name, phase),
        recovery: recovery(judged, blocking.as_ref().map(|found| found.phase)),
        missing,
        skill: Some(skill.name.clone()),
        phase: Some(run.phase.clone()),
        phase_before: Some(run.phase.clone()),
        next_calls: Vec::new(),
    };
    decision.next_calls = suggestions(world, policy, state, judged, (blocking.as_ref(), call, caller));
    if decision.next_calls.is_empty() && skill.unlisted != crate::policy::Unlisted::Allow {
        decision
            .recovery
            .push_str(" No call of this skill would be allowed now; the user can run `phasegate deactivate`.");
    }
    decision
}

/// The code of a violation.
pub(crate) fn code(line: Line) -> Code {
    match line {
        Line::GlobalForbidden => Code::GlobalForbidden,
        Line::NotDone => Code::NotDone,
        Line::Forbidden => Code::PhaseForbidden,
        Line::Allowed | Line::Returned | Line::Entered | Line::Back | Line::Unlisted | Line::UnlistedDenied => {
            Code::Unlisted
        }
    }
}

/// The phase that keeps the way closed, and what it wants.
struct Blocking<'p> {
    phase: &'p Phase,
    missing: Missing<'p>,
}

fn blocking<'p>(world: &mut World<'_>, judged: &Judged<'p>) -> Option<Blocking<'p>> {
    let (run, skill) = (judged.run, judged.skill);
    let here = skill.phases.get(skill.phase_index(&run.phase)?)?;
    if let Some(condition) = &here.done_when {
        let missing = world.missing_here(run, condition);
        if !missing.words.is_empty() {
            return Some(Blocking { phase: here, missing });
        }
    }
    let way = judged.verdict.way.as_ref().filter(|_| judged.verdict.line == Line::NotDone)?;
    for index in &way.between {
        let Some(phase) = skill.phases.get(*index) else { continue };
        let Some(condition) = &phase.done_when else { continue };
        if !world.optional(run, phase) {
            return Some(Blocking { phase, missing: world.missing_there(run, condition) });
        }
    }
    let target = skill.phases.get(way.to)?;
    let requires = target.requires.as_ref()?;
    Some(Blocking { phase: target, missing: world.missing_there(run, requires) })
}

fn reason(judged: &Judged<'_>, tool: &str, blocking: &str) -> String {
    let (phase, skill) = (&judged.run.phase, &judged.skill.name);
    let target = judged.verdict.way.as_ref().and_then(|way| judged.skill.phases.get(way.to));
    match judged.verdict.line {
        Line::GlobalForbidden => format!("{tool} is globally forbidden during the {skill} skill"),
        Line::NotDone => {
            let target = target.map(|phase| phase.name.as_str()).unwrap_or_default();
            if target == blocking {
                format!("{tool} belongs to the \"{target}\" phase, and what that phase requires does not hold")
            } else {
                format!("{tool} belongs to the \"{target}\" phase, and the \"{blocking}\" phase is not done")
            }
        }
        Line::Forbidden => format!("{tool} is forbidden in the \"{phase}\" phase"),
        _ if judged.skill.unlisted == crate::policy::Unlisted::ReadOnly => {
            format!("{tool} is not listed for the \"{phase}\" phase, and is not known to only read")
        }
        _ => format!("{tool} is not listed for the \"{phase}\" phase"),
    }
}

fn recovery(judged: &Judged<'_>, blocking: Option<&Phase>) -> String {
    if judged.verdict.line == Line::GlobalForbidden {
        return format!("This tool is not used in the {} workflow.", judged.skill.name);
    }
    let here = judged.skill.phase_index(&judged.run.phase).and_then(|index| judged.skill.phases.get(index));
    let Some(phase) = blocking.filter(|_| judged.verdict.line == Line::NotDone).or(here) else { return String::new() };
    format!("Complete the \"{}\" phase first. Allowed tools: {}", phase.name, bracketed(&phase.allowed))
}

fn suggestions(
    world: &mut World<'_>,
    policy: &Policy,
    state: &State,
    judged: &Judged<'_>,
    (blocking, call, caller): (Option<&Blocking<'_>>, &Call, Caller<'_>),
) -> Vec<NextCall> {
    let here = judged.skill.phase_index(&judged.run.phase).and_then(|index| judged.skill.phases.get(index));
    let wanted = blocking.into_iter().flat_map(|found| found.missing.calls.iter().map(|test| &test.matcher));
    let own = here.into_iter().flat_map(|phase| &phase.allowed);
    let mut calls: Vec<NextCall> = Vec::new();
    let mut helping = true;
    for (first, matcher) in wanted.map(|matcher| (true, matcher)).chain(own.map(|matcher| (false, matcher))) {
        // Calls of the phase's own are a second choice: only where no call would supply what is missing.
        helping &= first || calls.is_empty();
        if !helping || calls.len() == MOST {
            break;
        }
        for next in complete(judged.skill, matcher, call) {
            if !calls.contains(&next) && would_be_allowed(world, policy, state, (&next, caller)) {
                calls.push(next);
                break;
            }
        }
        helping |= !first;
    }
    calls
}

/// Puts the file of the denied call where an example says `{file}`.
fn name_file(value: &mut Value, file: &str) {
    match value {
        Value::String(text) if text == "{file}" => *text = file.to_string(),
        Value::Array(items) => items.iter_mut().for_each(|item| name_file(item, file)),
        Value::Object(fields) => fields.values_mut().for_each(|item| name_file(item, file)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The calls that a matcher can stand for, likeliest first; none for prefixes and labels.
fn complete(skill: &Skill, matcher: &Matcher, denied: &Call) -> Vec<NextCall> {
    let ToolPattern::Exact(tool) = &matcher.tool else { return Vec::new() };
    let note = skill.tools.iter().find(|note| note.matcher.tool == matcher.tool);
    let mut input =
        note.and_then(|note| note.example.as_ref()).map_or_else(|| Value::Object(Map::new()), Example::arguments);
    let named = denied.reading.paths.first().map(|path| path.written.as_str());
    if let Some(file) = named.or_else(|| denied.input.get("file_path").and_then(Value::as_str)) {
        name_file(&mut input, file);
    }
    if let Value::Object(fields) = &mut input {
        if let Some(command) = &matcher.command {
            fields.insert("command".to_string(), Value::String(command.clone()));
        }
        for test in matcher.args.iter().filter(|test| !test.path.contains('.')) {
            let value = match &test.is {
                ArgIs::Equal(value) => value.clone(),
                ArgIs::OneOf(values) => values.first().cloned().unwrap_or(Value::Null),
                ArgIs::Begins(text) => Value::String(text.clone()),
                ArgIs::Present(_) => continue,
            };
            fields.insert(test.path.clone(), value);
        }
    }
    let bare = NextCall { tool: tool.clone(), server: None, input };
    let on = |server: &String| NextCall { server: Some(server.clone()), ..bare.clone() };
    match &matcher.server {
        ServerPattern::Named(server) => alloc::vec![on(server)],
        ServerPattern::Bare if builtin_labels(tool).is_empty() => {
            skill.servers.iter().map(on).chain([bare.clone()]).collect()
        }
        ServerPattern::Bare => alloc::vec![bare],
    }
}

/// Whether every live run would allow the call as things stand.
fn would_be_allowed(
    world: &mut World<'_>,
    policy: &Policy,
    state: &State,
    (next, caller): (&NextCall, Caller<'_>),
) -> bool {
    let labels = if next.server.is_none() { builtin_labels(&next.tool) } else { Default::default() };
    let call = Call {
        id: None,
        tool: Tool { name: next.tool.clone(), native: None, server: next.server.clone(), labels },
        input: next.input.clone(),
        reading: Reading::default(),
        background: false,
    };
    state.live_runs().all(|run| {
        policy
            .skill_version(&run.skill, &run.version)
            .is_some_and(|skill| !Held::new(skill, &call, caller).judge(world, run).line.is_violation())
    })
}
