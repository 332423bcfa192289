//! Where matchers stand, and what is lost if one of them matches nothing.

use std::collections::{BTreeMap, BTreeSet};

use phasegate_core::condition::Condition;
use phasegate_core::matcher::{Matcher, ServerPattern, ToolPattern};
use phasegate_core::policy::{Skill, Start, UnlistedLine};

use crate::build::builder::Built;
use crate::node::Span;
use crate::typo::{Name, Typo, typo_of};

/// A matcher and its position in the skill.
pub(super) struct Use<'b> {
    pub(super) matcher: &'b Matcher,
    pub(super) span: Span,
    pub(super) place: Place,
}

/// Where a matcher stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In a `global_forbidden`.
    Everywhere,
    /// In the `forbidden` of the phase of this number.
    Forbidden(usize),
    /// In a `start`.
    Start,
    /// In an `allowed`.
    Allowed,
    /// In a condition, as the call test of this number.
    Asked(u32),
    /// In an `except`.
    Except,
}

impl Place {
    /// Whether the list forbids.
    pub(super) fn forbids(self) -> bool {
        matches!(self, Self::Everywhere | Self::Forbidden(_))
    }
}

/// Every matcher of a skill with its position.
pub(super) fn all(built: &Built) -> Vec<Use<'_>> {
    let skill = &built.skill;
    let mut all = listed(&skill.global_forbidden, &built.places.global_forbidden, Place::Everywhere);
    let before =
        skill.start.iter().filter_map(|start| if let Start::Before(matcher) = start { Some(matcher) } else { None });
    all.extend(before.zip(&built.places.start).map(|(matcher, span)| Use {
        matcher,
        span: *span,
        place: Place::Start,
    }));
    all.extend(unlisted(&skill.unlisted_lines, &built.places.unlisted));
    for (at, (phase, places)) in skill.phases.iter().zip(&built.places.phases).enumerate() {
        all.extend(listed(&phase.allowed, &places.allowed, Place::Allowed));
        all.extend(listed(&phase.forbidden, &places.forbidden, Place::Forbidden(at)));
        let lines = phase.unlisted.as_ref().map_or(&[][..], |rule| &rule.lines);
        all.extend(unlisted(lines, &places.unlisted));
        all.extend(places.asked.iter().map(|asked| Use {
            matcher: &asked.matcher,
            span: asked.span,
            place: Place::Asked(asked.atom),
        }));
    }
    let except: Vec<_> = all.iter().flat_map(excepted).collect();
    all.extend(except);
    all
}

/// The lines of an `unlisted`: those that deny are as a list that forbids.
fn unlisted<'b>(lines: &'b [UnlistedLine], spans: &[Span]) -> Vec<Use<'b>> {
    let place = |line: &UnlistedLine| if line.passes { Place::Allowed } else { Place::Everywhere };
    let each = lines.iter().zip(spans);
    each.map(|(line, span)| Use { matcher: &line.matcher, span: *span, place: place(line) }).collect()
}

/// The matchers in the exceptions of one. They are listed at its place.
fn excepted<'b>(used: &Use<'b>) -> Vec<Use<'b>> {
    let mut found = Vec::new();
    for other in &used.matcher.except {
        other.each(&mut |matcher| found.push(Use { matcher, span: used.span, place: Place::Except }));
    }
    found
}

/// The matchers of one list.
pub(super) fn listed<'b>(matchers: &'b [Matcher], spans: &[Span], place: Place) -> Vec<Use<'b>> {
    matchers.iter().zip(spans).map(|(matcher, span)| Use { matcher, span: *span, place }).collect()
}

/// How often each name stands somewhere.
#[derive(Default)]
pub(super) struct Counts<'b> {
    total: BTreeMap<&'b str, usize>,
    /// Each name with the servers that it stands with; without one it stands for any.
    places: BTreeMap<(&'b str, Option<&'b str>), Name>,
    /// Those that a list allows.
    pub(super) allowed: BTreeSet<&'b str>,
    /// Those that a list allows or a condition asks for.
    pub(super) wanted: BTreeSet<&'b str>,
}

