//! Next calls: complete calls that would be allowed now, each checked by judging it.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value, json};

use crate::analysis::{Access, CallAnalysis, Invocation, PathUse, Word};
use crate::branch_start::BranchStart;
use crate::builtin_tools::builtin_labels;
use crate::condition::CallTest;
use crate::decide::Done;
use crate::decision::NextCall;
use crate::eval::World;
use crate::example::Example;
use crate::gate::Context;
use crate::judge::Caller;
use crate::matcher::{AgentTest, ArgIs, DOES, Matcher, ServerPattern, ToolPattern, same_server};
use crate::object::{Same, Selector};
use crate::pins::Pins;
use crate::policy::{Optional, Phase, Skill};
use crate::run_verdict::{RunVerdict, verdicts};
use crate::state::{Run, State};
use crate::steps::Steps;
use crate::suggested::suggested_call;
use crate::tool::{AGENT, BASH, Call, SKILL};
use crate::words;

/// The most calls that are suggested.
const MAX_SUGGESTIONS: usize = 3;

/// The calls that are suggested.
#[derive(Default)]
pub(crate) struct Suggested {
    pub(crate) calls: Vec<NextCall>,
    /// Whether the policy names calls of which none could be completed, for example by a label.
    untried: bool,
    /// Whether calls were looked for.
    searched: bool,
}

impl Suggested {
    /// Whether no call that the phase lists would be allowed.
    pub(crate) fn is_stuck(&self) -> bool {
        self.searched && self.calls.is_empty() && !self.untried
    }
}

/// The calls that bring the run on, or that its phases list.
pub(crate) fn suggestions(
    world: &mut World<'_>,
    context: &Context<'_>,
    run: &Run,
    verdict: &RunVerdict<'_>,
    wanted: &[&CallTest],
) -> Suggested {
    let skill = verdict.skill;
    let here = skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index));
    let done = here.map_or(Done::NotAsked, |phase| world.done(run, phase));
    let failed = here.is_some_and(|phase| world.has_failed(run, phase));
    let back = here.and_then(|phase| phase.back.iter().find(|back| back.on_failure && failed));
    let back = back.and_then(|back| skill.phases.get(back.to));
    // What a phase asks for is not asked for again once it is done.
    let own = here.filter(|_| done != Done::Yes).into_iter().chain(back).flat_map(|phase| phase.lines(run.at_gate()));
    let ahead = if done == Done::No { Vec::new() } else { ahead(skill, here) };
    let mut found = Suggested { searched: true, ..Suggested::default() };
    for test in wanted {
        let about = object(&test.same, verdict.call.decided(&verdict.ruling));
        suggest(world, context, skill, Sought { about, ..Sought::of(&test.matcher) }, &mut found);
    }
    // A call of a phase that may be entered now, or of the present one, is the second choice: only where no call would
    // supply what is missing.
    let first_ahead = ahead.first().copied().filter(|_| done == Done::Yes);
    let steps = run.steps.as_ref().filter(|_| here.is_some_and(|phase| phase.steps.is_some()));
    let steps = steps.into_iter().flat_map(Steps::ready).flat_map(|(_, step)| &step.lines);
    let lines = first_ahead.into_iter().flat_map(Phase::enters).chain(own).map(Sought::of);
    for sought in lines.chain(steps.map(|matcher| Sought { once: true, ..Sought::of(matcher) })) {
        if found.calls.is_empty() {
            suggest(world, context, skill, sought, &mut found);
        }
    }
    if !found.calls.is_empty() {
        return found;
    }
    for phase in ahead {
        let before = found.calls.len();
        for matcher in phase.enters() {
            if found.calls.len() == before {
                suggest(world, context, skill, Sought::of(matcher), &mut found);
            }
        }
    }
    found
}

/// The phases after the present one, up to the first that may not be passed over.
fn ahead<'p>(skill: &'p Skill, here: Option<&'p Phase>) -> Vec<&'p Phase> {
    let mut ahead: Vec<&Phase> = Vec::new();
    let mut at = here;
    while let Some(next) = at.and_then(|phase| skill.phases.get(phase.next.first()?.to)) {
        if ahead.len() == MAX_SUGGESTIONS || ahead.iter().any(|known| known.name == next.name) {
            break;
        }
        ahead.push(next);
        at = (next.optional != Optional::No).then_some(next);
    }
    ahead
}

/// What a suggested call has to be.
struct Sought<'m> {
    matcher: &'m Matcher,
    /// Arguments that name what it has to be about.
    about: Map<String, Value>,
    /// Whether a call that fails uses the line up, so that none is guessed.
    once: bool,
}

impl<'m> Sought<'m> {
    /// What a line selects.
    fn of(matcher: &'m Matcher) -> Self {
        Self { matcher, about: Map::new(), once: false }
    }

