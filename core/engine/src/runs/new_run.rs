//! A run at its beginning.

use crate::calls::cause::By;
use crate::policy::{ChildRun, Mode, Skill};
use crate::prelude::*;
use crate::state::{Barrier, Branch, Children, Run, Status};

impl Run {
    /// A run of the skill in its first phase, without evidence.
    pub fn begun(skill: &Skill, id: String, mode: Mode, by: By) -> Self {
        let phase = skill.phases.first().map(|phase| phase.name.clone()).unwrap_or_default();
        Self {
            id,
            skill: skill.name.clone(),
            version: skill.version.clone(),
            mode,
            scope: skill.scope,
            parent: None,
            branch: None,
            visit_budget: None,
            children: Children::None,
            held_by: None,
            plan: None,
            imported: None,
            steps: None,
            by,
            in_force: false,
            call: None,
            began: None,
            tentative: false,
            unfinished: false,
            status: Status::Active,
            phase_before: phase.clone(),
            phase,
            visit: 1,
            visits: 1,
            kept: [(0, 1)].into(),
            provisional: None,
            evidence: Vec::new(),
            uncounted: Vec::new(),
            approvals: Vec::new(),
            rejected: Vec::new(),
            shown: Vec::new(),
            agents: Vec::new(),
            skipped: Vec::new(),
            said_done: Vec::new(),
            backs: Vec::new(),
            failed_backs: Vec::new(),
            spent: None,
            halted: None,
            halted_by_agent: false,
            failed: false,
            deprecated: Vec::new(),
            variables: Default::default(),
            history: Default::default(),
        }
    }

    /// A run of the skill that is a part of another run's present visit.
    pub(crate) fn part_of(parent: &Self, skill: &Skill, child: &ChildRun, place: Place) -> Self {
        let mode = skill.mode.map_or(parent.mode, |mode| mode.max(parent.mode));
        let branch = Branch {
            name: child.branch.clone(),
            visit: parent.visit,
            agent: None,
            session: None,
            barrier: Barrier::All,
            place: place.at,
            more: place.more,
            may_fail: child.may_fail,
            void: false,
        };
        let begun = Self::begun(skill, String::new(), mode, By::Platform);
        Self { parent: Some(parent.id.clone()), branch: Some(branch), scope: parent.scope, ..begun }
    }
}

/// Where a run stands among those of a phase.
pub(crate) struct Place {
    /// Its number, from 0.
    pub(crate) at: usize,
    /// Whether others follow it.
    pub(crate) more: bool,
}