impl<'b> Counts<'b> {
    /// Counts whole names; a beginning (`simulate_*`) is no name.
    pub(super) fn of(uses: &[Use<'b>]) -> Self {
        let mut counts = Self::default();
        for used in uses {
            let ToolPattern::Exact(name) = &used.matcher.tool else { continue };
            *counts.total.entry(name).or_default() += 1;
            counts.places.entry((name, server_of(used.matcher))).or_insert_with(|| Name::of(name));
            if used.place == Place::Allowed {
                counts.allowed.insert(name);
            }
            if !used.place.forbids() && used.place != Place::Except {
                counts.wanted.insert(name);
            }
        }
        counts
    }

    /// The other names that this one is probably a misspelling of, among those that stand somewhere and may mean a tool of
    /// the same server as the matcher.
    pub(super) fn misspelt<'m>(
        &'m self,
        matcher: &'m Matcher,
        name: &'m str,
    ) -> impl Iterator<Item = (Typo, &'b str)> + 'm {
        let (wanted, own) = (server_of(matcher), Name::of(name));
        let same = move |server: Option<&str>| server.is_none() || wanted.is_none() || server == wanted;
        let others = self.places.iter().filter(move |((other, server), _)| *other != name && same(*server));
        others.filter_map(move |((other, _), parts)| Some((typo_of(&own, parts)?, *other)))
    }

    /// How often a name stands somewhere.
    pub(super) fn of_name(&self, name: &str) -> usize {
        self.total.get(name).copied().unwrap_or_default()
    }
}

fn server_of(matcher: &Matcher) -> Option<&str> {
    match &matcher.server {
        ServerPattern::Bare => None,
        ServerPattern::Named(server) => Some(server),
    }
}

/// What a call test decides if nothing can match it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decides {
    /// Its condition can never hold.
    Shut,
    /// It stands in a `not`, which then always holds.
    Open,
}

/// The call tests among the `dead` that decide their condition, and the phases that can therefore never be done.
pub(super) fn decisive(skill: &Skill, dead: &BTreeSet<u32>) -> (BTreeMap<u32, Decides>, BTreeSet<usize>) {
    let mut decides = BTreeMap::new();
    let mut never_done = BTreeSet::new();
    for (at, phase) in skill.phases.iter().enumerate() {
        for condition in phase.done_when.iter().chain(&phase.requires).filter(|wanted| !can_hold(wanted, dead)) {
            condition.each_call(&mut |test| decides.extend([(test.atom, Decides::Shut)]));
        }
        if phase.done_when.as_ref().is_some_and(|wanted| !can_hold(wanted, dead)) {
            never_done.insert(at);
        }
        for condition in phase.conditions() {
            negated(condition, false, &mut |atom| decides.extend([(atom, Decides::Open)]));
        }
    }
    (decides, never_done)
}

/// Whether a condition can hold where these call tests never do.
pub(crate) fn can_hold(condition: &Condition, dead: &BTreeSet<u32>) -> bool {
    match condition {
        Condition::All(parts) => parts.iter().all(|part| can_hold(part, dead)),
        Condition::Any(parts) => parts.is_empty() || parts.iter().any(|part| can_hold(part, dead)),
        Condition::Call(test) => !dead.contains(&test.atom),
        Condition::Not(_)
        | Condition::Fact(_)
        | Condition::Approved(_)
        | Condition::Unchanged(_)
        | Condition::Artifact(_)
        | Condition::Says(_) => true,
    }
}

fn negated(condition: &Condition, inside: bool, found: &mut dyn FnMut(u32)) {
    match condition {
        Condition::All(parts) | Condition::Any(parts) => parts.iter().for_each(|part| negated(part, inside, found)),
        Condition::Not(inner) => negated(inner, !inside, found),
        Condition::Call(test) if inside => found(test.atom),
        Condition::Call(_)
        | Condition::Fact(_)
        | Condition::Approved(_)
        | Condition::Unchanged(_)
        | Condition::Artifact(_)
        | Condition::Says(_) => {}
    }
}
