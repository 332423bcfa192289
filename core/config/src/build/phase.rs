//! Phases as written to phases.

use phasegate_core::Code;
use phasegate_core::evidence::condition::Condition;
use phasegate_core::policy::matcher::Matcher;
use phasegate_core::policy::{Back, Edge, Leave, Optional, Phase, UnlistedRule};

use super::allowed::{self, AllowedLines};
use super::builder::{Builder, PhasePlaces, child};
use super::{artifact, condition, done_by, prompt_parts, runs, unlisted};
use crate::read::node::{Entry, Node, Span};
use crate::read::report::Finding;
use crate::read::suggestion::{closest, did_you_mean, listed};
use crate::skills::agent::{self, AGENT};
use crate::skills::instance::names;
use crate::source::{
    BackSource, ConditionSource, LeaveSource, MatcherSource, NextSource, OptionalSource, PhaseSource, TaskFile,
    TaskSource,
};

/// Builds the phase at `index` of `names`.
pub(super) fn phase(
    builder: &mut Builder<'_>,
    source: &PhaseSource,
    entry: &Entry,
    index: usize,
    names: &[&str],
    everywhere: &AllowedLines,
) -> (Phase, PhasePlaces) {
    let node = &entry.node;
    let source = &*done_by::lowered(source);
    let kind = source.done_by.as_deref();
    let mut places = PhasePlaces { key: entry.key_span, ..PhasePlaces::default() };
    let mut lines = allowed::lines(builder, &source.allowed, child(node, "allowed"), &mut places.asked);
    places.allowed = core::mem::take(&mut lines.spans);
    let steps = lines.steps.take();
    let run = runs::runs(builder, source, node);
    let produces = artifact::produced(builder, source, node);
    // The calls of a phase that consists of runs are those of the runs.
    if run.is_none() {
        lines.append(everywhere, kind);
        lines.write(builder, &produces, kind);
    }
    let start = kind.map(|kind| done_by::start(builder, kind, child(node, "done_by"))).unwrap_or_default();
    lines.add(&start);
    let forbidden = allowed::forbidden(builder, &source.forbidden, child(node, "forbidden"), &mut places.asked);
    places.forbidden = forbidden.spans;
    let (unlisted_lines, unlisted_places) = unlisted::lines(builder, source.unlisted.as_ref(), child(node, "unlisted"));
    places.unlisted = unlisted_places;
    let rule = source.unlisted.as_ref().map(|rule| {
        Box::new(UnlistedRule { lines: unlisted_lines, otherwise: rule.word().unwrap_or(builder.unlisted) })
    });
    let at = |name| child(node, name).span;
    (places.requires, places.done_when, places.done_by) = (at("requires"), at("done_when"), at("done_by"));
    let task = task(builder, source, node, &forbidden.matchers);
    let mut inner = Inner { builder, names, places };
    let mut phase = Phase {
        name: entry.key.clone(),
        task,
        allowed: lines.matchers,
        line_requires: lines.requires,
        steps,
        forbidden: forbidden.matchers,
        forbidden_until: forbidden.requires,
        produces: Vec::new(),
        done_by: source.done_by.clone(),
        run,
        unlisted: rule,
        confine: source.confine,
        requires: inner.condition(source.requires.as_ref(), child(node, "requires")),
        done_when: inner.condition(source.done_when.as_ref(), child(node, "done_when")),
        failed_when: inner.condition(source.failed_when.as_ref(), child(node, "failed_when")),
        optional: inner.optional(source, child(node, "optional")),
        skip_text: skip_text(source),
        leave: inner.leave(source, child(node, "leave").span),
        next: inner.next(source, child(node, "next"), index),
        back: inner.back(source, node),
    };
    if let Some(kind) = kind {
        let done_when = phase.done_when.take();
        phase.done_when = done_by::completed_by(inner.builder, kind, &produces, &start, done_when);
    }
    if let Some(gate) = runs::gate(inner.builder, source, node, &mut inner.places.asked) {
        inner.places.allowed = gate.lines.iter().map(|_| gate.span).collect();
        phase.allowed = gate.lines;
        phase.done_when = Some(gate.condition);
    }
    phase.done_when = artifact::completed_by(inner.builder, &produces, phase.done_when);
    phase.produces = produces;
    (phase, inner.places)
}

/// What an agent has to do in the phase. `forbidden`: its lines, by which the text of a file may lack something.
fn task(builder: &mut Builder<'_>, source: &PhaseSource, node: &Node, forbidden: &[Matcher]) -> String {
    if let Some(text) = &source.description {
        if !builder.lenient {
            let span = child(node, "description").span;
            let message =
                "`do` says what the agent has to do in a phase, and `description` is its name in the compatible form";
            builder.findings.push(Finding::warning(Code::ConfigValue, span, message).suggest("write `do`"));
        }
        if source.task == TaskSource::default() {
            return text.clone();
        }
    }
    match &source.task {
        TaskSource::Text(text) => text.clone(),
        TaskSource::File(TaskFile { file }) => {
            let span = child(child(node, "do"), "file").span;
            let found = builder.texts.map(|texts| texts.prompts.text(file, span, builder.findings));
            let text = found.flatten().unwrap_or_default();
            if source.done_by.is_none() && names(&text).iter().any(|name| name == AGENT) {
                builder.findings.push(agent::unknown(span, "no subagent does the phase"));
            }
            if !text.is_empty() {
                prompt_parts::check(builder, file, &text, span, forbidden);
            }
            agent::of_text(&text, source.done_by.as_deref())
        }
    }
}

