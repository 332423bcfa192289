//! What a call did to files, seen after it: whether a live run forbids it that, and whether a run begins by it (rules 4.11).

use serde_json::Value;

use crate::calls::analysis::{Access, CallAnalysis, NewContent, PathUse};
use crate::calls::builtin_tools::is_builtin;
use crate::calls::forbidden_change::ForbiddingPhase;
use crate::calls::tool::BASH;
use crate::decide::judge::{Caller, SkillCall};
use crate::decide::run_verdict::verdicts;
use crate::events::call::agent_kind;
use crate::events::event::{Event, EventKind};
use crate::evidence::eval::World;
use crate::evidence::fact::Facts;
use crate::evidence::phase_conditions::each_unchanged;
use crate::policy::matcher::{Matcher, ToolPattern};
use crate::policy::{Policy, Skill};
use crate::prelude::*;
use crate::runs::start;
use crate::runs::tree;
use crate::state::draft::Draft;
use crate::state::redacted_tests::Fit;
use crate::state::{Run, State};
use crate::values::glob::Glob;

/// A live run that forbids a call to change a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forbids {
    /// Where it stands.
    pub by: ForbiddingPhase,
    /// Whether that is sure; else a part of the call may change the file.
    pub sure: bool,
}

/// The change of a file as a call's analysis would have named it. `adds_none`: it has no line of code that the file had not
/// before, in that order.
pub fn change_of(path: &str, adds_none: bool) -> PathUse {
    let becomes = adds_none.then(|| Box::new(NewContent { sha256: String::new(), made_from: None, adds_none }));
    PathUse { resolved: Some(path.into()), becomes, ..PathUse::new(path.into(), Access::Write) }
}

/// The strictest live run that forbids the call of a `tool_call` event the change of a file.
pub fn forbids_change(policy: &Policy, state: &State, event: &Event, change: &PathUse) -> Option<Forbids> {
    let call = event.call()?;
    let kind = agent_kind(state, event);
    let caller = Caller { agent: event.subagent(), kind: &kind };
    let facts = Facts::default();
    let mut world = World::new(&facts);
    let found = verdicts(&mut world, policy, state, &call, caller);
    let mut runs: Vec<&Run> = found.iter().filter_map(|verdict| state.run(&verdict.run)).collect();
    let above: Vec<&Run> = runs.iter().flat_map(|run| tree::above(state, run)).collect();
    runs.extend(above);
    let forbids = runs.into_iter().filter_map(|run| {
        let skill = policy.skill_version(&run.skill, &run.version)?;
        // No fact is known here: what was seen of an `until` counts.
        let own = SkillCall::new(skill, &call, caller.in_run(skill, run)).lifting(&mut world, run, true);
        let fit = own.forbids_change(run, change);
        let by = || ForbiddingPhase {
            run: run.id.clone(),
            skill: run.skill.clone(),
            version: run.version.clone(),
            phase: run.phase.clone(),
            mode: run.mode,
        };
        (fit != Fit::No).then(|| Forbids { by: by(), sure: fit == Fit::Yes })
    });
    forbids.max_by_key(|forbids| (forbids.sure, forbids.by.mode))
}

/// Whether a skill waits for a call that changes the file as the call of a `tool_call` event did.
pub fn begins_by_change(policy: &Policy, state: &State, event: &Event, change: &PathUse) -> bool {
    let Some(call) = event.call() else { return false };
    let kind = agent_kind(state, event);
    let caller = Caller { agent: event.subagent(), kind: &kind };
    start::waiting(policy, state).any(|skill| {
        let own = SkillCall::new(skill, &call, caller);
        skill.begins_before().any(|line| own.begins_by_change(line, change))
    })
}

/// The state in which the event is answered: with the runs that begin by what it says to have changed.
pub fn with_begun(policy: &Policy, state: &State, event: &Event) -> State {
    let facts = Facts::default();
    let mut draft = Draft::new(state);
    start::by_event(&mut World::new(&facts), policy, &mut draft, event);
    draft.into_parts().state
}

/// Whether a change that was forbidden still is: a live run forbids programs to write the file where it stands, or the skill
/// still waits that would have.
pub fn still_forbids(policy: &Policy, state: &State, by: &ForbiddingPhase, path: &str) -> bool {
    let waits = by.run.is_empty() && start::waiting(policy, state).any(|skill| skill.name == by.skill);
    waits || forbids_change(policy, state, &any_program(), &change_of(path, false)).is_some()
}

/// A call that runs a program of which nothing is known.
pub fn any_program() -> Event {
    let kind = EventKind::ToolCall {
        id: None,
        tool: BASH.into(),
        native: None,
        server: None,
        input: Value::Null,
        labels: None,
        background: false,
        analysis: CallAnalysis::default(),
    };
    Event::new("", kind)
}

/// Whether a skill that waits for changes asks whether the file is as it was, and no change of it begins a run.
pub fn asks_whether_changed(policy: &Policy, state: &State, path: &str) -> bool {
    let asked = start::waiting(policy, state).flat_map(asked_files).any(|glob| glob.fits(path));
    asked && !start::waiting(policy, state).flat_map(Skill::begins_before).any(|line| line.names_written(path))
}

/// The files of which a skill that waits for changes asks whether they are as they were when its run began.
fn asked_files(skill: &Skill) -> Vec<Glob> {
    let mut found = Vec::new();
    if skill.begins_before().any(is_of_programs) {
        each_unchanged(skill, 0, &mut |test| found.extend(test.content.files()));
    }
    found
}

/// The paths that are watched while a program runs: those that the skills of the live runs forbid programs to write, in any of
/// their phases, those for whose change a skill waits, and those of which it asks whether they are as they were then.
pub fn watched_paths(policy: &Policy, state: &State) -> Vec<Glob> {
    let live = state.live_runs().filter_map(|run| policy.skill_version(&run.skill, &run.version));
    let forbidden = live.flat_map(|skill| lines(skill, None));
    let awaited = start::waiting(policy, state).flat_map(Skill::begins_before).filter(|line| is_of_programs(line));
    let mut found: Vec<Glob> = Vec::new();
    for line in forbidden.chain(awaited) {
        let written = line.paths.iter().filter(|test| test.access == Access::Write).map(|test| &test.pattern);
        let new: Vec<Glob> = written.filter(|glob| !found.contains(glob)).cloned().collect();
        found.extend(new);
    }
    found.extend(start::waiting(policy, state).flat_map(asked_files));
    found.sort_by(|one, other| str::cmp(one, other));
    found.dedup();
    found
}

/// The lines of a skill that forbid a program to write paths: those of every phase, or of this one.
fn lines<'s>(skill: &'s Skill, phase: Option<&'s str>) -> impl Iterator<Item = &'s Matcher> {
    let phases = skill.phases.iter().filter(move |one| phase.is_none_or(|name| one.name == name));
    let all = skill.global_forbidden.iter().chain(phases.flat_map(|phase| &phase.forbidden));
    all.filter(|line| is_of_programs(line) && line.paths.iter().any(|test| test.access == Access::Write))
}

/// Whether the line may mean a call that runs a program.
fn is_of_programs(line: &Matcher) -> bool {
    !matches!(&line.tool, ToolPattern::Exact(name) if name != BASH && is_builtin(name))
}
