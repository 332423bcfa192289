//! One event: observe, judge, move.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::answers::decision::Decision;
use crate::answers::denial::{Denial, DenialKind};
use crate::answers::directive;
use crate::answers::early_gate;
use crate::answers::misplaced_files;
use crate::answers::obligation;
use crate::answers::plan_notice;
use crate::answers::rendering;
use crate::answers::repeated_denials;
use crate::calls::cause::By;
use crate::calls::reported_numbers;
use crate::commands::approving;
use crate::commands::control::{self, Answer, Invoked, Typed};
use crate::commands::managing;
use crate::commands::pending_content;
use crate::decide::judge::Caller;
use crate::events::agent_message;
use crate::events::call;
use crate::events::event::{Event, EventKind};
use crate::events::observe;
use crate::evidence::content::Content;
use crate::evidence::eval::World;
use crate::evidence::fact::{FactKey, Facts};
use crate::evidence::phase_conditions::each_unchanged;
use crate::gates::protection;
use crate::gates::question;
use crate::policy::input::Instance;
use crate::policy::{Mode, Policy};
use crate::prelude::*;
use crate::rules::earlier_calls;
use crate::rules::own_action;
use crate::runs::children;
use crate::runs::finish::{self, Ends, Stopped};
use crate::runs::import::{self, Imported};
use crate::runs::inheritance;
use crate::runs::settle::settle;
use crate::runs::standing_runs;
use crate::runs::start;
use crate::state::change::Change;
use crate::state::draft::{Draft, Parts};
use crate::state::pins::MANAGE;
use crate::state::{Obligation, Run, State, Status};

/// What one event led to.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct Outcome {
    /// The answer; `None` for events that ask for none.
    pub decision: Option<Decision>,
    /// What changed, in order: [`State::apply`] of all changes gives the state after the event.
    pub changes: Vec<Change>,
    /// What the host must be told, given again until it was taken up.
    pub obligations: Vec<Obligation>,
    /// The answer of a control command.
    pub result: Option<Value>,
    /// Facts that must be gathered before this outcome counts: call `step` again with them.
    pub needs: Vec<FactKey>,
    /// Skills with values that must be made before this outcome counts: add them to the earlier skills of the policy, and
    /// call `step` again.
    pub instances: Vec<Instance>,
    /// The live runs after the event; `None` where no run ever began.
    pub runs: Option<Vec<Arc<Run>>>,
}

/// Where a live run stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPosition {
    /// The id of the run.
    pub run: String,
    /// The name of its skill.
    pub skill: String,
    /// The name of its phase.
    pub phase: String,
    /// What its violations lead to.
    pub mode: Mode,
}

impl From<&Run> for RunPosition {
    fn from(run: &Run) -> Self {
        Self { run: run.id.clone(), skill: run.skill.clone(), phase: run.phase.clone(), mode: run.mode }
    }
}

impl Outcome {
    /// Where the live runs stand after the event; `None` where no run ever began.
    pub fn positions(&self) -> Option<Vec<RunPosition>> {
        self.runs.as_ref().map(|runs| runs.iter().map(|run| RunPosition::from(&**run)).collect())
    }

    /// Applies all changes to the state before the event, which makes it the state after.
    pub fn apply_to(&self, state: &mut State) {
        self.changes.iter().for_each(|change| state.apply(change));
    }

    /// The state after the event, from the state before it.
    pub fn state_after(&self, before: &State) -> State {
        let mut state = before.clone();
        self.apply_to(&mut state);
        state
    }
}

