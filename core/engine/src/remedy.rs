//! Remedies: what is missing after a violation, and the calls that would be allowed now.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value};

use crate::analysis::{CallAnalysis, Word};
use crate::builtin_tools::builtin_labels;
use crate::decide::Line;
use crate::decision::{Effect, NextCall};
use crate::denial::{DecidingRun, Denial, DenialKind, PhaseTools};
use crate::eval::{Missing, World, texts};
use crate::example::Example;
use crate::gate::Context;
use crate::matcher::{ArgIs, Matcher, ServerPattern, ToolPattern, same_server};
use crate::pins::Pins;
use crate::policy::{Phase, Skill, Unlisted};
use crate::run_verdict::{RunVerdict, verdicts};
use crate::state::Run;
use crate::tool::{BASH, Call, Tool};
use crate::words;

/// The most calls that are suggested.
const MAX_SUGGESTIONS: usize = 3;
/// The most characters of a command that a denial repeats.
const LONGEST_COMMAND: usize = 80;

/// The denial of a call that broke a rule of a run.
pub(crate) fn violation(world: &mut World<'_>, context: &Context<'_>, verdict: &RunVerdict<'_>) -> Option<Denial> {
    let run = context.state.run(&verdict.run)?;
    let blocking = blocking(world, run, verdict);
    let missing = blocking.as_ref().map(|found| found.missing.words.clone()).unwrap_or_default();
    let (mut gates, mut is_persons) = (Vec::new(), false);
    if let Some(Blocking { missing, .. }) = &blocking {
        gates = missing.gates.iter().map(|gate| gate.name.clone()).collect();
        is_persons = !gates.is_empty() && missing.calls.is_empty() && !missing.more;
    }
    // Where a person's word alone is missing, no call helps.
    let meant_servers = meant_servers(verdict, &context.call.tool);
    let Suggested { calls: next_calls, tried, .. } = if is_persons || !meant_servers.is_empty() {
        Suggested::default()
    } else {
        suggestions(world, context, run, verdict, blocking.as_ref())
    };
    let here = verdict.skill.phase_index(&run.phase).and_then(|index| verdict.skill.phases.get(index));
    let nothing = here.is_none_or(|phase| phase.allowed.is_empty());
    let stuck = next_calls.is_empty() && (tried || nothing) && verdict.skill.unlisted != Unlisted::Allow;
    let tool = &context.call.tool.name;
    let subject = verdict.ruling.command.as_deref().map(|command| format!("`{}`", shortened(command)));
    let server = context.call.tool.server.as_deref().filter(|_| !meant_servers.is_empty());
    let subject = server.map(|server| format!("{tool} of server `{server}`")).or(subject);
    Some(Denial {
        kind: kind(run, verdict, subject.as_deref().unwrap_or(tool), blocking.as_ref().map(|found| found.phase)),
        effect: Effect::of_violation(run.mode),
        tool: tool.clone(),
        run: Some(DecidingRun {
            skill: verdict.skill.name.clone(),
            phase: Some(run.phase.clone()),
            line: Some(verdict.ruling.line),
        }),
        missing,
        next_calls,
        gates,
        stuck,
        meant_servers,
    })
}

/// The servers whose tool of this name the skill allows, where the tool is of a server that it names nowhere.
fn meant_servers(verdict: &RunVerdict<'_>, tool: &Tool) -> Vec<String> {
    let (skill, Some(server)) = (verdict.skill, tool.server.as_deref()) else { return Vec::new() };
    if skill.compat || verdict.ruling.line == Line::GlobalForbidden {
        return Vec::new();
    }
    let of_name = |matcher: &&Matcher| matches!(&matcher.tool, ToolPattern::Exact(name) if *name == tool.name);
    let mut meant: Vec<String> = Vec::new();
    for matcher in skill.phases.iter().flat_map(|phase| &phase.allowed).filter(of_name) {
        let named = match &matcher.server {
            ServerPattern::Named(server) => core::slice::from_ref(server),
            ServerPattern::Bare => &skill.servers,
        };
        meant.extend(named.iter().cloned());
    }
    if meant.iter().chain(&skill.servers).any(|known| same_server(known, server)) {
        return Vec::new();
    }
    meant.sort_unstable();
    meant.dedup();
    meant
}

