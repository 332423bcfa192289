//! Remedies: what is missing after a violation, and the calls that would be allowed now.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value, json};

use crate::analysis::{Access, CallAnalysis, PathUse, Word};
use crate::builtin_tools::builtin_labels;
use crate::decide::{Done, Line};
use crate::decision::{Effect, NextCall};
use crate::denial::{Asks, DecidingRun, Denial, DenialKind, Guidance, Standing, Stuck, WayBack};
use crate::eval::{Missing, World, texts};
use crate::example::Example;
use crate::gate::Context;
use crate::judge::{Caller, may_go_back};
use crate::matcher::{ArgIs, Matcher, ServerPattern, ToolPattern, same_server};
use crate::object::{Same, Selector};
use crate::phrase;
use crate::pins::Pins;
use crate::policy::{Phase, Skill, Unlisted};
use crate::run_verdict::{RunVerdict, verdicts};
use crate::slash_command;
use crate::state::Run;
use crate::suggested::suggested_call;
use crate::tool::{BASH, Call, Tool};
use crate::words;

/// The most calls that are suggested.
const MAX_SUGGESTIONS: usize = 3;

/// The denial of a call that broke a rule of a run.
pub(crate) fn violation(world: &mut World<'_>, context: &Context<'_>, verdict: &RunVerdict<'_>) -> Option<Denial> {
    let run = context.state.run(&verdict.run)?;
    let blocking = blocking(world, run, verdict);
    let missing = blocking.as_ref().map(|found| found.missing.words.clone()).unwrap_or_default();
    let is_persons = blocking.as_ref().is_some_and(|found| found.missing.is_persons());
    // Where a person's word alone is missing, no call helps.
    let meant = meant_servers(verdict, &context.call.tool);
    let typed = slash_command::of_people(context.call).filter(|_| !verdict.skill.compat);
    let suggested = if is_persons || !meant.is_empty() || typed.is_some() {
        Suggested::default()
    } else {
        suggestions(world, context, run, verdict, blocking.as_ref())
    };
    let tool = &context.call.tool.name;
    let subject = verdict.ruling.command.as_deref().map(|command| format!("`{}`", phrase::shortened(command)));
    let several = verdict.skill.named_servers().len() > 1;
    let server = context.call.tool.server.as_deref().filter(|_| !meant.is_empty() || several);
    let subject = server.map(|server| format!("{tool} of server `{server}`")).or(subject);
    let guidance = match typed {
        Some(typed) => Guidance::OfPeople(typed),
        None if meant.is_empty() => guidance(world, context.caller, run, verdict, blocking.as_ref(), &suggested),
        None => Guidance::OtherServer { meant },
    };
    Some(Denial {
        kind: kind(run, verdict, subject.as_deref().unwrap_or(tool), blocking.as_ref().map(|found| found.phase)),
        effect: Effect::of_violation(run.mode),
        tool: tool.clone(),
        run: Some(DecidingRun {
            skill: verdict.skill.name.clone(),
            phase: Some(run.phase.clone()),
            line: Some(verdict.ruling.line),
            began: run.tentative && run.history.is_empty(),
        }),
        missing,
        next_calls: suggested.calls,
        guidance,
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

fn kind(run: &Run, verdict: &RunVerdict<'_>, tool: &str, blocking: Option<&Phase>) -> DenialKind {
    let (skill, tool, phase) = (verdict.skill, tool.to_string(), run.phase.clone());
    let by = verdict.ruling.by.clone();
    if let (Line::NotDone, Some(unmet), Some(line)) = (verdict.ruling.line, verdict.ruling.unmet, by.clone()) {
        let phase = skill.phases.get(unmet.phase).map(|phase| phase.name.clone()).unwrap_or_default();
        return DenialKind::LineRequires { tool, phase, line };
    }
    match verdict.ruling.line {
        Line::GlobalForbidden => DenialKind::GlobalForbidden { tool, skill: skill.name.clone(), by },
        Line::NotDone => {
            let target = verdict.ruling.transition.as_ref().and_then(|transition| skill.phases.get(transition.to));
            DenialKind::NotDone {
                tool,
                target: target.map(|phase| phase.name.clone()).unwrap_or_default(),
                blocking: blocking.map_or(phase, |phase| phase.name.clone()),
                may: by,
            }
        }
        Line::Forbidden => DenialKind::PhaseForbidden { tool, phase, by },
        Line::Allowed | Line::Returned | Line::Entered | Line::Back | Line::Unlisted | Line::UnlistedDenied => {
            let here = skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index));
            let rule = here.map_or(skill.unlisted, |here| skill.unlisted_in(here).1);
            let (read_only, denied) = (rule == Unlisted::ReadOnly, verdict.ruling.denied);
            DenialKind::Unlisted { tool, phase, read_only, may: by, denied }
        }
    }
}

/// How to get on from where the run stands.
fn guidance(
    world: &mut World<'_>,
    caller: Caller<'_>,
    run: &Run,
    verdict: &RunVerdict<'_>,
    blocking: Option<&Blocking<'_>>,
    suggested: &Suggested,
) -> Guidance {
    let skill = verdict.skill;
    let here = skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index));
    let Some(here) = here.filter(|_| verdict.ruling.line != Line::GlobalForbidden) else { return Guidance::None };
    let phase = blocking.map_or(here, |found| found.phase);
    if skill.compat {
        return Guidance::Compat { phase: phase.name.clone(), allowed: texts(&phase.allowed) };
    }
    let is_done = world.done(run, here) == Done::Yes;
    let is_persons = blocking.is_some_and(|found| found.missing.is_persons());
    let next = here.next.first().and_then(|edge| skill.phases.get(edge.to));
    let atoms = |found: &Blocking<'_>| found.missing.calls.iter().map(|test| test.atom).collect::<Vec<_>>();
    let atoms = blocking.map(atoms).unwrap_or_default();
    let has_needs = blocking.is_some_and(|found| !found.missing.words.is_empty());
    // A phase on the way that nothing is missing for has to be entered.
    let next = blocking.filter(|_| !has_needs).map(|found| found.phase).or(next);
    let stuck = suggested.is_stuck() && !is_persons && !is_done && skill.unlisted_in(here).1 != Unlisted::Allow;
    Guidance::Strict(Box::new(Standing {
        skill: skill.name.clone(),
        done: is_done.then(|| here.name.clone()),
        phase: phase.name.clone(),
        asks: blocking.map_or(Asks::Completion, |found| found.asks),
        needs: blocking.map(|found| found.missing.phrases.clone()).unwrap_or_default(),
        uncounted: run.uncounted.iter().rev().find(|one| atoms.contains(&one.atom)).map(|one| one.why),
        gates: blocking.into_iter().flat_map(|found| &found.missing.gates).map(|gate| gate.name.clone()).collect(),
        only_gates: is_persons,
        back: way_back(world, skill, run, here),
        allowed: if has_needs || is_done { String::new() } else { phrase::lines(&here.allowed) },
        next: next.filter(|_| !has_needs).map(|next| (next.name.clone(), phrase::lines(&next.allowed))),
        done_by: phase.done_by.clone().filter(|kind| caller.agent.is_none() || caller.kind != kind),
        stuck: stuck.then_some(if next.is_some() { Stuck::Skip } else { Stuck::Deactivate }),
    }))
}

