//! Obligations: what the host must be told, given again until a later event shows that it was taken up.

use crate::answers::completion;
use crate::answers::decision::Decision;
use crate::answers::phrase;
use crate::calls::cause::By;
use crate::calls::tool::SKILL;
use crate::commands::registering;
use crate::commands::run_status;
use crate::events::event::{Event, EventKind};
use crate::evidence::condition::Condition;
use crate::evidence::eval::World;
use crate::policy::matcher::{AgentTest, Matcher, Use};
use crate::policy::plan::PlanProgress;
use crate::policy::{Optional, Phase, Policy, Skill, Unlisted};
use crate::prelude::*;
use crate::runs::holding;
use crate::runs::tree;
use crate::shell::safety::SAFETY_OBLIGATION;
use crate::state::apply::{obligation_prefix, obligation_run};
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::{Children, FailedBack, Obligation, ObligationKind, Run, State, Status};

/// What stands before the text of a file that a phase is described by.
const PAGE: &str = "\n\nThe text of the phase:\n\n";
/// The most characters of what began a run.
const MAX_BEGAN_CHARS: usize = 48;

/// Drops what an event shows to have been taken up, before the event itself is answered.
pub(crate) fn taken_up(draft: &mut Draft, event: &Event) {
    let result_of = match &event.kind {
        EventKind::ToolResult { id, .. } => id.as_deref(),
        _ => None,
    };
    // The end of a batch comes after the answers to its results were read.
    let goes_on = matches!(event.kind, EventKind::ToolCall { .. } | EventKind::BatchEnd {} | EventKind::Stop { .. });
    drop_those(draft, |obligation| {
        obligation.given > 0
            && match &obligation.call {
                Some(call) => result_of == Some(call.as_str()),
                None => goes_on,
            }
    });
}

/// Brings the obligations in line with the live runs: where each stands.
pub(crate) fn derive(world: &mut World<'_>, policy: &Policy, draft: &mut Draft, event: &Event) {
    registering::tell(policy, draft, event);
    let mut announced = draft.take_announced();
    // Of the elements of a plan one is told at a time: after one that has ended, the next.
    let ended = |id: &&String| draft.run(id).is_some_and(|run| run.status != Status::Active);
    let after: Vec<String> = announced.iter().filter(ended).filter_map(|id| next_element(draft.state(), id)).collect();
    announced.extend(after);
    for id in announced {
        let run = draft.run(&id).filter(|run| run.status == Status::Active && is_told(draft.state(), run));
        let due = run.and_then(|run| {
            let reader = Reader { under_way: draft.is_under_way(&id), does: false };
            let text = of_run(policy, draft.state(), run, reader)?;
            Some(Change::ObligationDue { run: run.id.clone(), visit: run.visit, text })
        });
        match due {
            Some(due) => draft.change(due),
            None => {
                let prefix = obligation_prefix(&id);
                drop_those(draft, |obligation| obligation.id.starts_with(&prefix));
                completion::tell(world, policy, draft, event, &id);
            }
        }
    }
    if draft.state().session.obligations.is_empty() {
        return;
    }
    let state = draft.state();
    let is_live = |id: &str| state.live_runs().any(|run| run.id == id);
    let dropped = |obligation: &Obligation| {
        obligation.id != SAFETY_OBLIGATION
            && !obligation_run(&obligation.id).is_some_and(is_live)
            && !completion::is_told_by(obligation)
    };
    let ids = ids_of(state, dropped);
    if !ids.is_empty() {
        draft.change(Change::ObligationsDropped { ids });
    }
}

/// The element of the same plan that the main agent does after one.
fn next_element(state: &State, ended: &str) -> Option<String> {
    let parent = state.run(state.run(ended)?.parent.as_deref()?)?;
    parent.plan.as_ref()?;
    free_element(state, parent).map(|run| run.id.clone())
}

/// The first live element of a run's plan that no subagent does.
fn free_element<'a>(state: &'a State, parent: &'a Run) -> Option<&'a Run> {
    tree::children(state, parent).find(|run| run.branch.as_ref().is_some_and(|branch| branch.agent.is_none()))
}

/// Whether somebody is told where a run stands. Of the elements of a plan these are the one that the main agent does, and
/// those that subagents do.
fn is_told(state: &State, run: &Run) -> bool {
    let parent = run.parent.as_deref().and_then(|parent| state.run(parent));
    !tree::is_element(state, run)
        || is_done_by_subagent(run)
        || parent.and_then(|parent| free_element(state, parent)).is_some_and(|first| first.id == run.id)
}

