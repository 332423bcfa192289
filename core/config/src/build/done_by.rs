//! Phases that a subagent does: its lines are those of the subagent, and the main agent may start it.

use std::borrow::Cow;

use phasegate_core::Code;
use phasegate_core::evidence::artifact::Artifact;
use phasegate_core::evidence::condition::{CallTest, Condition, Content, Wanted};
use phasegate_core::policy::matcher::{AgentTest, Matcher};
use phasegate_core::policy::{Phase, Unlisted, UnlistedLine, UnlistedRule};

use super::builder::Builder;
use super::matcher;
use crate::read::node::Node;
use crate::read::report::Finding;
use crate::source::{ConditionSource, MatcherObject, MatcherSource, Matchers, PathSource, PhaseSource};

/// The phase with lines and evidence that are the subagent's, where they name no agent.
pub(super) fn lowered(source: &PhaseSource) -> Cow<'_, PhaseSource> {
    let Some(kind) = &source.done_by else { return Cow::Borrowed(source) };
    let mut own = source.clone();
    own.allowed.iter_mut().for_each(|line| by(line, kind));
    own.done_when.iter_mut().chain(&mut own.failed_when).for_each(|condition| asked_of(condition, kind));
    Cow::Owned(own)
}

fn by(line: &mut MatcherSource, kind: &str) {
    let object = match line {
        MatcherSource::Pattern(tool) => MatcherObject { tool: Some(core::mem::take(tool)), ..MatcherObject::default() },
        MatcherSource::Object(object) => core::mem::take(object.as_mut()),
    };
    let agent = object.agent.clone().or_else(|| object.starts.is_none().then(|| kind.to_owned()));
    *line = MatcherSource::Object(Box::new(MatcherObject { agent, ..object }));
}

fn asked_of(condition: &mut ConditionSource, kind: &str) {
    let ConditionSource { ok, failed, refused, launched, cancelled, unknown, ended, all, any, not, .. } = condition;
    for asked in [ok, failed, refused, launched, cancelled, unknown, ended].into_iter().flatten() {
        match asked {
            Matchers::Each(each) => each.iter_mut().for_each(|line| by(line, kind)),
            Matchers::One(one) => by(one, kind),
        }
    }
    all.iter_mut().chain(any).flatten().for_each(|part| asked_of(part, kind));
    not.iter_mut().for_each(|part| asked_of(part, kind));
}

/// The line by which the main agent starts the subagent.
pub(super) fn start(builder: &mut Builder<'_>, kind: &str, node: &Node) -> Vec<Matcher> {
    if let Some(what) = match kind {
        "main" => Some("the main agent"),
        "subagent" => Some("any subagent"),
        _ => None,
    } {
        let message = format!("`{kind}` stands for {what}, and is no type of subagent");
        let finding = Finding::error(Code::ConfigValue, node.span, message);
        builder.findings.push(finding.suggest("name the type, or remove `done_by`"));
    }
    let object = MatcherObject {
        starts: Some(PathSource::One(kind.to_owned())),
        agent: Some("main".to_owned()),
        ..MatcherObject::default()
    };
    matcher::each(builder, &MatcherSource::Object(Box::new(object)), node)
}

/// While a subagent does a phase, or other runs, the main agent only reads, where the skill lets pass what it does not list.
pub(super) fn main_agent_reads(phases: &mut [Phase], unlisted: Unlisted, lines: &[UnlistedLine]) {
    for phase in phases.iter_mut().filter(|phase| unlisted == Unlisted::Allow && by_others(phase)) {
        let rule = || UnlistedRule { lines: lines.to_vec(), otherwise: Unlisted::ReadOnly };
        phase.unlisted.get_or_insert_with(|| Box::new(rule()));
    }
}

fn by_others(phase: &Phase) -> bool {
    phase.done_by.is_some() || phase.run.is_some()
}

/// A call, as the subagent makes it.
pub(super) fn of_agent(matcher: &Matcher, kind: &str) -> Matcher {
    let text = format!("{}, agent {kind}", matcher.text);
    Matcher { agent: Some(AgentTest::Kind(kind.to_owned())), text, ..matcher.clone() }
}

/// What completes the phase besides its `done_when`: the subagent wrote the artifacts; or it ended, where nothing else is
/// asked for.
pub(super) fn completed_by(
    builder: &mut Builder<'_>,
    kind: &str,
    produces: &[usize],
    start: &[Matcher],
    done_when: Option<Condition>,
) -> Option<Condition> {
    let artifacts: Vec<Artifact> = produces.iter().filter_map(|at| builder.artifacts.get(*at)).cloned().collect();
    let writes = |one: &Artifact| one.writes.iter().map(|writes| of_agent(writes, kind)).collect();
    let mut wanted: Vec<(Vec<Matcher>, Option<&Content>)> =
        artifacts.iter().map(|one| (writes(one), Some(&one.content))).collect();
    if wanted.is_empty() && done_when.is_none() {
        wanted.push((start.to_vec(), None));
    }
    let mut parts = match done_when {
        Some(Condition::All(parts)) => parts,
        other => other.into_iter().collect(),
    };
    for (matchers, files) in wanted {
        let mut tests: Vec<Condition> =
            matchers.into_iter().map(|matcher| succeeded(builder, matcher, files)).collect();
        let Some(test) = (if tests.len() > 1 { Some(Condition::Any(tests)) } else { tests.pop() }) else { continue };
        match parts.iter_mut().find(|part| same(part, &test)) {
            Some(part) => *part = test,
            None => parts.push(test),
        }
    }
    if parts.len() > 1 { Some(Condition::All(parts)) } else { parts.pop() }
}

fn succeeded(builder: &mut Builder<'_>, matcher: Matcher, files: Option<&Content>) -> Condition {
    let atom = builder.next_atom();
    let written = files.cloned().map(Box::new);
    Condition::Call(CallTest { atom, wanted: Wanted::default(), matcher, unchanged: None, written, same: Vec::new() })
}

/// Whether two conditions ask for the same calls, whatever the numbers of their tests.
fn same(one: &Condition, other: &Condition) -> bool {
    match (one, other) {
        (Condition::Call(one), Condition::Call(other)) => {
            one.matcher == other.matcher && one.wanted == other.wanted && one.unchanged == other.unchanged
        }
        (Condition::Any(some), Condition::Any(others)) => {
            some.len() == others.len() && some.iter().zip(others).all(|(one, other)| same(one, other))
        }
        _ => false,
    }
}
