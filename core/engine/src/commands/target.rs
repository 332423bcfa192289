//! Which live run, phase or element of a plan a person means by a command.

use crate::answers::denial::{DenialKind, InvalidCommand};
use crate::commands::arguments::Arguments;
use crate::policy::Policy;
use crate::prelude::*;
use crate::runs::activation::known;
use crate::runs::moves;
use crate::runs::tree;
use crate::state::{Run, State};

/// The words of a command about a phase.
#[derive(Clone, Copy, Default)]
pub(crate) struct Words<'a> {
    /// The id of a run.
    pub(crate) run: Option<&'a str>,
    /// The name of its skill.
    pub(crate) skill: Option<&'a str>,
    /// The name of a phase.
    pub(crate) phase: Option<&'a str>,
    /// The name of a skill of a live run, or else of a phase.
    pub(crate) name: Option<&'a str>,
}

impl<'a> Words<'a> {
    pub(crate) fn of(args: &Arguments<'a>) -> Result<Self, DenialKind> {
        Ok(Self {
            run: args.text("run")?,
            skill: args.text("skill_name")?,
            phase: args.text("phase")?,
            name: args.text("name")?,
        })
    }
}

/// The run that is meant, and the phase, where one is.
pub(crate) struct Meant<'a> {
    pub(crate) run: String,
    pub(crate) phase: Option<&'a str>,
}

/// The run that a command means: without a skill's name the one that began last.
pub(crate) fn target<'a>(state: &'a State, name: Option<&str>) -> Option<&'a Run> {
    state.live_runs().filter(|run| name.is_none_or(|name| run.skill == name)).last()
}

/// The run that a command ends: without a skill's name the one that began last of those that are part of no other.
pub(crate) fn to_end<'a>(state: &'a State, name: Option<&str>) -> Option<&'a Run> {
    if name.is_some() { target(state, name) } else { tree::roots(state).last() }
}

/// The run whose phase is skipped where none is named: of the tree that began last, the only one in which a phase follows.
fn to_skip<'a>(policy: &Policy, state: &'a State) -> Result<&'a Run, DenialKind> {
    let root = tree::roots(state).last().ok_or_else(|| not_active(policy, state, None))?;
    let follows = |run: &&Run| {
        let skill = policy.skill_version(&run.skill, &run.version);
        skill.is_some_and(|skill| moves::skip(run, skill).is_some())
    };
    let of_tree = state.live_runs().filter(|run| tree::root(state, run).id == root.id);
    let all: Vec<&Run> = of_tree.filter(follows).collect();
    match all.as_slice() {
        [] => Ok(root),
        [one] => Ok(one),
        several => {
            let runs = several.iter().map(named).collect();
            Err(DenialKind::CommandInvalid(InvalidCommand::PhaseUnclear { runs }))
        }
    }
}

pub(crate) fn not_active(policy: &Policy, state: &State, name: Option<&str>) -> DenialKind {
    if let Some(unknown) = name.and_then(|name| known(policy, name).err()) {
        return unknown;
    }
    let active = state.live_runs().map(|run| run.skill.clone()).collect();
    DenialKind::CommandInvalid(InvalidCommand::NotActive { skill: name.map(ToString::to_string), active })
}

/// The run and the phase that words mean. Without a name it is the run that began last of those that are part of no other;
/// to skip, a part of it where only the part has a phase that follows.
pub(crate) fn phase<'a>(
    policy: &Policy,
    state: &State,
    words: &Words<'a>,
    roots_alone: bool,
) -> Result<Meant<'a>, DenialKind> {
    let of_skill = |name: &&str| state.live_runs().any(|run| run.skill == **name);
    let skill = words.skill.or(words.name.filter(of_skill));
    let phase = words.phase.or(words.name.filter(|name| skill != Some(*name)));
    let meant = |run: &Run| Meant { run: run.id.clone(), phase };
    if let Some(id) = words.run {
        return run(state, id).map(meant);
    }
    // A skill that is not live is no phase.
    if let Some(name) = words.name.filter(|name| skill.is_none() && policy.skill(name).is_some()) {
        return Err(not_active(policy, state, Some(name)));
    }
    let found = match (skill, phase) {
        (Some(skill), _) => target(state, Some(skill)),
        (None, Some(phase)) => return with_phase(policy, state, phase).map(meant),
        (None, None) if roots_alone => tree::roots(state).last(),
        (None, None) => return to_skip(policy, state).map(meant),
    };
    found.map(meant).ok_or_else(|| not_active(policy, state, skill))
}

