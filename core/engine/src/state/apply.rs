//! Applying changes to a state: the only way a state changes.

mod runs;

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use serde_json::Value;

use self::runs::{change_run, ended, has_part, keep};
use crate::calls::cause::{By, SessionSource};
use crate::calls::outcome::CallOutcome;
use crate::evidence::proof::{Proved, VisitIs};
use crate::policy::Scope;
use crate::policy::plan::PlanProgress;
use crate::policy::steps::StepState;
use crate::prelude::*;
use crate::shell::safety::SAFETY_OBLIGATION;
use crate::state::change::Change;
use crate::state::elements;
use crate::state::pins::Pin;
use crate::state::tallies;
use crate::state::unfinished_calls::{self, Question, Yes};
use crate::state::{
    AgentInfo, Children, Evidence, FailedBack, HISTORY, Held, KEPT, OBJECTS, Obligation, ObligationKind, OpenCall,
    OwnFile, Project, Provisional, Run, Runs, SaidDone, Session, Skipped, State, Uncounted,
};

impl State {
    /// Applies one change. Total: a change of an unknown run or call changes nothing.
    pub fn apply(&mut self, change: &Change) {
        self.project.apply(change);
        self.session.apply(change);
    }
}

impl Project {
    /// Makes a change as far as it concerns the project's half. Total, as [`State::apply`].
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::SkillInForce { skill, mode, scope: Scope::Project, inputs } => {
                self.in_force.insert(skill.clone(), *mode);
                self.in_force_inputs.insert(skill.clone(), inputs.clone());
                self.in_force_inputs.retain(|_, values| !values.is_empty());
            }
            Change::SkillNotInForce { skill, scope: Scope::Project } => {
                self.in_force.remove(skill);
                self.in_force_inputs.remove(skill);
            }
            Change::Approved { name, by } => drop(self.approvals.insert(name.clone(), *by)),
            Change::ToolsSeen { server, tools } => {
                let pins = Arc::make_mut(&mut self.servers).entry(server.clone()).or_default();
                for tool in tools {
                    let pin = Pin { sha256: tool.sha256.clone(), changed: tool.changed.clone() };
                    pins.insert(tool.name.clone(), pin);
                }
            }
            Change::ToolAccepted { server, tool } => self.accept_tool(server, tool),
            Change::OwnFilesWritten { call, paths } => self.own_files_written(call, paths),
            Change::SafetyRegistered { scope: Scope::Project, entry } => {
                Arc::make_mut(&mut self.safety).register(entry)
            }
            Change::SafetyApproved { program, approved } => Arc::make_mut(&mut self.safety).approve(program, *approved),
            Change::AccessSet { granted } => self.access = *granted,
            Change::BudgetSpent { scope: Scope::Project, tally } => tallies::keep(&mut self.tallies, &self.runs, tally),
            Change::CallsCounted { scope: Scope::Project, seen, changes, left, known } => {
                self.facts.take_in(seen, *changes, *left, known.as_deref());
            }
            _ => apply_to_runs(&mut self.runs, &mut self.runs_begun, Scope::Project, change),
        }
    }

    fn own_files_written(&mut self, call: &str, paths: &[String]) {
        self.own_files.retain(|known| !paths.contains(&known.path));
        let new = paths.iter().map(|path| OwnFile { path: path.clone(), call: call.into() });
        self.own_files.extend(new);
        let surplus = self.own_files.len().saturating_sub(OBJECTS);
        self.own_files.drain(..surplus);
    }

    fn accept_tool(&mut self, server: &str, tool: &str) {
        let pins = Arc::make_mut(&mut self.servers).get_mut(server);
        let Some(pin) = pins.and_then(|pins| pins.get_mut(tool)) else { return };
        if let Some(changed) = pin.changed.take() {
            pin.sha256 = changed;
        }
    }
}