/// The rollback edge of a phase that failed: one below its limit, else the first.
fn way_back(world: &mut World<'_>, skill: &Skill, run: &Run, here: &Phase) -> Option<WayBack> {
    let edges: Vec<_> = here.back.iter().filter(|back| back.on_failure && run.failed).collect();
    let open = edges.iter().find(|back| may_go_back(world, skill, run, back));
    let target = skill.phases.get(open.or(edges.first())?.to)?;
    Some(WayBack { phase: target.name.clone(), allowed: phrase::lines(&target.allowed), open: open.is_some() })
}

/// The phase that keeps the transition closed, and what it wants.
struct Blocking<'p> {
    phase: &'p Phase,
    missing: Missing<'p>,
    /// What of the phase asks for what is missing.
    asks: Asks,
}

fn blocking<'p>(world: &mut World<'_>, run: &Run, verdict: &RunVerdict<'p>) -> Option<Blocking<'p>> {
    let skill = verdict.skill;
    let here = skill.phases.get(skill.phase_index(&run.phase)?)?;
    if let Some(unmet) = verdict.ruling.unmet {
        let phase = skill.phases.get(unmet.phase)?;
        let missing = world.missing_for(run, phase.required_by(unmet.line)?, verdict.call.decided(&verdict.ruling));
        return Some(Blocking { phase, missing, asks: Asks::Line });
    }
    let missing = world.missing_here(run, here);
    if !missing.words.is_empty() {
        return Some(Blocking { phase: here, missing, asks: Asks::Completion });
    }
    if verdict.ruling.line != Line::NotDone {
        return waits_for_person(world, skill, run, here);
    }
    let transition = verdict.ruling.transition.as_ref()?;
    for index in &transition.between {
        let Some(phase) = skill.phases.get(*index) else { continue };
        let Some(condition) = &phase.done_when else { continue };
        if !world.optional(run, phase) {
            let missing = world.missing_there(run, condition);
            return Some(Blocking { phase, missing, asks: Asks::Completion });
        }
    }
    let target = skill.phases.get(transition.to)?;
    let requires = target.requires.as_ref()?;
    Some(Blocking { phase: target, missing: world.missing_there(run, requires), asks: Asks::Entry })
}

