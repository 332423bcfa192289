//! Activation: runs begin and end.

use crate::answers::denial::DenialKind;
use crate::calls::cause::By;
use crate::policy::{Mode, Policy, Skill};
use crate::prelude::*;
use crate::runs::children::next_id;
use crate::runs::moves;
use crate::state::draft::Draft;
use crate::state::{Run, Status};

/// The skill of this name in the present policy.
pub(crate) fn known<'p>(policy: &'p Policy, name: &str) -> Result<&'p Skill, DenialKind> {
    let unknown = || {
        let available = available(policy).into_iter().map(ToString::to_string).collect();
        DenialKind::SkillUnknown { name: name.to_string(), available }
    };
    policy.skill(name).ok_or_else(unknown)
}

/// The names of the skills that apply.
pub(crate) fn available(policy: &Policy) -> Vec<&str> {
    policy.skills.iter().map(|skill| skill.name.as_str()).collect()
}

/// Why a run begins, and how.
pub(crate) struct Beginning {
    /// The mode that is asked for.
    pub(crate) mode: Option<Mode>,
    pub(crate) by: By,
    /// The id of the call that invoked the skill.
    pub(crate) call: Option<String>,
    /// Whether the skill is in force.
    pub(crate) in_force: bool,
    /// What begins it, where nobody asked for it.
    pub(crate) began: Option<String>,
    /// Whether a call begins it.
    pub(crate) tentative: bool,
}

impl Beginning {
    /// That someone asks for the run.
    pub(crate) fn asked(by: By, mode: Option<Mode>) -> Self {
        Self { mode, by, call: None, in_force: false, began: None, tentative: false }
    }
}

/// Begins a run, with no evidence. Its mode is the stricter of the skill's and the one asked for.
pub(crate) fn begin(draft: &mut Draft, skill: &Skill, beginning: Beginning) -> Mode {
    let Beginning { mode, by, call, in_force, began, tentative } = beginning;
    let id = next_id(draft.state(), skill.scope);
    let mode = mode.unwrap_or(Mode::Warn).max(skill.mode.unwrap_or(Mode::Warn));
    draft.announce(&id);
    draft.begin(Run { call, in_force, began, tentative, ..Run::begun(skill, id, mode, by) });
    mode
}

/// Ends a run.
pub(crate) fn end(draft: &mut Draft, id: &str, status: Status, by: By) {
    if let Some(change) = draft.run(id).map(|run| moves::ended(run, status, by)) {
        draft.change(change);
    }
}