/// Makes a change as far as it concerns the runs of one half of the state. `begun` is how many have begun in it.
fn apply_to_runs(runs: &mut Runs, begun: &mut u64, scope: Scope, change: &Change) {
    match change {
        Change::Proved(proved) => change_run(runs, &proved.run, |run| run.prove(proved)),
        Change::VisitBegan { run, phase, as_of } => change_run(runs, run, |run| run.keep(*phase, as_of)),
        Change::Judged { run, tool, shown_stays, .. } => {
            change_run(runs, run, |run| run.remember(tool, *shown_stays));
        }
        Change::RunBegun(run) => {
            has_part(runs, run);
            if run.scope == scope {
                *begun = begun.saturating_add(1);
                keep(runs, run);
            }
        }
        Change::RunEnded { run, status, .. } => ended(runs, run, *status),
        Change::PlanRead { run, plan } => {
            change_run(runs, run, |run| run.plan = Some(PlanProgress::new(plan.clone())));
        }
        Change::StepsRead { run, steps } => change_run(runs, run, |run| run.steps = Some(steps.clone())),
        Change::StepIs { run, step, state } => change_run(runs, run, |run| run.set_step(*step, *state)),
        Change::GateReached { run } => change_run(runs, run, |run| {
            run.begin_wave_visit();
            run.children = Children::Gate;
        }),
        Change::WaveBegan { run, wave } => change_run(runs, run, |run| {
            run.begin_wave_visit();
            if let Some(progress) = &mut run.plan {
                progress.wave = *wave;
            }
        }),
        Change::DeprecatedUsed { run, file } => change_run(runs, run, |run| run.deprecated.push(file.clone())),
        Change::RunUnfinished { run } => change_run(runs, run, |run| run.unfinished = true),
        Change::BranchBound { run, agent, session } => change_run(runs, run, |run| {
            if let Some(branch) = &mut run.branch {
                (branch.agent, branch.session) = (agent.clone(), session.clone());
            }
        }),
        Change::AgentTied { run, agent } => change_run(runs, run, |run| run.tie(agent)),
        Change::RunsHeld { run, session } => change_run(runs, run, |run| run.held_by.clone_from(session)),
        Change::RunTaken { run } => change_run(runs, run, |run| run.tentative = false),
        Change::ChildrenEnded { run, children } => change_run(runs, run, |run| run.children_ended(*children)),
        Change::RunMode { run, mode } => change_run(runs, run, |run| run.mode = *mode),
        Change::PhaseEntered { run, .. } => change_run(runs, run, |run| run.entered(change)),
        Change::PhaseSkipped { run, .. } => change_run(runs, run, |run| run.skip_ahead(change)),
        Change::ElementRetried { run, element } => elements::again(runs, run, *element),
        Change::ElementSkipped { run, element } => elements::skip(runs, run, *element),
        Change::PhaseBack { run, .. } => change_run(runs, run, |run| run.go_back(change)),
        Change::RunHalted { run, why, by_agent } => change_run(runs, run, |run| run.halt(why.as_ref(), *by_agent)),
        Change::LimitSpent { run, edge } => change_run(runs, run, |run| run.spent = Some(edge.clone())),
        Change::PhaseReturned { run } => change_run(runs, run, Run::return_to_phase_before),
        Change::Rejected { run, no } => change_run(runs, run, |run| run.rejected.push(no.clone())),
        Change::Shown { run, shown } => change_run(runs, run, |run| run.shown.clone_from(shown)),
        Change::ApprovalGiven { run, approval } => change_run(runs, run, |run| {
            run.approvals.retain(|known| known.gate != approval.gate);
            run.approvals.push(approval.clone());
        }),
        Change::ApprovalRevoked { run, name } => {
            change_run(runs, run, |run| run.approvals.retain(|known| known.gate.name != *name));
        }
        _ => {}
    }
}

impl Session {
    /// An agent was kept from ending: a subagent, or the main agent.
    fn hold(&mut self, held: Option<Held>, agent: Option<&str>) {
        match agent {
            None => self.held = held,
            Some(id) => self.agents.iter_mut().filter(|known| known.id == id).for_each(|known| known.held = held),
        }
    }