fn is_done_by_subagent(run: &Run) -> bool {
    run.branch.as_ref().is_some_and(|branch| branch.agent.is_some())
}

/// What is told with the answer to an event; `None`: all that is owed. At its start a subagent that does a run
/// is told of that one, every other one of the runs that no subagent does. What the main agent has to be told stays as it is.
pub(crate) fn of_subagent(policy: &Policy, state: &State, event: &Event) -> Option<Vec<Obligation>> {
    let EventKind::SubagentStart { id, .. } = &event.kind else {
        let owed = owed_to(state, event)?;
        return Some(owed.into_iter().map(|owed| as_doer(policy, state, event, owed)).collect());
    };
    let doer = tree::bound_doer(state, id);
    let is_for = |run: &&Run| tree::bound_to(run) == doer && (doer.is_some() || !tree::is_element(state, run));
    let told = state.live_runs().filter(is_for).filter_map(|run| {
        let does = does_phase(policy, state, run, id);
        let kind = ObligationKind::Context(of_run(policy, state, run, Reader { under_way: false, does })?);
        Some(Obligation { id: of_visit(run), kind, given: state.session.events, call: None })
    });
    Some(told.collect())
}

/// The id of the obligation that tells where a run stands.
fn of_visit(run: &Run) -> String {
    format!("{}{}", obligation_prefix(&run.id), run.visit)
}

/// What is owed, as the subagent reads it that does the phase of the run.
fn as_doer(policy: &Policy, state: &State, event: &Event, owed: Obligation) -> Obligation {
    let run = obligation_run(&owed.id).and_then(|id| state.run(id)).filter(|run| of_visit(run) == owed.id);
    let does = |run: &&Run| event.subagent().is_some_and(|agent| does_phase(policy, state, run, agent));
    let text = run.filter(does).and_then(|run| of_run(policy, state, run, Reader { under_way: false, does: true }));
    match text {
        Some(text) => Obligation { kind: ObligationKind::Context(text), ..owed },
        None => owed,
    }
}

/// Whether a subagent is the one that does the phase of a run.
fn does_phase(policy: &Policy, state: &State, run: &Run, agent: &str) -> bool {
    let skill = policy.skill_version(&run.skill, &run.version);
    let phase = skill.and_then(|skill| skill.phases.get(skill.phase_index(&run.phase)?));
    let kind = state.session.agents.iter().find(|known| known.id == agent).map(|known| known.kind.as_str());
    let is_bound = run.branch.is_none() || tree::bound_to(run) == Some(agent);
    is_bound && kind.is_some() && phase.and_then(|phase| phase.done_by.as_deref()) == kind
}

/// What is owed to the agent of an event: to a subagent that does or did a run what is about that run alone, to others what
/// is about no element that a subagent does. `None`: all of it.
fn owed_to(state: &State, event: &Event) -> Option<Vec<Obligation>> {
    let all = &state.session.obligations;
    let about = |owed: &Obligation| obligation_run(&owed.id).and_then(|id| state.run(id));
    if let Some(doer) = event.subagent().and_then(|agent| tree::bound_doer(state, agent)) {
        let does = |owed: &&Obligation| about(owed).is_some_and(|run| tree::bound_to(run) == Some(doer));
        return Some(all.iter().filter(does).cloned().collect());
    }
    let of_subagent =
        |owed: &Obligation| about(owed).is_some_and(|run| tree::is_element(state, run) && is_done_by_subagent(run));
    let some = all.iter().any(of_subagent);
    some.then(|| all.iter().filter(|owed| !of_subagent(owed)).cloned().collect())
}

/// Who is told of a run.
#[derive(Clone, Copy)]
struct Reader {
    /// Whether a prompt begins no other run because of this one.
    under_way: bool,
    /// Whether it is the subagent that does the phase.
    does: bool,
}

/// What an agent is told of a run.
fn of_run(policy: &Policy, state: &State, run: &Run, reader: Reader) -> Option<String> {
    let skill = policy.skill_version(&run.skill, &run.version)?;
    let parent = run.parent.as_deref().and_then(|parent| state.run(parent)).map(|parent| parent.skill.as_str());
    let other = holding::other_above(state, run);
    if other.is_some() && run.parent.is_some() {
        return None;
    }
    let mut text = where_it_stands(skill, run, parent, reader.does);
    if reader.under_way {
        text.extend([" ", &under_way(skill)]);
    }
    if let Some(session) = other {
        text.extend([" ", &held_elsewhere(session)]);
    }
    Some(text)
}

