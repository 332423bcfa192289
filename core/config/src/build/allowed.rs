//! Lines of `allowed` as written to matchers, and the conditions that some of them have.

use phasegate_core::evidence::condition::Condition;
use phasegate_core::policy::LineRequires;
use phasegate_core::policy::matcher::Matcher;
use phasegate_core::policy::steps::StepsFile;
use phasegate_core::{Code, FactKey};
use serde_json::json;

use super::builder::{Builder, child};
use super::condition::{self, Seen};
use super::{artifact, done_by, matcher};
use crate::read::node::{Node, Span};
use crate::read::report::Finding;
use crate::source::{MatcherObject, MatcherSource};

/// The lines of a list.
#[derive(Default)]
pub(super) struct AllowedLines {
    pub(super) matchers: Vec<Matcher>,
    pub(super) spans: Vec<Span>,
    pub(super) requires: Vec<LineRequires>,
    /// The plan whose steps permit calls.
    pub(super) steps: Option<Box<StepsFile>>,
}

impl AllowedLines {
    /// Adds the calls that write these artifacts, as those of a subagent where one does the phase.
    pub(super) fn write(&mut self, builder: &Builder<'_>, produces: &[usize], kind: Option<&str>) {
        let artifacts = produces.iter().filter_map(|at| builder.artifacts.get(*at));
        self.add(
            &artifacts.flat_map(|artifact| &artifact.writes).map(|writes| of_kind(writes, kind)).collect::<Vec<_>>(),
        );
    }

    /// Adds lines without a condition, as far as they are not there.
    pub(super) fn add(&mut self, matchers: &[Matcher]) {
        for matcher in matchers {
            let bound = |line: usize| self.requires.iter().any(|requires| requires.line == line);
            if !self.matchers.iter().enumerate().any(|(line, known)| known == matcher && !bound(line)) {
                self.matchers.push(matcher.clone());
            }
        }
    }

    /// Adds the matchers of one line, with the condition that each of them has.
    fn extend(&mut self, matchers: Vec<Matcher>, condition: Option<&Condition>, span: Span) {
        for matcher in matchers {
            let line = self.matchers.len();
            self.requires.extend(condition.map(|condition| LineRequires { line, condition: condition.clone() }));
            self.matchers.push(matcher);
            self.spans.push(span);
        }
    }

    /// Adds lines that stand elsewhere, with their conditions; as those of a subagent where one does the phase.
    pub(super) fn append(&mut self, others: &Self, kind: Option<&str>) {
        let before = self.matchers.len();
        self.matchers.extend(others.matchers.iter().map(|line| of_kind(line, kind)));
        let moved = |one: &LineRequires| LineRequires { line: before + one.line, condition: one.condition.clone() };
        self.requires.extend(others.requires.iter().map(moved));
    }
}

fn of_kind(line: &Matcher, kind: Option<&str>) -> Matcher {
    kind.filter(|_| line.agent.is_none()).map_or_else(|| line.clone(), |kind| done_by::of_agent(line, kind))
}

/// Builds the lines of a list, each with its place. A line that stands for several matchers has one condition.
pub(super) fn lines(
    builder: &mut Builder<'_>,
    sources: &[MatcherSource],
    nodes: &Node,
    seen: &mut Seen,
) -> AllowedLines {
    let mut lines = AllowedLines::default();
    for (source, node) in sources.iter().zip(nodes.items()) {
        if let MatcherSource::Object(object) = source
            && let Some(artifact) = &object.from
        {
            lines.steps = steps(builder, artifact, object, node);
            continue;
        }
        let bound = match source {
            MatcherSource::Object(object) if object.requires.is_some() => Some(object.as_ref()),
            MatcherSource::Object(_) | MatcherSource::Pattern(_) => None,
        };
        let (matchers, condition) = match bound {
            None => (matcher::each(builder, source, node), None),
            Some(object) => {
                let alone = MatcherObject { requires: None, ..object.clone() };
                let matchers = matcher::each(builder, &MatcherSource::Object(Box::new(alone)), node);
                builder.may_compare = true;
                let requires = object.requires.as_ref();
                let built =
                    requires.and_then(|requires| condition::build(builder, requires, child(node, "requires"), seen));
                builder.may_compare = false;
                (matchers, built)
            }
        };
        lines.extend(matchers, condition.as_ref(), node.span);
    }
    lines
}

/// Builds the lines of a list of what a phase forbids, with the conditions until which they do.
pub(super) fn forbidden(
    builder: &mut Builder<'_>,
    sources: &[MatcherSource],
    nodes: &Node,
    seen: &mut Seen,
) -> AllowedLines {
    let mut lines = AllowedLines::default();
    for (source, node) in sources.iter().zip(nodes.items()) {
        let until = match source {
            MatcherSource::Object(object) => object.until.as_ref(),
            MatcherSource::Pattern(_) => None,
        };
        let mut alone = source.clone();
        if let MatcherSource::Object(object) = &mut alone {
            object.until = None;
        }
        let mut matchers = matcher::each(builder, &alone, node);
        matcher::everywhere(&mut matchers);
        let condition = until.and_then(|until| condition::build(builder, until, child(node, "until"), seen));
        lines.extend(matchers, condition.as_ref(), node.span);
    }
    lines
}

/// Where the plan is whose steps permit calls.
fn steps(builder: &mut Builder<'_>, artifact: &str, source: &MatcherObject, node: &Node) -> Option<Box<StepsFile>> {
    let at = source.at.clone().unwrap_or_default();
    if !(at.is_empty() || at.starts_with('/')) {
        let finding = Finding::error(Code::ConfigValue, child(node, "at").span, "`at` is not a JSON pointer");
        builder.findings.push(finding.suggest(format!("write `at: /{at}`")));
    }
    if *source != (MatcherObject { from: source.from.clone(), at: source.at.clone(), ..MatcherObject::default() }) {
        let finding = Finding::error(Code::ConfigValue, node.span, "a line with `from` has no other key than `at`");
        builder.findings.push(finding.suggest("say in the plan which calls a step permits"));
    }
    let artifact = artifact::named(builder, artifact, child(node, "from").span)?;
    let fact = FactKey::new("steps", &json!({"paths": artifact.paths, "at": at}));
    Some(Box::new(StepsFile { artifact: artifact.name.clone(), content: artifact.content, fact }))
}
