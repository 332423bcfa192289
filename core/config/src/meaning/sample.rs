//! Sample calls: for every matcher of a skill one call that it selects.

use std::collections::BTreeSet;

use phasegate_core::analysis::{Access, CallAnalysis, Invocation, PathUse, SimpleCommand, Verdict, Word};
use phasegate_core::common::common;
use phasegate_core::matcher::{AgentTest, ArgIs, Matcher, ServerPattern, Subject, ToolPattern, Use};
use phasegate_core::policy::Skill;
use phasegate_core::tool::{AGENT, Call, Labels, READ, SKILL, Tool, WRITE, shell_labels};
use phasegate_core::words;
use phasegate_shell::{Table, Trust, judge};
use serde_json::{Map, Value};

use super::cover::{ANY, covers, path_of};

/// A call that stands for those a matcher selects.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    call: Call,
    pub(super) labels: Labels,
    agent: Option<String>,
    kind: String,
    /// The matcher that it stands for.
    pub(super) of: Matcher,
    /// Another matcher that selects each of the calls too.
    also: Option<Matcher>,
}

impl Sample {
    /// A call that the matcher selects.
    pub(super) fn of(matcher: &Matcher, skill: &Skill) -> Self {
        Self::running(command_of(matcher).and_then(|command| words::shortest(&command)), matcher, skill)
    }

    fn running(command: Option<SimpleCommand>, matcher: &Matcher, skill: &Skill) -> Self {
        let (name, label) = match &matcher.tool {
            ToolPattern::Any => (matcher.invokes.as_deref().map_or(ANY.to_string(), tool_of), None),
            ToolPattern::Exact(name) => (name.clone(), None),
            ToolPattern::Prefix(prefix) => (format!("{prefix}{ANY}"), None),
            ToolPattern::Label(label) => (format!("@{label}"), Some(label.clone())),
        };
        let server = match &matcher.server {
            ServerPattern::Bare => None,
            ServerPattern::Named(server) => Some(server.clone()),
        };
        let mut labels = if server.is_none() { phasegate_core::event::builtin_labels(&name) } else { Labels::new() };
        labels.extend(label);
        labels.extend(by_paths(matcher));
        let (agent, kind) = match &matcher.agent {
            None | Some(AgentTest::Main) => (None, String::new()),
            Some(AgentTest::Subagent) => (Some("a".to_string()), String::new()),
            Some(AgentTest::Kind(kind)) => (Some("a".to_string()), kind.clone()),
        };
        let tool = Tool { name, native: None, server, labels: Labels::new() };
        let input = input(matcher, command.is_some());
        let call = Call { id: None, tool, input, analysis: analysis(matcher, command), background: false };
        let mut sample = Self { call, labels, agent, kind, of: matcher.clone(), also: None };
        let noted = sample.noted(skill);
        sample.labels.extend(noted);
        sample
    }

    /// The name of its tool.
    pub(super) fn tool(&self) -> &str {
        &self.call.tool.name
    }

    fn noted(&self, skill: &Skill) -> Labels {
        let mut labels = Labels::new();
        for note in &skill.tools {
            let (permits, forbids) =
                (self.fits(&note.matcher, skill, Use::Permit), self.fits(&note.matcher, skill, Use::Forbid));
            labels.extend(note.labels.iter().filter(|label| if *label == READ { permits } else { forbids }).cloned());
        }
        labels
    }

    /// Whether one matcher selects the call.
    pub(super) fn fits(&self, matcher: &Matcher, skill: &Skill, used: Use) -> bool {
        let subject = Subject {
            call: &self.call,
            labels: &self.labels,
            agent: self.agent.as_deref(),
            agent_kind: &self.kind,
            named: false,
            evidence: false,
        };
        // The arguments of a sample say nothing of what its own matcher excepts, nor its command of what it writes.
        let untold = !matcher.except.is_empty() || (!matcher.commands.is_empty() && !matcher.paths.is_empty());
        let own = used == Use::Permit && untold && self.of == *matcher;
        own || matcher.matches(subject, skill.permitted_servers(), used)
    }

    /// Whether one of the matchers forbids every call that this one stands for.
    pub(super) fn all_forbidden(&self, matchers: &[Matcher], skill: &Skill) -> bool {
        matchers.iter().any(|matcher| self.all_forbidden_by(matcher, skill))
    }

