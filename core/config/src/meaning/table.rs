//! Which sample calls which phases allow and forbid, found once: the lists of a skill mostly name their tools, so only the
//! matchers of a call's tool and those of no single tool are held against it.

use std::collections::{BTreeMap, BTreeSet};

use phasegate_core::matcher::{Matcher, ToolPattern, Use};
use phasegate_core::policy::{Phase, Skill};

use super::sample::{self, Sample};

/// The sample calls of a skill, by number, and the phases whose lists have them.
pub(super) struct Table {
    pub(super) samples: Vec<Sample>,
    by_tool: BTreeMap<String, Vec<usize>>,
    allowed: Vec<Vec<usize>>,
    forbidden: Vec<Vec<usize>>,
    forbidden_everywhere: Vec<bool>,
}

impl Table {
    pub(super) fn of(skill: &Skill) -> Self {
        let samples = sample::all(skill);
        let mut by_tool: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, sample) in samples.iter().enumerate() {
            by_tool.entry(key(sample.tool()).to_string()).or_default().push(number);
        }
        let (allowing, forbidding) =
            (Lists::of(skill, |phase| phase.allowed.iter().collect()), Lists::of(skill, always_forbidden));
        let allowed = samples.iter().map(|sample| {
            let mut phases = allowing.phases(sample, |matcher| sample.fits(matcher, skill, Use::Permit));
            phases.retain(|at| !reserved(skill, *at, sample));
            phases
        });
        let forbidden =
            samples.iter().map(|sample| forbidding.phases(sample, |matcher| sample.all_forbidden_by(matcher, skill)));
        Self {
            allowed: allowed.collect(),
            forbidden: forbidden.collect(),
            forbidden_everywhere: samples
                .iter()
                .map(|sample| sample.all_forbidden(&skill.global_forbidden, skill))
                .collect(),
            by_tool,
            samples,
        }
    }

    /// The samples that the matcher selects.
    pub(super) fn selected(&self, matcher: &Matcher, skill: &Skill) -> Vec<usize> {
        let fits =
            |number: &usize| self.samples.get(*number).is_some_and(|sample| sample.fits(matcher, skill, Use::Permit));
        match &matcher.tool {
            ToolPattern::Exact(name) => {
                self.by_tool.get(key(name)).into_iter().flatten().copied().filter(|number| fits(number)).collect()
            }
            _ => (0..self.samples.len()).filter(fits).collect(),
        }
    }

    /// The phases that allow the sample, in order.
    pub(super) fn allowing(&self, sample: usize) -> &[usize] {
        self.allowed.get(sample).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether the phase allows the sample.
    pub(super) fn allows(&self, phase: usize, sample: usize) -> bool {
        self.allowing(sample).binary_search(&phase).is_ok()
    }

    /// Whether the phase forbids every call that the sample stands for.
    pub(super) fn forbids(&self, phase: usize, sample: usize) -> bool {
        self.forbidden.get(sample).is_some_and(|phases| phases.binary_search(&phase).is_ok())
    }

    /// Whether every phase forbids every call that the sample stands for.
    pub(super) fn forbids_everywhere(&self, sample: usize) -> bool {
        self.forbidden_everywhere.get(sample) == Some(&true)
    }
}

/// Whether the sample surely writes an artifact that other phases produce.
fn reserved(skill: &Skill, at: usize, sample: &Sample) -> bool {
    let mut writes = skill.phases.get(at).into_iter().flat_map(|phase| skill.reserved_in(phase));
    writes.any(|matcher| sample.fits(matcher, skill, Use::Permit))
}

/// The distinct matchers of one kind of list, each with the phases that have it.
struct Lists<'s> {
    /// By the tool's own name.
    named: BTreeMap<&'s str, Vec<(&'s Matcher, Vec<usize>)>>,
    others: Vec<(&'s Matcher, Vec<usize>)>,
}

impl<'s> Lists<'s> {
    fn of(skill: &'s Skill, list: impl Fn(&'s Phase) -> Vec<&'s Matcher>) -> Self {
        let mut lists = Self { named: BTreeMap::new(), others: Vec::new() };
        for (at, phase) in skill.phases.iter().enumerate() {
            for matcher in list(phase) {
                let known = match &matcher.tool {
                    ToolPattern::Exact(name) => lists.named.entry(key(name)).or_default(),
                    _ => &mut lists.others,
                };
                match known.iter_mut().find(|(other, _)| *other == matcher) {
                    Some((_, phases)) => phases.push(at),
                    None => known.push((matcher, vec![at])),
                }
            }
        }
        lists
    }

    fn phases(&self, sample: &Sample, fits: impl Fn(&Matcher) -> bool) -> Vec<usize> {
        let named = self.named.get(key(sample.tool())).into_iter().flatten();
        let found = named.chain(&self.others).filter(|(matcher, _)| fits(matcher));
        let phases: BTreeSet<usize> = found.flat_map(|(_, phases)| phases).copied().collect();
        phases.into_iter().collect()
    }
}

fn always_forbidden(phase: &Phase) -> Vec<&Matcher> {
    phase.always_forbidden().map(|(_, line)| line).collect()
}

/// A tool's own name, without the server that clients put before it.
fn key(name: &str) -> &str {
    name.rsplit_once("__").map_or(name, |(_, own)| own)
}