    /// Makes a change as far as it concerns the session's half. Total, as [`State::apply`].
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Seen { session, permission_mode } => {
                self.events = self.events.saturating_add(1);
                if let Some(id) = session {
                    self.id.clone_from(id);
                }
                if permission_mode.is_some() {
                    self.permission_mode.clone_from(permission_mode);
                }
            }
            Change::SessionStarted { source, parent } => self.start(*source, parent.as_ref()),
            Change::SessionJoined { from } => self.parent = Some(from.clone()),
            Change::SessionEnded {} => self.ended = true,
            Change::SkillInForce { skill, mode, scope: Scope::Session, .. } => {
                self.in_force.insert(skill.clone(), Some(*mode));
            }
            Change::SkillNotInForce { skill, scope: Scope::Session } => {
                self.in_force.insert(skill.clone(), None);
            }
            Change::AgentStarted { id, kind, call } => self.begin_agent(id, kind, *call),
            Change::AgentEnded { id } => self.agents.retain(|known| known.id != *id),
            Change::AgentsCleared {} => self.agents.clear(),
            Change::CallOpened(call) => {
                self.calls.push(Arc::new(OpenCall { number: self.events, ..call.as_ref().clone() }));
                let surplus = self.calls.len().saturating_sub(KEPT);
                self.calls.drain(..surplus);
            }
            Change::CallAsked { call } => self.change_call(*call, |call| call.asked = true),
            Change::CallAgentEnded { call } => self.change_call(*call, |call| call.ended = true),
            Change::CallOutcome { call, outcome: CallOutcome::Launched } => {
                self.change_call(*call, |call| call.launched = true);
            }
            Change::CallOutcome { call, .. } => self.calls.retain(|open| open.number != *call),
            Change::StopHeld { held, agent } => self.hold(*held, agent.as_deref()),
            Change::QuestionAsked(question) => self.ask(question),
            Change::QuestionAnswered { name, yes } => self.answer(name, yes),
            Change::QuestionClosed { name } => self.questions.retain(|question| question.name != *name),
            Change::CallDenied(denied) => unfinished_calls::keep_denied(&mut self.denied, denied),
            Change::DenialsForgotten {} => unfinished_calls::forget_denied(&mut self.denied),
            Change::MessageHeard { digest } => self.said = Some(digest.clone()),
            Change::ObligationDue { run, visit, text } => self.owe(run, *visit, text),
            Change::NoticeDue { run, about, text } => self.notice(run, about, text),
            Change::SafetyRegistered { scope: Scope::Session, entry } => {
                Arc::make_mut(&mut self.safety).register(entry)
            }
            Change::SafetyTold { programs, text } => self.tell_of_safety(programs, text),
            Change::ObligationsDropped { ids } => self.obligations.retain(|owed| !ids.contains(&owed.id)),
            Change::ObligationsGiven { ids, call } => {
                let given = |owed: &&mut Obligation| ids.is_empty() || ids.contains(&owed.id);
                for obligation in self.obligations.iter_mut().filter(given) {
                    obligation.given = self.events;
                    obligation.call.clone_from(call);
                }
            }
            Change::BudgetSpent { scope: Scope::Session, tally } => tallies::keep(&mut self.tallies, &self.runs, tally),
            Change::CallsCounted { scope: Scope::Session, seen, changes, left, known } => {
                self.facts.take_in(seen, *changes, *left, known.as_deref());
            }
            _ => apply_to_runs(&mut self.runs, &mut self.runs_begun, Scope::Session, change),
        }
    }

    fn ask(&mut self, question: &Question) {
        self.questions_asked += u64::from(unfinished_calls::keep(&mut self.questions, question));
    }

    fn answer(&mut self, name: &str, yes: &Yes) {
        let asked = self.questions.iter_mut().filter(|question| question.name == name);
        asked.for_each(|question| question.yes = Some(yes.clone()));
    }

    fn begin_agent(&mut self, id: &str, kind: &str, call: Option<u64>) {
        let call = call.and_then(|number| self.call_mut(number));
        let starter = call.and_then(|call| {
            call.started = Some(id.to_owned());
            call.agent.clone().filter(|starter| starter != id)
        });
        self.agents.retain(|known| known.id != id);
        self.agents.push(AgentInfo { id: id.to_owned(), kind: kind.to_owned(), starter, held: None });
        let surplus = self.agents.len().saturating_sub(KEPT);
        self.agents.drain(..surplus);
    }

    fn start(&mut self, source: SessionSource, parent: Option<&String>) {
        self.source = Some(source);
        self.ended = false;
        if source != SessionSource::Compact {
            self.in_force.retain(|_, mode| mode.is_some());
        }
        if let Some(parent) = parent {
            self.parent = Some(parent.clone());
        }
    }

    fn change_call(&mut self, number: u64, change: impl FnOnce(&mut OpenCall)) {
        if let Some(call) = self.call_mut(number) {
            change(call);
        }
    }

    fn call_mut(&mut self, number: u64) -> Option<&mut OpenCall> {
        let call = self.calls.iter_mut().find(|call| call.number == number);
        call.map(Arc::make_mut)
    }

    fn notice(&mut self, run: &str, about: &str, text: &str) {
        let id = format!("{}about {about}", obligation_prefix(run));
        self.obligations.retain(|owed| owed.id != id);
        self.obligations.push(Obligation { id, kind: ObligationKind::Context(text.to_owned()), given: 0, call: None });
    }

    fn tell_of_safety(&mut self, programs: &str, text: &str) {
        Arc::make_mut(&mut self.safety).told = programs.to_owned();
        self.obligations.retain(|owed| owed.id != SAFETY_OBLIGATION);
        let (id, kind) = (SAFETY_OBLIGATION.to_owned(), ObligationKind::Context(text.to_owned()));
        self.obligations.push(Obligation { id, kind, given: 0, call: None });
    }

    fn owe(&mut self, run: &str, visit: u32, text: &str) {
        let prefix = obligation_prefix(run);
        self.obligations.retain(|owed| !owed.id.starts_with(&prefix));
        let id = format!("{prefix}{visit}");
        self.obligations.push(Obligation { id, kind: ObligationKind::Context(text.to_owned()), given: 0, call: None });
    }
}