/// Notes with which answer the obligations go out. A denied call's answer is not counted: nothing will show that it was
/// read.
pub(crate) fn give(draft: &mut Draft, event: &Event, decision: Option<&Decision>) {
    let call = match &event.kind {
        EventKind::ToolCall { id, .. } if decision.is_none_or(Decision::lets_through) => id.clone(),
        // The invocation is a call, whose answer this is a part of.
        EventKind::Skill { by: By::Agent, .. } => {
            let call = draft.state().session.calls.last().filter(|call| call.tool == SKILL);
            call.and_then(|call| call.id.clone())
        }
        EventKind::SessionStart { .. }
        | EventKind::Prompt { .. }
        | EventKind::ToolResult { .. }
        | EventKind::Skill { .. } => None,
        _ => return,
    };
    let ids: Option<Vec<String>> =
        owed_to(draft.state(), event).map(|owed| owed.into_iter().map(|owed| owed.id).collect());
    let none = ids.as_ref().map_or(draft.state().session.obligations.is_empty(), Vec::is_empty);
    if !none {
        draft.change(Change::ObligationsGiven { ids: ids.unwrap_or_default(), call });
    }
}

fn ids_of(state: &State, wanted: impl Fn(&Obligation) -> bool) -> Vec<String> {
    let owed = state.session.obligations.iter().filter(|obligation| wanted(obligation));
    owed.map(|obligation| obligation.id.clone()).collect()
}

fn drop_those(draft: &mut Draft, dropped: impl Fn(&Obligation) -> bool) {
    let ids = ids_of(draft.state(), dropped);
    if !ids.is_empty() {
        draft.change(Change::ObligationsDropped { ids });
    }
}

/// That a prompt began nothing, and how a person makes room for another run.
fn under_way(skill: &Skill) -> String {
    format!(
        "The prompt begins no other run of {0}, as this one is under way: tell the user, who ends it by `/phasegate end \
         {0}` if the new one is to begin.",
        skill.name
    )
}

/// Where a run stands, in short lists. What finishes the phase stands there once.
pub(crate) fn announce(skill: &Skill, run: &Run, parent: Option<&str>) -> String {
    where_it_stands(skill, run, parent, false)
}

/// As [`announce`]. Where the subagent reads it that does the phase, it does not say how that subagent is started.
fn where_it_stands(skill: &Skill, run: &Run, parent: Option<&str>, to_doer: bool) -> String {
    let index = skill.phase_index(&run.phase).unwrap_or_default();
    let Some(phase) = skill.phases.get(index) else { return String::new() };
    let mut finishing: Vec<&str> = Vec::new();
    if let Some(condition) = &phase.done_when {
        condition.each_use(Use::Permit, &mut |test, used| {
            if used == Use::Permit {
                finishing.push(&test.matcher.text);
            }
        });
    }
    let produced = skill.produced_in(phase).flat_map(|artifact| &artifact.writes);
    finishing.extend(produced.map(|writes| writes.text.as_str()));
    let finishes = |matcher: &&Matcher| finishing.contains(&&*matcher.text);
    let is_for = |line: &&Matcher| !to_doer || line.agent != Some(AgentTest::Main);
    let others = phase.lines(run.at_gate()).iter().filter(|line| !finishes(line)).filter(is_for);
    let own = |line: &Matcher| Matcher {
        text: phrase::without_agent(line).filter(|_| to_doer).unwrap_or_else(|| line.text.clone()),
        ..line.clone()
    };
    let others: Vec<Matcher> = others.map(own).collect();
    let mut text = place(skill, run, parent, index);
    if run.stands_still() {
        text.push_str(" It stands still until the user says how it goes on; only calls that read are allowed.");
        return text;
    }
    let (sentence, page) = what_to_do(phase, to_doer);
    let output = if to_doer && !page.is_empty() { output_of(skill, phase) } else { String::new() };
    let page = if to_doer { String::new() } else { page };
    text.push_str(&sentence);
    text.push_str(&failed_before(skill, run, index));
    let skipped = skipped(skill, run, index);
    if !skipped.is_empty() {
        text.push_str(&format!(" Skipped: {}.", skipped.join("; ")));
    }
    text.push_str(&doer(phase, to_doer));
    text.push_str(&of_runs(run, phase));
    text.push_str(&output);
    // A page says itself what its subagent has to leave, and so does the prompt that is made of it.
    if phase.done_by.is_none() || (output.is_empty() && page.is_empty()) {
        text.push_str(&asked(skill, run, phase, &others));
    }
    let next = phase.next.first().and_then(|edge| skill.phases.get(edge.to));
    let approved = approved(run, phase.done_when.iter().chain(next.and_then(|next| next.requires.as_ref())));
    if !approved.is_empty() {
        text.push_str(&format!(" The user has approved {}.", approved.join(" and ")));
    }
    text.push_str(&to_skip(run, index));
    if let Some(next) = next.filter(|_| !to_doer && !run.has_more_waves()) {
        text.push_str(&format!(" Next phase: \"{}\"{}.", next.name, begun_by(phase)));
    }
    text.push_str(&page);
    text
}