/// Whether steps of a plan permit calls of the phase.
fn of_plan(source: &PhaseSource) -> bool {
    let names = |line: &MatcherSource| matches!(line, MatcherSource::Object(object) if object.from.is_some());
    source.allowed.iter().any(names)
}

fn skip_text(source: &PhaseSource) -> String {
    let Some(OptionalSource::When(when)) = &source.optional else { return String::new() };
    when.text.clone().unwrap_or_default()
}

struct Inner<'a, 'f> {
    builder: &'a mut Builder<'f>,
    names: &'a [&'a str],
    places: PhasePlaces,
}

impl Inner<'_, '_> {
    fn condition(&mut self, source: Option<&ConditionSource>, node: &Node) -> Option<Condition> {
        condition::build(self.builder, source?, node, &mut self.places.asked)
    }

    fn optional(&mut self, source: &PhaseSource, node: &Node) -> Optional {
        match &source.optional {
            None => Optional::No,
            Some(OptionalSource::Always(false)) => Optional::Never,
            Some(OptionalSource::Always(true)) => Optional::Yes,
            Some(OptionalSource::When(when)) => self
                .condition(Some(&when.when), child(node, "when"))
                .map_or(Optional::No, |when| Optional::When(Box::new(when))),
        }
    }

    fn leave(&mut self, source: &PhaseSource, span: Span) -> Leave {
        match source.leave {
            None if source.done_by.is_some() || source.run.is_some() || of_plan(source) => Leave::OnDone,
            None | Some(LeaveSource::OnCall) => Leave::OnCall,
            Some(LeaveSource::OnDone) => {
                if source.done_when.is_none()
                    && source.produces.is_empty()
                    && source.done_by.is_none()
                    && source.run.is_none()
                    && !of_plan(source)
                {
                    self.builder.findings.push(
                        Finding::error(
                            Code::ConfigMissing,
                            span,
                            "`leave: on_done` waits for a `done_when`, which is missing",
                        )
                        .suggest("add `done_when`, or remove `leave`"),
                    );
                }
                Leave::OnDone
            }
        }
    }

    fn next(&mut self, source: &PhaseSource, node: &Node, index: usize) -> Vec<Edge> {
        let Some(written) = &source.next else {
            let following = index + 1;
            let edge = Edge { to: following, when: None, early: false };
            return if following < self.names.len() { vec![edge] } else { Vec::new() };
        };
        let mut edges: Vec<Edge> = Vec::new();
        for (source, node) in written.iter().zip(node.items()) {
            let before = edges.len();
            match source {
                NextSource::Phase(name) => {
                    edges.extend(self.index(name, node.span).map(|to| Edge { to, when: None, early: false }));
                }
                NextSource::Edge(edge) => {
                    let when = self.condition(edge.when.as_ref(), child(node, "when"));
                    let to = self.index(&edge.to, child(node, "to").span);
                    edges.extend(to.map(|to| Edge { to, when, early: edge.early }));
                }
            }
            if edges.len() > before && edges.last().is_some_and(|edge| edge.to == index) {
                edges.pop();
                let name = self.names.get(index).copied().unwrap_or_default();
                self.builder.findings.push(
                    Finding::error(Code::ConfigValue, node.span, format!("phase `{name}` cannot follow itself"))
                        .cause("a run stays in a phase as long as nothing leads out of it")
                        .suggest("remove the entry"),
                );
            }
        }
        edges
    }

    fn back(&mut self, source: &PhaseSource, node: &Node) -> Vec<Back> {
        let listed = source.back.iter().zip(child(node, "back").items()).map(|(source, node)| (source, node, false));
        let failure = source.on_failure.iter().map(|source| (source, child(node, "on_failure"), true));
        let written: Vec<(&BackSource, &Node, bool)> = listed.chain(failure).collect();
        let mut edges = Vec::new();
        for (source, node, on_failure) in written {
            let when = self.condition(source.when.as_ref(), child(node, "when"));
            let span = child(node, "to").span;
            let to = self.index(&source.to, span);
            self.places.back.extend(to.map(|_| span));
            let then = source.then;
            edges.extend(to.map(|to| Back { to, limit: source.limit, on_failure, when, then }));
        }
        edges
    }

    /// The place of a phase; of the one that was probably meant, so that one typo is not reported as several.
    fn index(&mut self, name: &str, span: Span) -> Option<usize> {
        let place = |name: &str| self.names.iter().position(|known| *known == name);
        if let Some(index) = place(name) {
            return Some(index);
        }
        let known = self.names.iter().copied();
        let meant = closest(name, known.clone());
        self.builder.findings.push(
            Finding::error(Code::PhaseUnknown, span, format!("there is no phase `{name}`")).suggest(
                did_you_mean(name, known.clone()).unwrap_or_else(|| format!("the phases are {}", listed(known))),
            ),
        );
        meant.and_then(place)
    }
}