/// Decides one event. Total and pure: the same arguments give the same answer, on every platform.
///
/// If [`Outcome::needs`] is not empty, the rest does not count: gather those facts and call again with all of them.
/// A fact that cannot be gathered is given as unknown; at most as many calls are needed as the skill has phases.
pub fn step(policy: &Policy, state: &State, event: &Event, facts: &Facts) -> Outcome {
    let mut world = World::new(facts);
    let mut draft = Draft::new(state);

    let kept = keeps_subagent(&mut world, policy, &mut draft, event);
    if kept.is_none() {
        reported_numbers::count(policy, &mut draft, event);
        observe::observe(&mut draft, event);
        children::bind(policy, &mut draft, event);
    }
    world.see_open(draft.state(), event.time);
    obligation::taken_up(&mut draft, event);
    agent_message::heard(&mut world, policy, &mut draft, event);
    let before = draft.changes().len();
    settle(&mut world, policy, &mut draft);
    standing_runs::uphold(&mut world, policy, &mut draft, event);
    start::by_event(&mut world, policy, &mut draft, event);
    begin_visits(&mut world, policy, state, &mut draft, event);
    let Answered { decision, result } = kept.unwrap_or_else(|| answer(&mut world, policy, &mut draft, event));
    // Where all stood still, and nothing happened since that moves a run, all stands still.
    if draft.changes().iter().skip(before).any(Change::may_settle) {
        settle(&mut world, policy, &mut draft);
    }
    question::drop_stale(&mut draft);
    begin_visits(&mut world, policy, state, &mut draft, event);
    directive::remind(policy, &mut draft, event, decision.as_ref());
    obligation::derive(&mut world, policy, &mut draft, event);
    misplaced_files::tell(&world, policy, &mut draft, event, decision.as_ref());
    early_gate::tell(policy, &mut draft, event, decision.as_ref());
    plan_notice::tell(&mut world, policy, state, &mut draft, event);
    obligation::give(&mut draft, event, decision.as_ref());
    earlier_calls::ended(policy, state, &mut draft, event);
    reported_numbers::count_asked(policy, state, &mut draft, event);

    let Parts { state, changes } = draft.into_parts();
    let ((needs, instances), runs) = (world.into_wanted(), live(&state));
    let obligations = obligation::of_subagent(policy, &state, event).unwrap_or(state.session.obligations);
    Outcome { decision, changes, obligations, result, needs, instances, runs }
}

/// The answer to the end of a subagent that has to go on; to the guard it has not ended.
fn keeps_subagent(world: &mut World<'_>, policy: &Policy, draft: &mut Draft, event: &Event) -> Option<Answered> {
    let EventKind::SubagentStop { id, kind, can_hold: true, .. } = &event.kind else { return None };
    settle(world, policy, draft);
    let denial = finish::subagent(world, policy, draft, Caller { agent: Some(id), kind })?;
    Some(Answered { decision: Some(denial.decision()), result: None })
}

/// What an event is answered by itself.
#[derive(Default)]
struct Answered {
    decision: Option<Decision>,
    result: Option<Value>,
}

fn answer(world: &mut World<'_>, policy: &Policy, draft: &mut Draft, event: &Event) -> Answered {
    match &event.kind {
        EventKind::ToolCall { .. } => {
            return Answered { decision: Some(call::decide(world, policy, draft, event)), result: None };
        }
        EventKind::ConfigChanged { path, unguarded, at_once } => {
            let denial = protection::settings_changed(policy, draft.state(), path, unguarded.as_deref(), *at_once);
            return Answered { decision: denial.map(Denial::decision), result: None };
        }
        // A context that begins, or begins anew, does not hold where the runs stand.
        EventKind::SessionStart { .. } => {
            let live: Vec<String> = draft.state().live_runs().map(|run| run.id.clone()).collect();
            live.iter().for_each(|run| draft.announce(run));
        }
        EventKind::SessionEnd {} => finish::left(world, policy, draft),
        EventKind::Join { runs, .. } => inheritance::join(draft, runs),
        EventKind::Stop { can_hold, interactive } if event.subagent().is_none() => {
            approving::show(world, policy, draft);
            let ends = Ends { event, can_hold: *can_hold, interactive: *interactive };
            return of_stop(finish::stop(world, policy, draft, ends), *can_hold);
        }
        EventKind::Prompt { text, interactive } => {
            if event.subagent().is_none() {
                finish::prompted(draft);
                repeated_denials::prompted(draft);
            }
            let typed = *interactive == Some(true) && event.subagent().is_none();
            let typed = Typed { prompt: text, typed, at: event.time };
            let command = control::slash_command(world, policy, draft, typed).map(of_command);
            // A command is the person's word about what was shown.
            if command.is_none() && event.subagent().is_none() {
                pending_content::prompted(draft);
            }
            return command.unwrap_or_default();
        }
        EventKind::Skill { name, args, by } => {
            let invocation = Invoked { name, args: args.as_ref(), by: *by };
            // What an agent's own call lacks, the answer to that call has said.
            if let (Err(refused), By::Human | By::Platform) = (control::invoked(world, policy, draft, &invocation), by)
            {
                return not_begun(policy, name, refused);
            }
        }
        EventKind::State { format, value } => {
            let imported = Imported { format, value, path: None, mode: None };
            return of_command(import::import(policy, draft, imported));
        }
        EventKind::Command { by, name, args } => {
            let refused = || own_action::of_command(world, policy, draft.state(), event);
            if let Some(refused) = (*by == By::Agent).then(refused).flatten() {
                return of_command(Err(refused));
            }
            let given = control::Command { by: *by, name, args, at: event.time, subagent: event.subagent().is_some() };
            let carry_out = if name == MANAGE { managing::manage } else { control::command };
            return of_command(carry_out(world, policy, draft, &given));
        }
        _ => {}
    }
    Answered::default()
}