/// The subagent that does the phase.
fn doer(phase: &Phase, to_doer: bool) -> String {
    match &phase.done_by {
        Some(kind) if to_doer => format!(" You are the subagent `{kind}` that does this phase."),
        Some(kind) => format!(" Now: start the subagent `{kind}`, which does this phase, and read what it leaves."),
        None => String::new(),
    }
}

/// What leads on from a phase that asks for nothing.
fn begun_by(phase: &Phase) -> &'static str {
    let asks = phase.done_when.is_some() || phase.run.is_some() || phase.done_by.is_some();
    if asks { "" } else { ", which its first call begins" }
}

/// Where the subagent that does the phase leaves its output.
fn output_of(skill: &Skill, phase: &Phase) -> String {
    let paths = skill.produced_in(phase).flat_map(|artifact| &artifact.paths).map(|path| format!("`{path}`"));
    let paths = phrase::listed(&paths.collect::<Vec<_>>());
    format!(
        " Leave your output in {paths}, in the form that your prompt names: phasegate checks it, and says what is wrong."
    )
}

/// The calls of a phase, those that it forbids, and what finishes it.
fn asked(skill: &Skill, run: &Run, phase: &Phase, others: &[Matcher]) -> String {
    let mut text = String::new();
    // Where the policy says what to do, its lists are told by the denials.
    let listed = skill.compat || phase.task.is_empty();
    if !others.is_empty() && listed {
        text.push_str(&format!(" Allowed: {}.", phrase::lines(others)));
    }
    // Where other runs judge, their lines are what counts; a call that is forbidden says so.
    let forbidden = run_status::forbidden(skill, phase);
    if !forbidden.is_empty() && listed && run.children != Children::Live {
        text.push_str(&format!(" Forbidden: {}.", phrase::lines(&forbidden)));
    }
    let gate = phase.run.is_some();
    if let Some(condition) = phase.done_when.as_ref().filter(|_| !gate || run.at_gate()) {
        let alone = if others.is_empty() && skill.unlisted_in(phase).1 != Unlisted::Allow {
            "Only this is allowed, and it"
        } else {
            "This"
        };
        let what = if gate { "passes the gate" } else { "finishes the phase" };
        text.push_str(&format!(" {alone} {what}: {}.", phrase::wanted(condition)));
    }
    text
}

/// What a phase is for: a sentence, or a text of several lines, which stands for itself at the end.
fn what_to_do(phase: &Phase, to_doer: bool) -> (String, String) {
    match phase.task.as_str() {
        "" => (String::new(), String::new()),
        page if page.contains('\n') => (String::new(), format!("{PAGE}{page}")),
        sentence => {
            // What others do, they are told.
            let by_others = phase.run.is_some() || (phase.done_by.is_some() && !to_doer);
            let head = if by_others { "What it is for" } else { "Now" };
            (format!(" {head}: {}.", sentence.trim_end_matches('.')), String::new())
        }
    }
}

/// Which phase of which skill a run is in.
fn place(skill: &Skill, run: &Run, parent: Option<&str>, index: usize) -> String {
    let (name, place, total) = (&run.phase, index.saturating_add(1), skill.phases.len());
    let mode = run.mode.word();
    let (of, began) = (part_of(run, parent), began(run));
    format!("phasegate: skill {}{of}{began}, phase \"{name}\" ({place} of {total}), mode {mode}.", skill.name)
}

/// That another session works on the runs of the phase.
fn held_elsewhere(session: &str) -> String {
    format!("Session `{session}` works on it: while that goes on, this session may only read.")
}

