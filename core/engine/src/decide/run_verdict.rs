//! Run verdicts: what each live run says to a call, and what it does when the call is let through.

use crate::answers::code::Code;
use crate::answers::decision::Effect;
use crate::calls::cause::By;
use crate::calls::tool::{Call, only_reads};
use crate::decide::branch_start::BranchStart;
use crate::decide::graph::{Here, can_finish};
use crate::decide::judge::{Caller, OfOthers, Ruling, SkillCall};
use crate::decide::{Done, Line};
use crate::evidence::artifact::Artifact;
use crate::evidence::condition::{CallTest, Wanted};
use crate::evidence::eval::World;
use crate::evidence::eval::written::wrote;
use crate::evidence::phase_conditions::{each_call, own_conditions};
use crate::policy::matcher::Use;
use crate::policy::{LeaveSkill, Mode, Phase, Policy, Skill};
use crate::prelude::*;
use crate::runs::holding;
use crate::runs::moves;
use crate::runs::tree;
use crate::state::change::Change;
use crate::state::{CallVisit, Proof, Run, State, Status};

/// What one live run says to a call.
pub(crate) struct RunVerdict<'a> {
    /// The id of the run.
    pub(crate) run: String,
    /// What its violations lead to.
    pub(crate) mode: Mode,
    pub(crate) skill: &'a Skill,
    /// The call as the skill sees it.
    pub(crate) call: SkillCall<'a>,
    /// What the decision table says.
    pub(crate) ruling: Ruling,
    /// The rule that the call broke.
    pub(crate) broke: Option<Code>,
    /// Whether the run ends: the call would break its rules, but its last phase is done and the agent may leave it.
    pub(crate) over: bool,
    /// Whether the run is the leaf of its tree, which gains the evidence of the call; else it only forbids.
    pub(crate) judges: bool,
    /// The other session that works on the run, where this one may only read.
    pub(crate) held_by: Option<String>,
}

/// What the live runs whose policies are known say to the call: in each tree the leaf judges, and its ancestors only
/// forbid.
pub(crate) fn verdicts<'a>(
    world: &mut World<'_>,
    policy: &'a Policy,
    state: &State,
    call: &'a Call,
    caller: Caller<'a>,
) -> Vec<RunVerdict<'a>> {
    let skill_of = |run: &Run| policy.skill_version(&run.skill, &run.version);
    let mut verdicts = Vec::new();
    let below = tree::Below::of(state);
    let reads = only_reads(&call.tool.labels);
    for root in tree::roots(state) {
        let start = BranchStart { policy, state, call, caller };
        let mut lists = |run: &Run| {
            let Some(skill) = skill_of(run) else { return false };
            let own = SkillCall::new(skill, call, caller.in_run(skill, run)).lifting(world, run, false);
            if !own.is_for(world, run) || !start.means(world, run) {
                return false;
            }
            // What another run beside it produces is that run's, whatever this one lists.
            let others = if reads {
                Vec::new()
            } else {
                of_others(policy, state, &tree::above(state, run).collect::<Vec<_>>(), run, skill)
            };
            others.is_empty() || own.beside(&others).is_listed_in_present(run)
        };
        let mut path = tree::path(state, &below, root, caller.agent, &mut lists);
        let held_by = holding::other(state, &path).map(String::from);
        let Some(leaf) = path.pop() else { continue };
        for ancestor in path.iter().copied() {
            let Some(skill) = skill_of(ancestor) else { continue };
            let call = SkillCall::new(skill, call, caller.in_run(skill, ancestor)).lifting(world, ancestor, false);
            let Some(ruling) = call.forbidden_by(ancestor) else { continue };
            let (run, broke) = (ancestor.id.clone(), code(ruling.line));
            verdicts.push(RunVerdict {
                run,
                mode: ancestor.mode,
                skill,
                call,
                ruling,
                broke,
                over: false,
                judges: false,
                held_by: None,
            });
        }
        let Some(skill) = skill_of(leaf) else { continue };
        let of_others = if reads { Vec::new() } else { of_others(policy, state, &path, leaf, skill) };
        let call = SkillCall::new(skill, call, caller.in_run(skill, leaf)).beside(&of_others);
        let call = call.lifting(world, leaf, false);
        let ruling = if held_by.is_some() { call.judge_reading(leaf) } else { call.judge(world, leaf) };
        // A call that belongs to a phase to come goes through that phase's gates, and what the skill forbids everywhere
        // stays forbidden: neither ends the run.
        let outside = matches!(ruling.line, Line::Forbidden | Line::UnlistedDenied);
        // A run that a phase consists of ends before the call is judged (`reach`).
        let over = outside && leaf.branch.is_none() && held_by.is_none() && is_over(world, leaf, skill);
        let still = if held_by.is_some() { Code::HeldElsewhere } else { Code::Stopped };
        let broke = code(ruling.line).filter(|_| !over).map(|code| if ruling.still { still } else { code });
        let (run, judges) = (leaf.id.clone(), held_by.is_none());
        verdicts.push(RunVerdict { run, mode: leaf.mode, skill, call, ruling, broke, over, judges, held_by });
    }
    verdicts
}