/// The beginning of a command that is too long for a sentence.
fn shortened(command: &str) -> String {
    match command.char_indices().nth(LONGEST_COMMAND) {
        Some((end, _)) => format!("{}\u{2026}", command.get(..end).unwrap_or_default()),
        None => command.to_string(),
    }
}

fn kind(run: &Run, verdict: &RunVerdict<'_>, tool: &str, blocking: Option<&Phase>) -> DenialKind {
    let (skill, tool, phase) = (verdict.skill, tool.to_string(), run.phase.clone());
    let phase_tools = |phase: &Phase| PhaseTools { phase: phase.name.clone(), allowed: texts(&phase.allowed) };
    let here = skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index));
    match verdict.ruling.line {
        Line::GlobalForbidden => DenialKind::GlobalForbidden { tool, skill: skill.name.clone() },
        Line::NotDone => {
            let target = verdict.ruling.transition.as_ref().and_then(|transition| skill.phases.get(transition.to));
            DenialKind::NotDone {
                tool,
                target: target.map(|phase| phase.name.clone()).unwrap_or_default(),
                blocking: blocking.map_or(phase, |phase| phase.name.clone()),
                complete: blocking.or(here).map(phase_tools),
            }
        }
        Line::Forbidden => DenialKind::PhaseForbidden { tool, phase, complete: here.map(phase_tools) },
        Line::Allowed | Line::Returned | Line::Entered | Line::Back | Line::Unlisted | Line::UnlistedDenied => {
            let read_only = skill.unlisted == Unlisted::ReadOnly;
            DenialKind::Unlisted { tool, phase, read_only, complete: here.map(phase_tools) }
        }
    }
}

/// The phase that keeps the transition closed, and what it wants.
struct Blocking<'p> {
    phase: &'p Phase,
    missing: Missing<'p>,
}

fn blocking<'p>(world: &mut World<'_>, run: &Run, verdict: &RunVerdict<'p>) -> Option<Blocking<'p>> {
    let skill = verdict.skill;
    let here = skill.phases.get(skill.phase_index(&run.phase)?)?;
    let missing = world.missing_here(run, here);
    if !missing.words.is_empty() {
        return Some(Blocking { phase: here, missing });
    }
    let transition = verdict.ruling.transition.as_ref().filter(|_| verdict.ruling.line == Line::NotDone)?;
    for index in &transition.between {
        let Some(phase) = skill.phases.get(*index) else { continue };
        let Some(condition) = &phase.done_when else { continue };
        if !world.optional(run, phase) {
            return Some(Blocking { phase, missing: world.missing_there(run, condition) });
        }
    }
    let target = skill.phases.get(transition.to)?;
    let requires = target.requires.as_ref()?;
    Some(Blocking { phase: target, missing: world.missing_there(run, requires) })
}

/// The calls that are suggested.
#[derive(Default)]
struct Suggested {
    calls: Vec<NextCall>,
    /// Whether a complete call was considered at all; prefixes, labels and paths alone give none.
    tried: bool,
}

fn suggestions(
    world: &mut World<'_>,
    context: &Context<'_>,
    run: &Run,
    verdict: &RunVerdict<'_>,
    blocking: Option<&Blocking<'_>>,
) -> Suggested {
    let skill = verdict.skill;
    let here = skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index));
    let wanted = blocking.into_iter().flat_map(|found| found.missing.calls.iter().map(|test| &test.matcher));
    let own = here.into_iter().flat_map(|phase| &phase.allowed);
    let mut found = Suggested::default();
    for matcher in wanted {
        suggest(world, context, skill, matcher, &mut found);
    }
    // A call of the phase's own is the second choice: only where no call would supply what is missing.
    for matcher in own {
        if found.calls.is_empty() {
            suggest(world, context, skill, matcher, &mut found);
        }
    }
    found
}