/// The answer to an invocation that begins no run: in warn mode a text, else a decision.
fn not_begun(policy: &Policy, name: &str, refused: DenialKind) -> Answered {
    if policy.invoked(name).and_then(|skill| skill.mode) == Some(Mode::Block) {
        return of_command(Err(refused));
    }
    let decision = refused.refusal();
    let text = format!("phasegate: {}. {}", decision.reason, decision.recovery);
    Answered { decision: None, result: Some(json!({"text": text})) }
}

/// The answer to a command; a decision where it was refused.
fn of_command(answer: Answer) -> Answered {
    match answer {
        Ok(result) => Answered { decision: None, result: Some(result) },
        Err(refused) => Answered { result: Some(refused.result()), decision: Some(refused.refusal()) },
    }
}

/// The answer to the end of a turn: a decision where it is held, a text for the person where it ends too early. A
/// platform on which nothing can be held gets none: what it would do with a text is not known.
fn of_stop(stopped: Stopped, can_hold: bool) -> Answered {
    match stopped {
        Stopped::Held(denial) => Answered { decision: Some(denial.decision()), result: None },
        Stopped::Unfinished(missing) if can_hold => told(missing, "is not finished"),
        Stopped::Waits(missing) if can_hold => told(missing, "waits for you"),
        Stopped::Unfinished(_) | Stopped::Waits(_) | Stopped::Passes => Answered::default(),
    }
}

/// What the person reads of skills at the end of a turn.
fn told(missing: Vec<Denial>, how: &str) -> Answered {
    let told = missing.into_iter().map(|denial| {
        if let DenialKind::Stopped(why) = &denial.kind {
            return format!("phasegate: {}. You {}", rendering::why_stopped(why), rendering::ways_on(why));
        }
        let decision = denial.decision();
        let recovery = decision.recovery;
        match decision.skill {
            Some(skill) => format!("phasegate: skill \"{skill}\" {how}. {recovery}"),
            None => format!("phasegate: {}. {recovery}", decision.reason),
        }
    });
    let text = told.collect::<Vec<_>>().join("\n");
    Answered { decision: None, result: Some(json!({"text": text})) }
}

/// Keeps what there is at the beginning of a visit, where a condition asks whether it changed since. `before`: the state
/// before the event.
fn begin_visits(world: &mut World<'_>, policy: &Policy, before: &State, draft: &mut Draft, event: &Event) {
    if !draft.changes().iter().any(Change::moves_a_run) {
        return;
    }
    let mut began = Vec::new();
    for run in draft.state().live_runs() {
        let Some(skill) = policy.skill_version(&run.skill, &run.version) else { continue };
        let phase = skill.phase_index(&run.phase).unwrap_or_default();
        let mut as_of = BTreeMap::new();
        // A run that begins by a change begins with what was there before, and nothing is equal to that any more.
        let is_new = !event.changed.is_empty() && before.run(&run.id).is_none();
        let by_change = |content: &Content| {
            is_new && content.files().iter().any(|files| event.changed.iter().any(|path| files.fits(path)))
        };
        each_unchanged(skill, phase, &mut |test| {
            if run.evidence.iter().any(|one| one.atom == test.atom && one.visit == run.visit) {
                return;
            }
            let then = if by_change(&test.content) { Value::from("changed") } else { world.now(&test.content) };
            as_of.insert(test.atom, then);
        });
        let entered = skill.phases.get(phase).into_iter().flat_map(|phase| skill.produced_in(phase));
        for content in entered.map(|artifact| &artifact.content) {
            let Some(atom) = content.since else { continue };
            if !run.evidence.iter().any(|one| one.atom == atom && one.visit == run.visit) {
                as_of.insert(atom, world.now(content));
            }
        }
        if !as_of.is_empty() {
            began.push(Change::VisitBegan { run: run.id.clone(), phase, as_of });
        }
    }
    began.into_iter().for_each(|change| draft.change(change));
}

/// The live runs, those of the project first; `None` where no run ever began.
fn live(state: &State) -> Option<Vec<Arc<Run>>> {
    let (shared, own) = (state.project.runs.shared(), state.session.runs.shared());
    let live = shared.iter().chain(own).filter(|run| run.status == Status::Active);
    (!shared.is_empty() || !own.is_empty()).then(|| live.cloned().collect())
}
