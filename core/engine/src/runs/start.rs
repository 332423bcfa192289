//! Starts: runs that begin by themselves, with a session, a prompt or a call (rules 3.1).

use core::fmt;

use crate::calls::cause::{By, SessionSource};
use crate::calls::tool::Call;
use crate::decide::judge::{Caller, SkillCall};
use crate::decide::reach;
use crate::decide::run_verdict::{RunVerdict, is_done, is_over};
use crate::events::event::{Event, EventKind};
use crate::evidence::eval::World;
use crate::policy::{Policy, Skill, Start};
use crate::prelude::*;
use crate::runs::activation::{self, Beginning};
use crate::runs::settle::settle;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::{Run, State, Status};

/// Begins and ends runs as an event asks that is no call, before it is answered.
pub(crate) fn by_event(world: &mut World<'_>, policy: &Policy, draft: &mut Draft, event: &Event) {
    let waits = match &event.kind {
        EventKind::Join { .. } | EventKind::SessionEnd {} | EventKind::State { .. } => true,
        EventKind::Command { by, .. } => *by == By::Human,
        _ => false,
    };
    if matches!(event.kind, EventKind::Prompt { .. } | EventKind::Stop { .. }) && event.subagent().is_none() {
        over(world, policy, draft);
    }
    if waits || policy.skills.iter().all(|skill| !skill.starts_by_itself()) {
        return;
    }
    mode_left(policy, draft);
    for skill in &policy.skills {
        let over = is_over_for_good(draft.state(), skill);
        let counts = |start: &&Start| !over || matches!(start, Start::Prompt(_) | Start::PermissionMode(_));
        let mut reasons =
            skill.start.iter().filter(counts).filter(|start| is_asked(start, skill, policy, draft, event));
        match (reasons.next(), live(draft.state(), skill)) {
            (Some(reason), None) => begin(draft, skill, reason, By::Platform, false),
            (Some(Start::Prompt(_)), Some(run)) => draft.note_under_way(&run),
            // It began before a call that might make this change, and did.
            (Some(Start::Before(_)), Some(run)) if is_tentative(draft.state(), &run) => {
                draft.change(Change::RunTaken { run });
            }
            (_, _) => {}
        }
    }
}

/// Ends the runs that are done where a turn ends or begins, so that the next match begins another.
fn over(world: &mut World<'_>, policy: &Policy, draft: &mut Draft) {
    let alone = |name: &str, version: &str| policy.skill_version(name, version).is_some_and(Skill::starts_by_itself);
    let ends = |run: &&Run| run.branch.is_some() || (!run.in_force && alone(&run.skill, &run.version));
    let runs: Vec<String> = draft.state().live_runs().filter(ends).map(|run| run.id.clone()).collect();
    let mut parts = false;
    for id in runs {
        let run = draft.run(&id);
        let done = run.is_some_and(|run| {
            let skill = policy.skill_version(&run.skill, &run.version);
            let ends =
                |skill| if run.branch.is_some() { is_done(world, run, skill) } else { is_over(world, run, skill) };
            skill.is_some_and(ends)
        });
        if done {
            parts |= run.is_some_and(|run| run.branch.is_some());
            activation::end(draft, &id, Status::Finished, By::Agent);
        }
    }
    if parts {
        settle(world, policy, draft);
    }
}

fn is_asked(start: &Start, skill: &Skill, policy: &Policy, draft: &Draft, event: &Event) -> bool {
    let (state, changed) = (draft.state(), new_mode(draft));
    match (start, &event.kind) {
        (Start::Session, EventKind::SessionStart { source, .. }) if *source != SessionSource::Compact => true,
        // A session whose start was not seen.
        (Start::Session, _) => {
            let mut runs = state.project.runs.iter().chain(&state.session.runs);
            !runs.any(|run| run.skill == skill.name)
        }
        (Start::Prompt(beginning), EventKind::Prompt { text, .. }) => {
            event.subagent().is_none() && begins_with(text.trim_start(), beginning)
        }
        // A run that a person ended does not begin again while the mode goes on.
        (Start::PermissionMode(mode), _) => changed == Some(mode) || goes_on(start, mode, skill, draft, event),
        (Start::Before(line), _) => {
            let named = || event.changed.iter().any(|path| line.names_written(path));
            skill.inputs.is_empty() && named() && !reach::is_part(policy, state, &skill.name)
        }
        (Start::Invocation | Start::Prompt(_), _) => false,
    }
}

/// Whether a run began before a call of which nobody knows whether it did what the run waits for.
fn is_tentative(state: &State, run: &str) -> bool {
    state.run(run).is_some_and(|run| run.tentative)
}

/// The skills that wait for a call: a call of this kind begins a run of them, or one that it may have begun is begun for good.
pub(crate) fn waiting<'p>(policy: &'p Policy, state: &'p State) -> impl Iterator<Item = &'p Skill> {
    policy.skills.iter().filter(|skill| {
        skill.begins_before().next().is_some()
            && skill.inputs.is_empty()
            && !is_over_for_good(state, skill)
            && live(state, skill).is_none_or(|run| is_tentative(state, &run))
            && !reach::is_part(policy, state, &skill.name)
    })
}

