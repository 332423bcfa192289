//! Where matchers stand, and what is lost if one of them matches nothing.

use std::collections::BTreeMap;

use phasegate_core::policy::matcher::{Matcher, ServerPattern, ToolPattern};
use phasegate_core::policy::{Start, UnlistedLine};

use crate::build::builder::Built;
use crate::read::node::Span;
use crate::read::typo::{Name, Typo, typo_of};

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
    /// In a condition.
    Asked,
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
            place: Place::Asked,
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

/// The names that the lists of phases allow, with the servers that they stand with; without one a name stands for any.
#[derive(Default)]
pub(super) struct Allowed<'b>(BTreeMap<(&'b str, Option<&'b str>), Name>);

impl<'b> Allowed<'b> {
    /// Those of whole names; a beginning (`simulate_*`) is no name.
    pub(super) fn of(uses: &[Use<'b>]) -> Self {
        let named =
            uses.iter().filter(|used| used.place == Place::Allowed).filter_map(|used| match &used.matcher.tool {
                ToolPattern::Exact(name) => Some(((name.as_str(), server_of(used.matcher)), Name::of(name))),
                _ => None,
            });
        Self(named.collect())
    }

    /// Whether a list allows a tool of this name.
    pub(super) fn names(&self, name: &str) -> bool {
        self.0.keys().any(|(known, _)| *known == name)
    }

    /// Those that a name is probably a misspelling of, which no list allows itself, and that may mean a tool of the same
    /// server as the matcher.
    pub(super) fn misspelt(&self, matcher: &Matcher, name: &str) -> Vec<(Typo, &'b str)> {
        if self.names(name) {
            return Vec::new();
        }
        let (wanted, own) = (server_of(matcher), Name::of(name));
        let same = |server: Option<&str>| server.is_none() || wanted.is_none() || server == wanted;
        let others = self.0.iter().filter(|((_, server), _)| same(*server));
        others.filter_map(|((other, _), parts)| Some((typo_of(&own, parts)?, *other))).collect()
    }
}

fn server_of(matcher: &Matcher) -> Option<&str> {
    match &matcher.server {
        ServerPattern::Bare => None,
        ServerPattern::Named(server) => Some(server),
    }
}