/// Adds the likeliest call that the matcher stands for and that would be allowed.
fn suggest(world: &mut World<'_>, context: &Context<'_>, skill: &Skill, matcher: &Matcher, found: &mut Suggested) {
    if found.calls.len() == MAX_SUGGESTIONS {
        return;
    }
    let candidates = complete(skill, matcher, context);
    found.tried |= !candidates.is_empty();
    let mut candidates = candidates.into_iter();
    let allowed = candidates.find(|next| !found.calls.contains(next) && would_be_allowed(world, context, next));
    found.calls.extend(allowed);
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

/// The likeliest line that a command pattern selects.
fn line(pattern: &str) -> Option<String> {
    let words = words::sample(pattern)?.words.into_iter();
    let known = words.map(|word| if let Word::Known(text) = word { text } else { String::new() });
    Some(known.collect::<Vec<_>>().join(" "))
}

/// The calls that a matcher can stand for, likeliest first; none for prefixes, labels, and lists of commands, of which
/// nobody knows the one that fits.
fn complete(skill: &Skill, matcher: &Matcher, context: &Context<'_>) -> Vec<NextCall> {
    let denied = context.call;
    let ToolPattern::Exact(tool) = &matcher.tool else { return Vec::new() };
    if matcher.commands.len() > 1 {
        return Vec::new();
    }
    let command = matcher.commands.first().map(|command| line(command).unwrap_or_else(|| command.clone()));
    if command.as_ref().is_some_and(|command| command.contains('*')) {
        return Vec::new();
    }
    let note = skill.tools.iter().find(|note| note.matcher.tool == matcher.tool);
    let example = note.and_then(|note| note.example.as_ref());
    let mut input = example.map_or_else(|| Value::Object(Map::new()), Example::arguments);
    let named = denied.analysis.paths.first().map(|path| path.written.as_str());
    if let Some(file) = named.or_else(|| denied.input.get("file_path").and_then(Value::as_str)) {
        name_file(&mut input, file);
    }
    if let Value::Object(fields) = &mut input {
        if let Some(command) = command {
            fields.insert("command".to_string(), Value::String(command));
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
            let mut servers: Vec<&String> = skill.servers.iter().collect();
            servers.sort_by_key(|server| {
                lists(&context.state.project.servers, server, tool).map_or(1, |has| 2 * u8::from(!has))
            });
            servers.into_iter().map(on).chain([bare.clone()]).collect()
        }
        ServerPattern::Bare => alloc::vec![bare],
    }
}

/// Whether the server lists the tool; `None` where its list was never seen.
fn lists(pins: &Pins, server: &str, tool: &str) -> Option<bool> {
    let (_, tools) = pins.iter().find(|(known, _)| same_server(known, server))?;
    Some(tools.contains_key(tool))
}

/// Whether every live run would allow the call as things stand.
fn would_be_allowed(world: &mut World<'_>, context: &Context<'_>, next: &NextCall) -> bool {
    let labels = if next.server.is_none() { builtin_labels(&next.tool) } else { Default::default() };
    let line = next.input.get("command").and_then(Value::as_str).filter(|_| next.tool == BASH);
    let commands = line.and_then(words::sample).into_iter().collect();
    let call = Call {
        id: None,
        tool: Tool { name: next.tool.clone(), native: None, server: next.server.clone(), labels },
        input: next.input.clone(),
        analysis: CallAnalysis { commands, ..CallAnalysis::default() },
        background: false,
    };
    let known = |run: &Run| context.policy.skill_version(&run.skill, &run.version).is_some();
    context.state.live_runs().all(known)
        && verdicts(world, context.policy, context.state, &call, context.caller)
            .iter()
            .all(|verdict| !verdict.ruling.line.is_violation())
}
