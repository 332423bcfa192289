//! Runs that stand still: why, for the agent and for the person who says how they go on (rules 3.1).

use crate::answers::denial::{Stopped, StoppedPart};
use crate::policy::Skill;
use crate::prelude::*;
use crate::runs::tree;
use crate::state::{Children, Run, SpentEdge, State, Status};

/// Why a run stands still; `asked` is the rollback edge that the call asks for, whose limit is spent.
pub(crate) fn stopped(state: &State, run: &Run, skill: &Skill, tool: &str, asked: Option<&SpentEdge>) -> Stopped {
    let here = skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index));
    let next = here.and_then(|here| skill.phases.get(here.next.first()?.to)).map(|next| next.name.clone());
    let own = asked.or(run.spent.as_ref());
    let part = failed_part(state, run).filter(|_| own.is_none());
    Stopped {
        element: element(state, part.unwrap_or(run)),
        tool: tool.to_string(),
        // A tree is halted as a whole, under the name that the user knows.
        skill: if run.halted.is_some() { tree::root(state, run).skill.clone() } else { run.skill.clone() },
        branch: branch(run).filter(|name| !name.is_empty() && run.halted.is_none()),
        phase: run.phase.clone(),
        next,
        spent: own.or(part.and_then(|part| part.spent.as_ref())).cloned(),
        halted: run.halted.clone(),
        halted_by_agent: run.halted_by_agent,
        part: part.map(|part| StoppedPart {
            skill: part.skill.clone(),
            branch: branch(part).unwrap_or_default(),
            phase: part.phase.clone(),
        }),
    }
}

fn branch(run: &Run) -> Option<String> {
    run.branch.as_ref().map(|branch| branch.name.clone())
}

/// The name of the element of a plan that a run belongs to: of the innermost plan.
fn element(state: &State, run: &Run) -> Option<String> {
    let mut at = run;
    for _ in 0..=state.project.runs.len().saturating_add(state.session.runs.len()) {
        let parent = state.run(at.parent.as_deref()?)?;
        let plan = parent.plan.as_ref().filter(|_| parent.children != Children::None);
        let place = at.branch.as_ref().map(|branch| branch.place);
        if let Some(found) = plan.zip(place).and_then(|(progress, place)| progress.plan.elements.get(place)) {
            return Some(found.id.clone());
        }
        at = parent;
    }
    None
}

/// The run that made the phase fail, as far down as the runs go.
fn failed_part<'a>(state: &'a State, run: &'a Run) -> Option<&'a Run> {
    let mut found = None;
    let mut at = run;
    // No tree is deeper than there are runs, whatever the parents in a state say.
    for _ in 0..=state.project.runs.len().saturating_add(state.session.runs.len()) {
        let failed = |part: &&Run| matches!(part.status, Status::Failed | Status::Left);
        // Those that were left because another one failed come second.
        let parts = || tree::parts(state, at);
        let Some(part) = parts().find(|part| part.status == Status::Failed).or_else(|| parts().find(failed)) else {
            break;
        };
        found = Some(part);
        at = part;
    }
    found
}