/// What writes the artifacts that the live runs beside a part of a run produce, and that it does not produce itself.
fn of_others<'a>(policy: &'a Policy, state: &State, path: &[&Run], run: &Run, skill: &Skill) -> OfOthers<'a> {
    if run.branch.is_none() {
        return Vec::new();
    }
    let root = &tree::root(state, run).id;
    let is_in_path = |other: &Run| other.id == run.id || path.iter().any(|above| above.id == other.id);
    let is_beside = |other: &&Run| other.branch.is_some() && !is_in_path(other) && tree::root(state, other).id == *root;
    let own = |artifact: &Artifact| skill.artifacts.iter().any(|own| own.paths == artifact.paths);
    let skills = state.live_runs().filter(is_beside).filter_map(|run| policy.skill_version(&run.skill, &run.version));
    let artifacts = skills.flat_map(|skill| &skill.artifacts).filter(|one| one.is_produced() && !own(one));
    artifacts.flat_map(|artifact| &artifact.writes).collect()
}

/// The code of a line that is a violation.
fn code(line: Line) -> Option<Code> {
    match line {
        Line::GlobalForbidden => Some(Code::GlobalForbidden),
        Line::NotDone => Some(Code::NotDone),
        Line::Forbidden => Some(Code::PhaseForbidden),
        Line::UnlistedDenied => Some(Code::Unlisted),
        Line::Allowed | Line::Returned | Line::Entered | Line::Back | Line::Confined | Line::Unlisted => None,
    }
}

/// Whether the agent may leave the run because all that it asks for was done. It could deactivate it now; that it
/// goes on to something else says the same. The compatible form asks for nothing and ends by a command only.
pub(crate) fn is_over(world: &mut World<'_>, run: &Run, skill: &Skill) -> bool {
    skill.leave_skill == LeaveSkill::Finished && is_done(world, run, skill)
}

/// Whether all that the run asks for was done.
pub(crate) fn is_done(world: &mut World<'_>, run: &Run, skill: &Skill) -> bool {
    let Some(index) = skill.phase_index(&run.phase) else { return false };
    let done = skill.phases.get(index).map_or(Done::NotAsked, |phase| world.done(run, phase));
    done == Done::Yes && can_finish(world, skill, run, Here { index, done: Some(done) })
}

impl RunVerdict<'_> {
    /// How strict the answer is to a call that breaks a rule of the run.
    pub(crate) fn effect(&self) -> Effect {
        if self.ruling.asks { Effect::of_question(self.mode) } else { Effect::of_violation(self.mode) }
    }

    /// The move that the call means in the run when it is let through.
    pub(crate) fn moved(&self, world: &mut World<'_>, run: &Run) -> Option<Change> {
        if self.over {
            return Some(moves::ended(run, Status::Finished, By::Agent));
        }
        if self.ruling.line.is_violation() {
            return None;
        }
        let entered = self.ruling.line == Line::Entered;
        let here = self.skill.phase_index(&run.phase).and_then(|index| self.skill.phases.get(index));
        let done = here.filter(|_| entered).map_or(Done::NotAsked, |phase| world.done(run, phase));
        moves::of_call(run, self.skill, &self.ruling, done)
    }

    /// The files that the call writes of those artifacts of the phase of which only the run's own files count.
    fn files_written(&self, phase: &Phase) -> Vec<Proof> {
        let writes = |artifact: &&Artifact| artifact.writes.iter().any(|line| self.call.is_about(line));
        let proof = |artifact: &Artifact| {
            let atom = artifact.content.by?;
            let about = Vec::from([self.call.paths_written(&artifact.paths)]);
            Some(Proof { atom, wanted: Wanted::Ended, lasting: true, own: true, as_of: None, about })
        };
        self.skill.produced_in(phase).filter(writes).filter_map(proof).collect()
    }

    /// The visit in which the call was decided, and what its outcome would prove there.
    pub(crate) fn visit(&self, world: &mut World<'_>, run: &Run) -> CallVisit {
        let phase = self.skill.phase_index(&run.phase).unwrap_or_default();
        let lists = |line| matches!(line, Line::Allowed | Line::Returned | Line::Entered | Line::Back);
        let listed = lists(self.ruling.line);
        let (mut proves, mut not_own): (Vec<Proof>, Vec<u32>) = (Vec::new(), Vec::new());
        let returned_to = run.provisional.as_ref().and_then(|before| self.skill.phase_index(&before.phase));
        let mut asked = |test: &CallTest, used: Use| match self.call.proves(test, used).map(|wanted| Proof {
            atom: test.atom,
            wanted,
            lasting: used == Use::Forbid,
            own: false,
            as_of: match &test.unchanged {
                Some(content) => Some(world.now(content)),
                None => test.written.as_ref().and_then(|_| wrote(self.call.decided(&self.ruling), test, run)),
            },
            about: Vec::new(),
        }) {
            // What nobody knows the object of proves nothing about any.
            Some(proof) if !test.same.is_empty() => {
                let values: Option<_> = test.same.iter().map(|same| self.call.values(&same.its)).collect();
                proves.extend(values.map(|about| Proof { about, ..proof }));
            }
            Some(proof) if proves.contains(&proof) => {}
            Some(proof) => proves.push(proof),
            None if used == Use::Permit && self.call.is_about(&test.matcher) => not_own.push(test.atom),
            None => {}
        };
        each_call(self.skill, phase, &mut asked);
        // A failure takes back what the phase holds that the run may still return to.
        if let Some(before) = returned_to.filter(|before| *before != phase) {
            own_conditions(self.skill, before).for_each(|condition| condition.each_use(Use::Permit, &mut asked));
        }
        proves.extend(self.skill.phases.get(phase).into_iter().flat_map(|phase| self.files_written(phase)));
        let result = listed && self.skill.phases.get(phase).is_some_and(|phase| self.call.is_result(phase));
        // A call that passes anyway uses no step.
        let steps = if self.ruling.line == Line::Allowed { self.call.steps(run) } else { Vec::new() };
        CallVisit { run: run.id.clone(), phase, visit: run.visit, listed, result, steps, proves, not_own }
    }
}