/// The phase after a done one, where only a person's word is missing for it.
fn waits_for_person<'p>(world: &mut World<'_>, skill: &'p Skill, run: &Run, here: &Phase) -> Option<Blocking<'p>> {
    let phase = here.next.first().and_then(|edge| skill.phases.get(edge.to))?;
    let done = phase.requires.is_some() && world.done(run, here) == Done::Yes;
    let missing = world.missing_there(run, phase.requires.as_ref().filter(|_| done)?);
    missing.is_persons().then_some(Blocking { phase, missing, asks: Asks::Entry })
}

/// The calls that are suggested.
#[derive(Default)]
struct Suggested {
    calls: Vec<NextCall>,
    /// Whether the policy names calls of which none could be completed, for example by a label.
    untried: bool,
    /// Whether calls were looked for.
    searched: bool,
}

impl Suggested {
    /// Whether no call that the phase lists would be allowed.
    fn is_stuck(&self) -> bool {
        self.searched && self.calls.is_empty() && !self.untried
    }
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
    let wanted = blocking.into_iter().flat_map(|found| &found.missing.calls);
    let is_done = here.is_some_and(|phase| world.done(run, phase) == Done::Yes);
    let next = here.filter(|_| is_done).and_then(|phase| skill.phases.get(phase.next.first()?.to));
    let back = here.and_then(|phase| phase.back.iter().find(|back| back.on_failure && run.failed));
    let back = back.and_then(|back| skill.phases.get(back.to));
    // What a phase asks for is not asked for again once it is done.
    let own = next.into_iter().chain(here.filter(|_| !is_done)).chain(back).flat_map(|phase| &phase.allowed);
    let mut found = Suggested { searched: true, ..Suggested::default() };
    for test in wanted {
        let about = object(&test.same, verdict.call.decided(&verdict.ruling));
        suggest(world, context, skill, Sought { matcher: &test.matcher, about }, &mut found);
    }
    // A call of the phase, or of the one before or after, is the second choice: only where no call would supply what is missing.
    for matcher in own {
        if found.calls.is_empty() {
            suggest(world, context, skill, Sought { matcher, about: Map::new() }, &mut found);
        }
    }
    found
}

/// What a suggested call has to be.
struct Sought<'m> {
    matcher: &'m Matcher,
    /// Arguments that name what it has to be about.
    about: Map<String, Value>,
}

