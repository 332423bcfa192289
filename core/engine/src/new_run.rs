//! A run at its beginning.

use alloc::string::String;
use alloc::vec::Vec;

use crate::cause::By;
use crate::policy::{Mode, Skill};
use crate::state::{Children, Run, Status};

impl Run {
    /// A run of the skill in its first phase, without evidence.
    #[must_use]
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
            skipped: Vec::new(),
            backs: Vec::new(),
            failed: false,
            variables: Default::default(),
            history: Default::default(),
        }
    }
}