/// Whether the main agent still works in a permission mode, and the run that the mode began came to its end by itself.
fn goes_on(start: &Start, mode: &String, skill: &Skill, draft: &Draft, event: &Event) -> bool {
    let is_work = matches!(event.kind, EventKind::Prompt { .. } | EventKind::ToolCall { .. });
    let states = event.permission_mode.as_ref() == Some(mode) && event.subagent().is_none();
    let last = || {
        let mut runs = draft.state().session.runs.iter().rev();
        runs.find(|run| run.skill == skill.name && run.branch.is_none())
    };
    let finished = |run: &Run| run.status == Status::Finished && run.began == Some(start.to_string());
    is_work && states && last().is_some_and(finished)
}

/// The permission mode that the platform says now, and did not say before.
fn new_mode(draft: &Draft) -> Option<&String> {
    draft.changes().iter().find_map(|change| match change {
        Change::Seen { permission_mode, .. } => permission_mode.as_ref(),
        _ => None,
    })
}

/// Ends the runs that a permission mode began and that are still in their first phase, where the platform has left that
/// mode: its user did so.
fn mode_left(policy: &Policy, draft: &mut Draft) {
    let Some(mode) = new_mode(draft).cloned() else { return };
    let left = |run: &&Run| {
        let skill = policy.skill_version(&run.skill, &run.version);
        let of_other = |start: &Start| {
            matches!(start, Start::PermissionMode(named) if *named != mode)
                && run.began.as_ref() == Some(&start.to_string())
        };
        skill.is_some_and(|skill| skill.phase_index(&run.phase) == Some(0) && skill.start.iter().any(of_other))
    };
    let ended: Vec<String> = draft.state().live_runs().filter(left).map(|run| run.id.clone()).collect();
    for id in ended {
        activation::end(draft, &id, Status::Left, By::Platform);
        draft.announce(&id);
    }
}

/// Whether a text begins so, and the last word of the beginning ends there.
fn begins_with(text: &str, beginning: &str) -> bool {
    let Some(rest) = text.strip_prefix(beginning) else { return false };
    let in_word = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    !(in_word(beginning.chars().next_back()) && in_word(rest.chars().next()))
}

/// Begins the runs that a call asks for, which no live run denies. Returns whether there were any: the call is then to be
/// judged again. A run that the call ends makes room for another.
pub(crate) fn by_call(
    policy: &Policy,
    draft: &mut Draft,
    call: &Call,
    caller: Caller<'_>,
    verdicts: &[RunVerdict<'_>],
) -> bool {
    let mut began = false;
    for skill in &policy.skills {
        let before = skill.begins_before().next().is_some();
        // Nothing gives the values of inputs; `unbegun` is the answer to such a call.
        if !before || !skill.inputs.is_empty() || is_over_for_good(draft.state(), skill) {
            continue;
        }
        let live = live(draft.state(), skill);
        let ends = |id: &String| verdicts.iter().any(|verdict| verdict.over && verdict.run == *id);
        if live.as_ref().is_some_and(|id| !ends(id)) {
            continue;
        }
        let seen = SkillCall::new(skill, call, caller);
        let asks = |start: &&Start| matches!(start, Start::Before(matcher) if seen.begins(matcher));
        let Some(reason) = skill.start.iter().find(asks) else { continue };
        if reach::is_part(policy, draft.state(), &skill.name) {
            continue;
        }
        if let Some(id) = live {
            activation::end(draft, &id, Status::Finished, By::Agent);
        }
        begin(draft, skill, reason, By::Agent, true);
        began = true;
    }
    began
}

/// The skill whose run has to begin before the call, and cannot: nothing gives the values of its inputs.
pub(crate) fn unbegun<'p>(policy: &'p Policy, state: &State, call: &Call, caller: Caller<'_>) -> Option<&'p Skill> {
    let asks = |skill: &Skill| {
        let seen = SkillCall::new(skill, call, caller);
        skill.begins_before().any(|line| seen.begins(line))
    };
    let mut waiting = policy.skills.iter().filter(|skill| !skill.inputs.is_empty() && skill.starts_by_itself());
    waiting.find(|skill| asks(skill) && live(state, skill).is_none() && !reach::is_part(policy, state, &skill.name))
}

/// Whether a person ended the skill: for the rest of the session it begins only where somebody asks for it by its name.
fn is_over_for_good(state: &State, skill: &Skill) -> bool {
    state.session.in_force.get(&skill.name) == Some(&None)
}

/// The live root run of the skill.
fn live(state: &State, skill: &Skill) -> Option<String> {
    let mut roots = state.live_runs().filter(|run| run.parent.is_none() && run.skill == skill.name);
    roots.next().map(|run| run.id.clone())
}

/// `tentative`: a call asks for it that may still be denied.
fn begin(draft: &mut Draft, skill: &Skill, reason: &Start, by: By, tentative: bool) {
    activation::begin(
        draft,
        skill,
        Beginning { began: Some(reason.to_string()), tentative, ..Beginning::asked(by, None) },
    );
}

/// The line of `start`, in the words of a config.
impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invocation => f.write_str("invocation"),
            Self::Session => f.write_str("session"),
            Self::Prompt(beginning) => write!(f, "prompt: {beginning}"),
            Self::PermissionMode(mode) => write!(f, "permission_mode: {mode}"),
            Self::Before(matcher) => write!(f, "before: {}", matcher.text),
        }
    }
}