fn run<'s>(state: &'s State, id: &str) -> Result<&'s Run, DenialKind> {
    let live = || state.live_runs().map(|run| run.id.clone()).collect();
    let not_live = || InvalidCommand::RunNotLive { run: id.to_string(), live: live() };
    state.live_runs().find(|run| run.id == id).ok_or_else(|| DenialKind::CommandInvalid(not_live()))
}

/// The only live run with a phase of this name; of several, the only one that is part of no other.
fn with_phase<'s>(policy: &Policy, state: &'s State, phase: &str) -> Result<&'s Run, DenialKind> {
    let has = |run: &&Run| {
        let skill = policy.skill_version(&run.skill, &run.version);
        skill.is_some_and(|skill| skill.phase_index(phase).is_some())
    };
    let roots: Vec<&Run> = tree::roots(state).filter(has).collect();
    let all: Vec<&Run> = if roots.is_empty() { state.live_runs().filter(has).collect() } else { roots };
    match all.as_slice() {
        [one] => Ok(one),
        [] if state.live_runs().next().is_none() => Err(not_active(policy, state, None)),
        [] => Err(DenialKind::CommandInvalid(InvalidCommand::NoRunHasPhase { phase: phase.to_string() })),
        several => Err(unclear(phase, several)),
    }
}

fn unclear(name: &str, runs: &[&Run]) -> DenialKind {
    let runs = runs.iter().map(named).collect();
    DenialKind::CommandInvalid(InvalidCommand::RunUnclear { name: name.to_string(), runs })
}

/// A run with its id, its skill and its branch.
fn named(run: &&Run) -> String {
    match run.branch.as_ref().map(|branch| branch.name.as_str()) {
        Some(branch) if !branch.is_empty() => format!("{} ({}, {branch})", run.id, run.skill),
        _ => format!("{} ({})", run.id, run.skill),
    }
}

/// An element of a plan, as a person names it.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) id: &'a str,
    /// The id of the run that reads the plan.
    pub(crate) run: Option<&'a str>,
}

/// The element that the words of a command about a phase mean: their name is that of no live skill and no phase.
pub(crate) fn of_element<'a>(policy: &Policy, state: &State, words: &Words<'a>) -> Option<Named<'a>> {
    let (id, run) = (words.name?, words.run);
    let is_phase = with_phase(policy, state, id).is_ok() || state.live_runs().any(|run| run.skill == id);
    Some(Named { id, run }).filter(|named| !is_phase && element(state, *named).is_ok())
}

/// An element of a plan that a live run reads.
pub(crate) struct Element<'s> {
    pub(crate) run: &'s Run,
    /// Its index in the plan.
    pub(crate) place: usize,
}

/// The element that a name means.
pub(crate) fn element<'s>(state: &'s State, named: Named<'_>) -> Result<Element<'s>, DenialKind> {
    let Named { id, run } = named;
    let plans = || state.live_runs().filter(|one| run.is_none_or(|run| one.id == run)).filter(|one| one.plan.is_some());
    let elements = |run: &'s Run| run.plan.iter().flat_map(|progress| &progress.plan.elements).enumerate();
    let has = |run: &'s Run| {
        let mut places = elements(run).filter(|(_, element)| element.id.eq_ignore_ascii_case(id));
        places.next().map(|(place, _)| Element { run, place })
    };
    let mut found: Vec<Element<'s>> = plans().filter_map(has).collect();
    match (found.pop(), found.is_empty()) {
        (Some(one), true) => Ok(one),
        (Some(one), false) => {
            let runs: Vec<&Run> = found.iter().map(|other| other.run).chain([one.run]).collect();
            Err(unclear(id, &runs))
        }
        (None, _) => {
            let known = plans().flat_map(elements).map(|(_, element)| element.id.clone()).collect();
            Err(DenialKind::CommandInvalid(InvalidCommand::NoElement { id: id.to_string(), known }))
        }
    }
}