    /// Whether its commands have words that would have to be guessed.
    fn is_guess(&self) -> bool {
        self.once && self.matcher.commands.iter().any(|command| command.contains('*'))
    }
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
    if found.calls.len() == MAX_SUGGESTIONS || !is_for(sought.matcher, context.caller) {
        return;
    }
    let mut candidates = if sought.is_guess() { Vec::new() } else { complete(skill, sought.matcher, context) };
    for next in &mut candidates {
        next.input.as_object_mut().into_iter().for_each(|input| put(input, &sought.about));
    }
    found.untried |= candidates.is_empty();
    let mut candidates = candidates.into_iter();
    let allowed = candidates.find(|next| !found.calls.contains(next) && would_be_allowed(world, context, next));
    found.calls.extend(allowed);
}

/// Whether a line is one of the agent that called.
fn is_for(matcher: &Matcher, caller: Caller<'_>) -> bool {
    match &matcher.agent {
        None => true,
        Some(AgentTest::Main) => caller.agent.is_none(),
        Some(AgentTest::Subagent | AgentTest::Kind(_)) => caller.agent.is_some(),
    }
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
    if let Some(invoked) = matcher.invokes.as_deref() {
        return invocations(matcher, invoked, context.state);
    }
    let ToolPattern::Exact(tool) = &matcher.tool else { return Vec::new() };
    if matcher.commands.len() > 1 || matcher.commands.iter().any(|command| command.starts_with(DOES)) {
        return Vec::new();
    }
    let command = matcher.commands.first().map(|command| line(command).unwrap_or_else(|| command.clone()));
    if command.as_ref().is_some_and(|command| command.contains('*')) {
        return Vec::new();
    }
    let note = skill.tools.iter().find(|note| note.matcher.tool == matcher.tool);
    let example = note.and_then(|note| note.example.as_ref());
    let mut input = example.map_or_else(|| Value::Object(Map::new()), Example::arguments);
    let named = named_file(context.call);
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

/// The file that a call is about.
fn named_file(denied: &Call) -> Option<&str> {
    // Of a shell line, only what it is known to change is a file; its other words may be anything.
    let changes = |path: &PathUse| matches!(path.access, Access::Write | Access::Remove) && path.resolved.is_some();
    let mut files = denied.analysis.paths.iter().filter(|path| path.command.is_none() || changes(path));
    let named = files.next().map(|path| path.written.as_str());
    named.or_else(|| denied.input.get("file_path").and_then(Value::as_str))
}

/// The calls that invoke a skill or start a subagent. Where a start may be about several runs, it names one.
fn invocations(matcher: &Matcher, invoked: &Invocation, state: &State) -> Vec<NextCall> {
    let call = invoking(matcher, invoked);
    let parts = state.live_runs().filter_map(|run| run.branch.as_ref()).filter(|part| part.agent.is_none());
    let starts = matches!(invoked, Invocation::Agent(_));
    let names = parts.map(|part| &part.name).filter(|name| starts && !name.is_empty());
    let named = names.filter_map(|name| {
        let mut named = call.clone()?;
        named.input.as_object_mut()?.insert("description".to_string(), json!(name));
        Some(named)
    });
    call.clone().into_iter().chain(named).collect()
}

/// The call that invokes a skill or starts a subagent of this name, as far as its name says all.
fn invoking(matcher: &Matcher, invoked: &Invocation) -> Option<NextCall> {
    let says_all = matcher.args.is_empty() && matcher.commands.is_empty() && !invoked.name().contains('*');
    let (tool, argument) = match invoked {
        Invocation::Skill(_) => (SKILL, "skill"),
        Invocation::Agent(_) => (AGENT, "subagent_type"),
    };
    let input = json!({argument: invoked.name()});
    says_all.then(|| NextCall { tool: tool.to_string(), server: None, input })
}

/// What a suggested call has the client do.
fn invokes(next: &NextCall) -> Option<Invocation> {
    let text = |name: &str| next.input.get(name).and_then(Value::as_str).map(ToString::to_string);
    match next.tool.as_str() {
        _ if next.server.is_some() => None,
        SKILL => text("skill").map(Invocation::Skill),
        AGENT => text("subagent_type").map(Invocation::Agent),
        _ => None,
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
    let analysis = CallAnalysis { commands, invokes: invokes(next), ..CallAnalysis::default() };
    let call = suggested_call(&next.tool, next.server.clone(), next.input.clone(), analysis);
    let known = |run: &Run| context.policy.skill_version(&run.skill, &run.version).is_some();
    let start = BranchStart { policy: context.policy, state: context.state, call: &call, caller: context.caller };
    if start.unclear(world).is_some() {
        return false;
    }
    context.state.live_runs().all(known)
        && verdicts(world, context.policy, context.state, &call, context.caller)
            .iter()
            .all(|verdict| !verdict.ruling.line.is_violation())
}