/// The arguments that make a call about the same as this one.
fn object(same: &[Same], call: &Call) -> Map<String, Value> {
    let mut about = Map::new();
    for one in same {
        if let (Selector::Argument(name), Some(values)) = (&one.its, one.mine.values(call)) {
            about.insert(name.clone(), json!(values));
        }
    }
    about
}

/// Puts them among other arguments, as a list unless an example has a single value.
fn put(input: &mut Map<String, Value>, about: &Map<String, Value>) {
    for (name, values) in about.iter().filter(|(name, _)| !name.contains('.')) {
        let single = values.as_array().filter(|all| all.len() == 1).and_then(|all| all.first());
        let one = input.get(name).is_some_and(Value::is_string);
        input.insert(name.clone(), single.filter(|_| one).unwrap_or(values).clone());
    }
}

/// Adds the likeliest call that the matcher stands for and that would be allowed.
fn suggest(world: &mut World<'_>, context: &Context<'_>, skill: &Skill, sought: Sought<'_>, found: &mut Suggested) {
    if found.calls.len() == MAX_SUGGESTIONS {
        return;
    }
    let mut candidates = complete(skill, sought.matcher, context);
    for next in &mut candidates {
        next.input.as_object_mut().into_iter().for_each(|input| put(input, &sought.about));
    }
    found.untried |= candidates.is_empty();
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

/// Whether an example's `{file}` still stands in the arguments.
fn has_placeholder(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("{file}"),
        Value::Array(items) => items.iter().any(has_placeholder),
        Value::Object(fields) => fields.values().any(has_placeholder),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The complete calls that a matcher can stand for, likeliest first; none for prefixes, labels, and lists of commands, of
/// which nobody knows the one that fits, and none whose arguments are not known.
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
    // Of a shell line, only what it is known to change is a file; its other words may be anything.
    let changes = |path: &PathUse| matches!(path.access, Access::Write | Access::Remove) && path.resolved.is_some();
    let mut files = denied.analysis.paths.iter().filter(|path| path.command.is_none() || changes(path));
    let named = files.next().map(|path| path.written.as_str());
    let named = named.or_else(|| denied.input.get("file_path").and_then(Value::as_str));
    if let Some(file) = named {
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
                ArgIs::Begins(text) | ArgIs::Contains(text) => Value::String(text.clone()),
                ArgIs::Present(_) => continue,
            };
            fields.insert(test.path.clone(), value);
        }
    }
    let is_builtin = !builtin_labels(tool).is_empty();
    let mut bare = NextCall { tool: tool.clone(), server: None, input };
    if is_builtin && bare.input.as_object().is_none_or(Map::is_empty) {
        let Some(file) = named.filter(|_| tool == "Read") else { return Vec::new() };
        bare.input = json!({"file_path": file});
    }
    if has_placeholder(&bare.input) {
        if is_builtin {
            return Vec::new();
        }
        bare.input = Value::Object(Map::new());
    }
    let on = |server: &String| NextCall { server: Some(server.clone()), ..bare.clone() };
    match &matcher.server {
        ServerPattern::Named(server) => alloc::vec![on(server)],
        ServerPattern::Bare if !is_builtin => {
            let mut servers: Vec<&String> = skill.servers.iter().collect();
            servers.sort_by_key(|server| {
                lists(&context.state.project.servers, server, tool).map_or(1, |has| 2 * u8::from(!has))
            });
            servers.retain(|server| lists(&context.state.project.servers, server, tool) != Some(false));
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
    let line = next.input.get("command").and_then(Value::as_str).filter(|_| next.tool == BASH);
    let commands = line.and_then(words::sample).into_iter().collect();
    let analysis = CallAnalysis { commands, ..CallAnalysis::default() };
    let call = suggested_call(&next.tool, next.server.clone(), next.input.clone(), analysis);
    let known = |run: &Run| context.policy.skill_version(&run.skill, &run.version).is_some();
    context.state.live_runs().all(known)
        && verdicts(world, context.policy, context.state, &call, context.caller)
            .iter()
            .all(|verdict| !verdict.ruling.line.is_violation())
}