    /// Whether a matcher forbids every call that this one stands for.
    pub(super) fn all_forbidden_by(&self, matcher: &Matcher, skill: &Skill) -> bool {
        let any_call = matcher.args.is_empty()
            && matcher.commands.is_empty()
            && matcher.paths.is_empty()
            && matcher.invokes.is_none()
            && matcher.agent.is_none()
            && matcher.except.is_empty();
        let covered = |of: &Matcher| covers(matcher, of, skill);
        if any_call {
            self.fits(matcher, skill, Use::Forbid)
        } else {
            covered(&self.of) || self.also.as_ref().is_some_and(covered)
        }
    }
}

/// The tool that invokes it on most platforms.
fn tool_of(invoked: &Invocation) -> String {
    let tool = match invoked {
        Invocation::Skill(_) => SKILL,
        Invocation::Agent(_) => AGENT,
    };
    tool.to_owned()
}

/// What a line of the shell can do, where it only reads.
fn by_command(matcher: &Matcher) -> Option<Labels> {
    let command = words::shortest(matcher.commands.first()?)?;
    let known = |word: Word| if let Word::Known(text) = word { Some(text) } else { None };
    let line = command.words.into_iter().map(known).collect::<Option<Vec<_>>>()?.join(" ");
    let judged = judge(&line, &Table::shipped(), Trust { repository: true, ..Trust::default() });
    (judged.verdict == Verdict::Read).then(|| shell_labels(Verdict::Read))
}

/// What the tools can do that a matcher of paths alone selects, whichever they are.
fn by_paths(matcher: &Matcher) -> Option<String> {
    let first = matcher.paths.first().filter(|_| matcher.tool == ToolPattern::Any && matcher.commands.is_empty())?;
    let same = matcher.paths.iter().all(|test| test.access == first.access);
    let label = match first.access {
        Access::Read => READ,
        Access::Write => WRITE,
        _ => return None,
    };
    same.then(|| label.to_owned())
}

fn input(matcher: &Matcher, in_words: bool) -> Value {
    let mut input = Value::Object(Map::new());
    for test in &matcher.args {
        let value = match &test.is {
            ArgIs::Equal(value) => value.clone(),
            ArgIs::OneOf(values) => values.first().cloned().unwrap_or_default(),
            ArgIs::Begins(start) | ArgIs::Contains(start) => Value::String(start.clone()),
            ArgIs::Present(true) => Value::Bool(true),
            ArgIs::Present(false) => continue,
        };
        put(&mut input, &test.path, value);
    }
    // Of what is excepted the sample has none.
    for test in matcher.except.iter().flat_map(|other| &other.args) {
        match &test.is {
            ArgIs::Equal(value) => put_other(&mut input, &test.path, value),
            ArgIs::OneOf(values) => values.iter().for_each(|value| put_other(&mut input, &test.path, value)),
            ArgIs::Begins(_) | ArgIs::Contains(_) => put(&mut input, &test.path, Value::String(ANY.to_string())),
            ArgIs::Present(_) => {}
        }
    }
    if let Some(command) = command_of(matcher) {
        // The words that it selects stand in the analysis, the text only where it is a line of its own.
        let line = if in_words { ANY.to_string() } else { command };
        put(&mut input, "command", Value::String(line));
    }
    input
}

/// A command that the matcher selects: its own, or any, where it only excepts some.
fn command_of(matcher: &Matcher) -> Option<String> {
    let any = || matcher.except.iter().any(|other| !other.commands.is_empty()).then(|| ANY.to_string());
    matcher.commands.first().cloned().or_else(any)
}

/// Gives the argument another value of the same kind, where it has none.
fn put_other(input: &mut Value, path: &str, value: &Value) {
    let pointer = format!("/{}", path.replace('.', "/"));
    if input.pointer(&pointer).is_none() {
        let other = match value {
            Value::Bool(truth) => Value::Bool(!truth),
            Value::Number(number) => Value::from(number.as_f64().unwrap_or_default() + 1.0),
            _ => Value::String(ANY.to_string()),
        };
        put(input, path, other);
    }
}

fn put(input: &mut Value, path: &str, value: Value) {
    let mut at = input;
    for key in path.split('.') {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        let Value::Object(map) = at else { return };
        at = map.entry(key).or_insert(Value::Null);
    }
    *at = value;
}