/// What the ids of all obligations about a run begin with.
pub(crate) fn obligation_prefix(run: &str) -> String {
    format!("phase:{run}:")
}

/// The run that an obligation is about.
pub(crate) fn obligation_run(obligation: &str) -> Option<&str> {
    obligation.strip_prefix("phase:")?.split_once(':').map(|(run, _)| run)
}

impl Run {
    fn set_step(&mut self, place: usize, state: StepState) {
        let step = self.steps.as_mut().and_then(|steps| steps.each.get_mut(place));
        step.into_iter().for_each(|step| step.state = state);
    }

    fn children_ended(&mut self, children: Children) {
        self.children = children;
        self.failed |= children == Children::Failed;
    }

    /// A call was judged: the run goes on.
    fn remember(&mut self, tool: &str, shown_stays: bool) {
        if !shown_stays {
            self.shown.clear();
        }
        let history = Arc::make_mut(&mut self.history);
        history.push_back(tool.into());
        if history.len() > HISTORY {
            history.pop_front();
        }
    }

    /// Keeps what there is at the beginning of the present visit.
    fn keep(&mut self, phase: usize, as_of: &BTreeMap<u32, Value>) {
        let visit = self.visit;
        let evidence = |(atom, value): (&u32, &Value)| Evidence {
            phase,
            visit,
            atom: *atom,
            as_of: Some(value.clone()),
            about: Vec::new(),
        };
        self.evidence.extend(as_of.iter().map(evidence));
    }

    /// Drops the oldest evidence of a condition that compares objects, where there is more than is kept.
    fn forget_oldest(&mut self, atom: u32) {
        let mut places = (0..).zip(&self.evidence).filter(|(_, one)| one.atom == atom && !one.about.is_empty());
        let oldest = places.next().map(|(place, _)| place);
        if let Some(oldest) = oldest.filter(|_| places.count() >= OBJECTS) {
            self.evidence.remove(oldest);
        }
    }

    fn prove(&mut self, proved: &Proved) {
        if proved.visit == self.visit {
            let known = |one: &Uncounted| proved.uncounted.iter().any(|new| new.atom == one.atom);
            self.uncounted.retain(|one| !known(one) && !proved.atoms.contains(&one.atom));
            self.uncounted.extend(&proved.uncounted);
        }
        let undone = |one: &Evidence| {
            let about = proved.about.get(&one.atom);
            proved.undone.contains(&one.atom) && about.is_none_or(|about| one.shares(about))
        };
        self.evidence.retain(|one| one.visit > proved.visit || !undone(one));
        self.unfinished &= proved.atoms.is_empty();
        for atom in &proved.atoms {
            let as_of = proved.as_of.get(atom).cloned();
            let about = proved.about.get(atom).cloned().unwrap_or_default();
            let evidence = Evidence { phase: proved.phase, visit: proved.visit, atom: *atom, as_of, about };
            let same = |one: &&mut Evidence| one.is_of_the_same(&evidence);
            match self.evidence.iter_mut().find(same) {
                Some(known) => *known = evidence,
                None => self.evidence.push(evidence),
            }
            self.forget_oldest(*atom);
        }
        match proved.visit_is {
            None => {}
            Some(VisitIs::Settled) => self.provisional = None,
            Some(VisitIs::Failed) => self.failed = true,
            Some(VisitIs::Recovered) => (self.failed, self.provisional) = (false, None),
            Some(VisitIs::EarlierFailed) => {
                if let Some(before) = &mut self.provisional {
                    before.failed = true;
                }
            }
        }
    }

