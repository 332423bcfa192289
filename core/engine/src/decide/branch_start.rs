//! Starts of subagents that do a run of a phase: which of several runs one is about (rules 3.2).

use serde_json::Value;

use crate::answers::denial::DenialKind;
use crate::calls::analysis::Invocation;
use crate::calls::tool::Call;
use crate::decide::judge::{Caller, SkillCall};
use crate::evidence::eval::World;
use crate::policy::plan::{Element, NamedElement};
use crate::policy::{Policy, Skill};
use crate::prelude::*;
use crate::runs::tree;
use crate::state::{Children, Run, State, Status};

/// The arguments in which a start says what the subagent is to do.
const SAYS: [&str; 3] = ["prompt", "description", "message"];

/// A start of a subagent, as the runs see it that it may be about.
pub(crate) struct BranchStart<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) state: &'a State,
    pub(crate) call: &'a Call,
    pub(crate) caller: Caller<'a>,
}

impl<'a> BranchStart<'a> {
    /// Whether the call may be about this run: it is no start, or the run is the only one of its phase that it can be
    /// about, or the one that it names.
    pub(crate) fn means(&self, world: &mut World<'_>, run: &Run) -> bool {
        if !self.is_start() || run.branch.is_none() {
            return true;
        }
        let meant = self.meant(world, run);
        match meant.as_slice() {
            [] => true,
            [one] => one.id == run.id,
            _ => false,
        }
    }

    /// Why nobody can tell which run the start is about.
    pub(crate) fn unclear(&self, world: &mut World<'_>) -> Option<(&'a Run, DenialKind)> {
        if !self.is_start() {
            return None;
        }
        let plans = self.state.live_runs().filter(|run| run.plan.is_some() && run.children == Children::Live);
        let mut found = plans.filter_map(|run| self.unclear_element(world, run).map(|kind| (run, kind)));
        if let Some(unclear) = found.next() {
            return Some(unclear);
        }
        if let Some(early) = self.before_gate() {
            return Some(early);
        }
        let of_branch = |run: &&Run| run.branch.is_some() && !tree::is_element(self.state, run);
        let parts = self.state.live_runs().filter(of_branch);
        for run in parts {
            let rivals = self.rivals(world, run);
            if rivals.is_empty() {
                continue;
            }
            let name = |run: &&Run| run.branch.as_ref().map(|branch| branch.name.clone()).unwrap_or_default();
            let (branches, pending): (Vec<String>, bool) = (rivals.iter().map(name).collect(), self.is_pending());
            if pending || self.meant(world, run).len() != 1 {
                return Some((run, DenialKind::StartUnclear { branches, pending, named: None }));
            }
        }
        None
    }

    /// Why nobody can tell which element of a run's plan the start is about: it has to name exactly one that is to be done
    /// now and that no subagent does.
    fn unclear_element(&self, world: &mut World<'_>, run: &'a Run) -> Option<DenialKind> {
        let rivals = self.free_parts(world, run);
        if rivals.is_empty() && !self.is_listed_below(run) {
            return None;
        }
        let name = |rival: &&Run| rival.branch.as_ref().map(|branch| branch.name.clone()).unwrap_or_default();
        let branches: Vec<String> = rivals.iter().map(name).collect();
        let named = branches.iter().filter(|name| self.says(name)).count();
        let pending = self.is_pending();
        (pending || named != 1).then(|| {
            let named = if named == 0 && !pending { self.named_element(run).map(Box::new) } else { None };
            DenialKind::StartUnclear { branches, pending, named }
        })
    }

    /// The run whose wave waits at its gate: no element can be begun before that, unless the gate itself lists the start.
    fn before_gate(&self) -> Option<(&'a Run, DenialKind)> {
        let at_gate = self.state.live_runs().filter(|run| run.plan.is_some() && run.children == Children::Gate);
        let of_gate = |run: &Run| {
            let skill = self.skill(run);
            skill.is_some_and(|skill| SkillCall::new(skill, self.call, self.caller).is_listed_in_present(run))
        };
        let mut waits = at_gate.filter(|run| self.is_listed_below(run) && !of_gate(run));
        let run = waits.next()?;
        let named = self.named_element(run).map(Box::new);
        Some((run, DenialKind::StartUnclear { branches: Vec::new(), pending: false, named }))
    }

    /// The first element of a run's plan that the start names, and that it cannot be about now.
    fn named_element(&self, run: &Run) -> Option<NamedElement> {
        let progress = run.plan.as_ref()?;
        let named = |(place, element): (usize, &Element)| {
            let waits = self.says(&element.id).then(|| progress.waits(place)).flatten()?;
            Some(NamedElement { name: element.id.clone(), waits })
        };
        progress.plan.elements.iter().enumerate().find_map(named)
    }