fn analysis(matcher: &Matcher, command: Option<SimpleCommand>) -> CallAnalysis {
    let commands: Vec<_> = command.into_iter().collect();
    let command = commands.first().map(|_| 0);
    let paths = matcher.paths.iter().map(|test| {
        let path = path_of(&test.pattern);
        PathUse { resolved: Some(path.clone()), command, ..PathUse::new(path, test.access) }
    });
    let named = |name: &str| name.replace('*', &ANY.to_string());
    let invokes = matcher.invokes.as_deref().map(|invoked| match invoked {
        Invocation::Skill(name) => Invocation::Skill(named(name)),
        Invocation::Agent(kind) => Invocation::Agent(named(kind)),
    });
    CallAnalysis { paths: paths.collect(), commands, invokes, ..CallAnalysis::default() }
}

/// One sample for each matcher of the skill: in lists, in conditions, in its table of tools.
pub(super) fn all(skill: &Skill) -> Vec<Sample> {
    let (mut samples, mut seen) = (Vec::new(), BTreeSet::new());
    let mut add = |matcher: &Matcher| {
        // Another list may have another of its commands.
        let several = matcher.commands.len() > 1;
        let each: Vec<Matcher> = if several { each_command(matcher).collect() } else { vec![matcher.clone()] };
        for matcher in each {
            if seen.insert(format!("{matcher:?}")) {
                let sample = Sample::of(&matcher, skill);
                // Of its lines, some may only read and some may not.
                samples.extend(by_command(&matcher).map(|labels| Sample { labels, ..sample.clone() }));
                samples.push(sample);
            }
        }
    };
    skill.tools.iter().for_each(|note| add(&note.matcher));
    let phases = skill.phases.iter().filter_map(|phase| phase.unlisted.as_ref());
    let unlisted = phases.flat_map(|rule| &rule.lines).chain(&skill.unlisted_lines);
    unlisted.filter(|line| line.passes).for_each(|line| add(&line.matcher));
    for phase in &skill.phases {
        phase.allowed.iter().chain(&phase.forbidden).for_each(&mut add);
        phase.conditions().for_each(|condition| condition.each_call(&mut |test| add(&test.matcher)));
    }
    for phase in &skill.phases {
        phase.conditions().for_each(|condition| {
            condition.each_call(&mut |test| {
                for matcher in phase.allowed.iter().filter_map(|line| by_tool(&test.matcher, line)) {
                    if seen.insert(format!("{matcher:?}")) {
                        samples.push(Sample { also: Some(test.matcher.clone()), ..Sample::of(&matcher, skill) });
                    }
                }
            });
        });
        let (lines, _) = skill.unlisted_in(phase);
        let passes = lines.iter().filter(|line| line.passes).map(|line| &line.matcher);
        let allowed: Vec<Matcher> = phase.allowed.iter().chain(passes).flat_map(each_command).collect();
        let mut asked = Vec::new();
        phase.conditions().for_each(|condition| {
            condition.each_call(&mut |test| asked.extend(each_command(&test.matcher)));
        });
        for (one, other) in asked.iter().flat_map(|one| allowed.iter().map(move |other| (one, other))) {
            if let Some(command) = in_common(one, other)
                && seen.insert(format!("{one:?}{other:?}"))
            {
                // What else the two ask, such as paths, one of them may ask alone.
                for (of, also) in [(one, other), (other, one)] {
                    let sample = Sample::running(Some(command.clone()), of, skill);
                    samples.push(Sample { also: Some(also.clone()), ..sample });
                }
            }
        }
    }
    samples
}

/// A matcher of paths alone as one of a tool that a line names, where the tool does that to files.
fn by_tool(asked: &Matcher, line: &Matcher) -> Option<Matcher> {
    let ToolPattern::Exact(name) = &line.tool else { return None };
    let does = phasegate_core::event::builtin_labels(name).contains(&by_paths(asked)?);
    (does && line.commands.is_empty()).then(|| Matcher { tool: line.tool.clone(), ..asked.clone() })
}

/// The matcher once for each of its commands.
fn each_command(matcher: &Matcher) -> impl Iterator<Item = Matcher> + '_ {
    matcher.commands.iter().map(|command| Matcher { commands: vec![command.clone()], ..matcher.clone() })
}

/// A command that two matchers of one command each select, where the sample of neither is one.
fn in_common(one: &Matcher, other: &Matcher) -> Option<SimpleCommand> {
    let (a, b) = (one.commands.first()?, other.commands.first()?);
    let sampled = |inner: &str, outer: &str| words::covers(outer, inner) && words::shortest(inner).is_some();
    if sampled(a, b) || sampled(b, a) { None } else { common(a, b) }
}