/// That the run came back from a phase that failed.
fn failed_before(skill: &Skill, run: &Run, here: usize) -> String {
    let from = skill.phase_index(&run.phase_before).and_then(|from| skill.phases.get(from));
    let edge = from.and_then(|from| from.back.iter().find(|edge| edge.to == here && edge.on_failure));
    let led = |one: &&FailedBack| one.from == run.phase_before && one.to == run.phase && one.visit == run.visit;
    let (Some(edge), Some(taken)) = (edge, run.failed_backs.iter().find(led)) else { return String::new() };
    let FailedBack { from, times, .. } = taken;
    format!(" Phase \"{from}\" failed, so this phase is done again ({times} of at most {}).", edge.limit)
}

/// What began the run, where nobody asked for it.
fn began(run: &Run) -> String {
    let line = run.began.as_ref().filter(|_| run.visits == 1);
    line.map(|line| format!(" began by itself (`{}`)", phrase::cut(line, MAX_BEGAN_CHARS))).unwrap_or_default()
}

/// The phases still to come that a person skipped.
fn to_skip(run: &Run, here: usize) -> String {
    let ahead = run.skipped.iter().filter(|one| one.ahead > Some(here));
    let ahead: Vec<String> = ahead.map(|one| format!("\"{}\"", one.phase)).collect();
    if ahead.is_empty() { String::new() } else { format!(" The user says to skip {}.", ahead.join(" and ")) }
}

/// The runs that a phase consists of.
fn of_runs(run: &Run, phase: &Phase) -> String {
    match (&run.plan, &phase.run) {
        (Some(progress), _) => format!(" {}", of_wave(run, progress)),
        (None, Some(runs)) => {
            let names: Vec<String> = runs.each.iter().map(|run| format!("`{}`", run.skill)).collect();
            let product = phase.done_when.as_ref().filter(|_| !phase.produces.is_empty());
            let product = product.map(|product| format!(", and for {}", phrase::wanted(product))).unwrap_or_default();
            format!(" The phase asks {}{product}.", phrase::of_runs(&names, runs.parallel))
        }
        (None, None) => String::new(),
    }
}

/// Which elements of its plan a run is about.
fn of_wave(run: &Run, progress: &PlanProgress) -> String {
    let wave =
        progress.wave_number().map(|number| format!("Wave {number}")).unwrap_or_else(|| String::from("The plan"));
    if run.at_gate() {
        return format!("{wave} has finished and waits at its gate.");
    }
    let left: Vec<&str> = progress.left().map(|element| element.id.as_str()).collect();
    format!("{wave} asks {}.", phrase::of_elements(&left, false))
}

/// What the run is a part of.
fn part_of(run: &Run, parent: Option<&str>) -> String {
    let named = run.branch.as_ref().map(|branch| branch.name.as_str()).filter(|name| !name.is_empty());
    let named = named.map(|name| format!(", branch \"{name}\"")).unwrap_or_default();
    parent.map(|parent| format!(" (part of {parent}{named})")).unwrap_or_default()
}

/// The phases that the last move passed over, each with why it may be.
fn skipped(skill: &Skill, run: &Run, here: usize) -> Vec<String> {
    let before = skill.phase_index(&run.phase_before).unwrap_or_default();
    let between = skill.phases.get(before.saturating_add(1)..here).unwrap_or_default();
    let passed = |phase: &&Phase| run.skipped.iter().any(|skipped| skipped.phase == phase.name);
    let by_person = |phase: &Phase| {
        let last = run.skipped.iter().rev().find(|skipped| skipped.phase == phase.name);
        last.is_some_and(|skipped| skipped.by == By::Human)
    };
    let why = |phase: &Phase| match &phase.optional {
        _ if by_person(phase) => format!("\"{}\", as the user said", phase.name),
        Optional::When(_) if !phase.skip_text.is_empty() => format!("\"{}\" ({})", phase.name, phase.skip_text),
        Optional::When(condition) => format!("\"{}\", as {}", phase.name, phrase::reason(condition)),
        Optional::No | Optional::Never | Optional::Yes => format!("\"{}\"", phase.name),
    };
    between.iter().filter(passed).map(why).collect()
}

/// What a person approved of what conditions ask for, as it was then.
fn approved<'c>(run: &Run, conditions: impl Iterator<Item = &'c Condition>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for condition in conditions {
        condition.each_gate(&mut |gate| {
            let given = run.approvals.iter().any(|approval| approval.gate == *gate);
            let name = format!("`{}`", gate.name);
            if given && !names.contains(&name) {
                names.push(name);
            }
        });
    }
    names
}