    /// Notes a skipped phase that is still to come. A return takes it back as little as anything else that a person said.
    fn skip_ahead(&mut self, change: &Change) {
        let Change::PhaseSkipped { phase, index, who, .. } = change else { return };
        let skipped = Skipped { phase: phase.clone(), by: By::Human, who: who.clone(), ahead: Some(*index) };
        match &mut self.provisional {
            Some(before) => {
                self.skipped.insert(before.skipped.min(self.skipped.len()), skipped);
                before.skipped = before.skipped.saturating_add(1);
            }
            None => self.skipped.push(skipped),
        }
    }

    fn entered(&mut self, change: &Change) {
        let Change::PhaseEntered { phase, index, by, skipped, provisional, said_done, who, .. } = change else {
            return;
        };
        if *said_done {
            self.said_done.push(SaidDone { phase: self.phase.clone(), who: who.clone() });
        }
        let new = skipped.iter().filter(|phase| !self.is_to_skip(phase));
        let one = |phase: &String| Skipped { phase: phase.clone(), by: *by, who: who.clone(), ahead: None };
        let skipped = new.map(one).collect();
        self.enter(phase, *index, skipped, *provisional);
    }

    fn enter(&mut self, phase: &str, index: usize, skipped: Vec<Skipped>, provisional: bool) {
        let before = Provisional {
            phase: self.phase.clone(),
            visit: self.visit,
            skipped: self.skipped.len(),
            failed: self.failed,
        };
        self.skipped.extend(skipped);
        self.evidence.retain(|evidence| evidence.phase != index);
        self.approvals.retain(|approval| approval.phase != index);
        self.kept.retain(|(phase, _)| *phase != index);
        self.begin_visit(phase, index);
        self.provisional = provisional.then_some(before);
    }

    fn go_back(&mut self, change: &Change) {
        let Change::PhaseBack { phase, index, failed, .. } = change else { return };
        let (phase, index) = (phase.as_str(), *index);
        if *failed {
            let is_it = |one: &FailedBack| one.from == self.phase && one.to == phase;
            let times = self.failed_backs.iter().find(|one| is_it(one)).map_or(0, |one| one.times);
            self.failed_backs.retain(|one| !is_it(one));
            let (from, to, visit) = (self.phase.clone(), phase.to_owned(), self.visits.saturating_add(1));
            self.failed_backs.push(FailedBack { from, to, times: times.saturating_add(1), visit });
        }
        match self.backs.iter_mut().find(|(from, to, _)| *from == self.phase && to == phase) {
            Some((_, _, times)) => *times = times.saturating_add(1),
            None => self.backs.push((self.phase.clone(), phase.to_owned(), 1)),
        }
        self.evidence.retain(|evidence| evidence.phase < index);
        self.approvals.retain(|approval| approval.phase < index);
        self.kept.retain(|(phase, _)| *phase < index);
        // What a person skipped is skipped once.
        self.skipped.iter_mut().filter(|one| one.ahead.is_some_and(|at| at > index)).for_each(|one| one.ahead = None);
        self.begin_visit(phase, index);
    }

    fn return_to_phase_before(&mut self) {
        let Some(before) = self.provisional.take() else { return };
        let left = self.visit;
        self.evidence.retain(|evidence| evidence.visit != left);
        self.approvals.retain(|approval| approval.visit != left);
        self.kept.retain(|(_, visit)| *visit != left);
        self.skipped.truncate(before.skipped);
        self.phase_before = core::mem::replace(&mut self.phase, before.phase);
        self.visit = before.visit;
        self.failed = before.failed;
        self.uncounted.clear();
        self.children = Children::None;
        self.plan = None;
        self.steps = None;
        self.spent = None;
        self.held_by = None;
    }

    /// A visit of the same phase: what was proven before does not count for its gate.
    fn begin_wave_visit(&mut self) {
        self.visits = self.visits.saturating_add(1);
        let index = self.kept.iter().find(|(_, visit)| *visit == self.visit).map(|(index, _)| *index);
        self.kept.retain(|(_, visit)| *visit != self.visit);
        self.visit = self.visits;
        self.kept.extend(index.map(|index| (index, self.visit)));
        self.failed = false;
        self.unfinished = false;
        self.uncounted.clear();
        self.children = Children::None;
    }

    fn begin_visit(&mut self, phase: &str, index: usize) {
        self.plan = None;
        self.steps = None;
        self.phase_before = core::mem::replace(&mut self.phase, phase.to_owned());
        self.visits = self.visits.saturating_add(1);
        self.visit = self.visits;
        self.kept.push((index, self.visit));
        self.provisional = None;
        self.spent = None;
        self.held_by = None;
        self.failed = false;
        self.unfinished = false;
        self.uncounted.clear();
        self.children = Children::None;
    }
}