    /// Whether the skill that a run's phase consists of lists the start in any of its phases.
    fn is_listed_below(&self, run: &Run) -> bool {
        let skill = self.skill(run);
        let runs = skill.and_then(|skill| skill.phases.get(skill.phase_index(&run.phase)?)?.run.as_ref());
        let names = runs.into_iter().flat_map(|runs| &runs.each).map(|child| &child.skill);
        let children = || skill.into_iter().flat_map(|skill| &skill.children);
        let mut parts = names.filter_map(|name| children().find(|child| child.name == *name));
        parts.any(|child| SkillCall::new(child, self.call, self.caller).first_listed().is_some())
    }

    /// Whether it is a start that begins a run's work: what the subagent of a run starts belongs to that run.
    fn is_start(&self) -> bool {
        let of_run = || self.caller.agent.is_some_and(|agent| tree::has_run(self.state, agent));
        matches!(self.call.analysis.invokes, Some(Invocation::Agent(_))) && !of_run()
    }

    fn skill(&self, run: &Run) -> Option<&'a Skill> {
        self.policy.skill_version(&run.skill, &run.version)
    }

    /// Whether a subagent may do the run: it is an element of a plan, or its present phase is a subagent's.
    fn is_an_agents(&self, run: &Run) -> bool {
        tree::is_element(self.state, run) || {
            let skill = self.skill(run);
            let phase = skill.and_then(|skill| skill.phases.get(skill.phase_index(&run.phase)?));
            phase.is_some_and(|phase| phase.done_by.is_some())
        }
    }

    /// The runs of the same phase that a subagent may do and none does yet, and whose present phase lists the start.
    fn rivals(&self, world: &mut World<'_>, run: &Run) -> Vec<&'a Run> {
        let parent = run.parent.as_deref().and_then(|parent| self.state.run(parent));
        parent.map(|parent| self.free_parts(world, parent)).unwrap_or_default()
    }

    /// The parts of a run's phase that a subagent may do and none does yet, and whose present phase lists the start.
    fn free_parts(&self, world: &mut World<'_>, parent: &'a Run) -> Vec<&'a Run> {
        let mut rivals: Vec<&Run> = tree::children(self.state, parent).collect();
        rivals.retain(|rival| rival.branch.as_ref().is_some_and(|branch| branch.agent.is_none()));
        rivals.retain(|rival| {
            let Some(skill) = self.skill(rival) else { return false };
            let call = SkillCall::new(skill, self.call, self.caller);
            // Another subagent may go on with an element whose phase is done.
            let is_for = |world: &mut World<'_>| call.is_for(world, rival) || tree::is_element(self.state, rival);
            self.is_an_agents(rival) && call.is_listed_in_present(rival) && is_for(world)
        });
        rivals
    }

    /// Those of them that the start can be about: the only one, else those whose names it says. An element of a plan has to
    /// be named.
    fn meant(&self, world: &mut World<'_>, run: &Run) -> Vec<&'a Run> {
        let mut rivals = self.rivals(world, run);
        if rivals.len() > 1 || tree::is_element(self.state, run) {
            rivals.retain(|rival| rival.branch.as_ref().is_some_and(|branch| self.says(&branch.name)));
        }
        rivals
    }

    fn says(&self, name: &str) -> bool {
        let said = SAYS.iter().filter_map(|field| self.call.input.get(*field).and_then(Value::as_str));
        let of_name = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
        let name = name.to_lowercase();
        let words = said.flat_map(|text| text.split(move |letter| !of_name(letter)));
        words.map(|word| word.trim_matches('.')).any(|word| word.to_lowercase() == name)
    }

    /// Whether the start of a subagent that does such a run was let through, and the subagent has not begun.
    fn is_pending(&self) -> bool {
        let does = |run: &str| {
            let part = self.state.run(run).filter(|run| run.status == Status::Active && run.branch.is_some())?;
            self.is_an_agents(part).then_some(())
        };
        let mut calls = self.state.session.calls.iter().filter(|call| call.tool == crate::calls::tool::AGENT);
        calls.any(|call| {
            let for_part = call.visits.iter().any(|place| place.listed && does(&place.run.to_string()).is_some());
            let differs = call.starts_as.is_some() && self.call.analysis.starts_as.is_some();
            let is_other = differs && call.starts_as != self.call.analysis.starts_as;
            call.started.is_none() && !call.ended && for_part && !is_other
        })
    }
}
