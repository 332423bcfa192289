//! Rollback edges whose limit is spent, and what a run answers that stands still (rules 3.1, 3.2).

use super::rollback::is_spent;
use super::{Ruling, SkillPart};
use crate::calls::tool::only_reads;
use crate::decide::{Line, Situation, decide};
use crate::evidence::eval::World;
use crate::policy::Phase;
use crate::policy::matcher::Use;
use crate::state::{Run, SpentEdge};

impl SkillPart<'_> {
    /// What a run answers that stands still: what is forbidden stays so, and of the rest only what reads passes.
    pub(super) fn judge_still(&self, phase: &Phase) -> Ruling {
        let denied = || self.unlisted_line(phase).is_some_and(|line| !line.passes);
        let line = if self.any(&self.skill.global_forbidden, Use::Forbid) {
            Line::GlobalForbidden
        } else if self.any(&phase.forbidden, Use::Forbid) {
            Line::Forbidden
        } else if only_reads(&self.labels) && !denied() {
            Line::Unlisted
        } else {
            Line::UnlistedDenied
        };
        let still = line == Line::UnlistedDenied;
        Ruling { by: self.forbidden_by(line, phase), still, ..Ruling::of(line) }
    }

    /// What a run answers whose rollback edge decides, which it does only where no other line does, and is spent.
    pub(super) fn spent(
        &self,
        world: &mut World<'_>,
        run: &Run,
        phase: &Phase,
        situation: Situation,
    ) -> Option<Ruling> {
        let back = Situation { back: true, ..situation };
        let asked = decide(situation) != Line::Back && decide(back) == Line::Back;
        let spent = if asked { self.spent_edge(world, run, phase)? } else { return None };
        Some(Ruling { still: true, spent: Some(spent), ..Ruling::of(Line::UnlistedDenied) })
    }

    /// The rollback edge that the call asks for once more than its limit says, where the edge says what then becomes of
    /// the run. What only reads asks for none.
    fn spent_edge(&self, world: &mut World<'_>, run: &Run, phase: &Phase) -> Option<SpentEdge> {
        if only_reads(&self.labels) {
            return None;
        }
        phase.back.iter().find_map(|back| {
            let then = back.then?;
            let target = self.skill.phases.get(back.to)?;
            let open = !back.on_failure || world.has_failed(run, phase);
            let asked = open && is_spent(world, self.skill, run, back) && self.belongs_to(target);
            asked.then(|| SpentEdge { to: target.name.clone(), limit: back.limit, then })
        })
    }
}
