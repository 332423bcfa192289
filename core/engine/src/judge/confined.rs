//! Commands that a phase which only reads lets run so that nothing of them stays (rules 3.2).

use phasegate_rules::Truth;

use super::{SkillCall, SkillPart};
use crate::analysis::SimpleCommand;
use crate::command_view::does;
use crate::decide::Line;
use crate::decision::Confined;
use crate::policy::{Mode, Phase, Skill, Unlisted};
use crate::rendering;
use crate::state::Run;
use crate::tool::only_reads;

/// What nobody can do confined: it is for another machine, and there the network ends at this one.
const OF_THE_NETWORK: [&str; 8] = ["send", "push", "push_tag", "force_push", "publish", "deploy", "operate", "request"];

/// Whether calls of a run are held by the kernel in this phase: it only reads, and what breaks that is denied.
fn holds(skill: &Skill, run: &Run, phase: &Phase) -> bool {
    run.mode == Mode::Block && !skill.compat && skill.unlisted_in(phase).1 == Unlisted::ReadOnly
}

impl SkillCall<'_> {
    /// How the shell is to run the call, by what a run says of it; `None`: as without a guard.
    pub(crate) fn confinement(&self, run: &Run, line: Line) -> Option<Confined> {
        let phase = self.present(run).filter(|phase| holds(self.skill, run, phase))?;
        let network = match line {
            Line::Confined => false,
            // What is known to read may be known wrongly, and may ask a server.
            Line::Unlisted if only_reads(self.labels()) => true,
            _ => return None,
        };
        Some(Confined { network, says: rendering::not_kept(&self.skill.name, phase) })
    }
}

impl SkillPart<'_> {
    /// Whether the part may run so that nothing of it stays: a line of the table makes it a violation, or it reads.
    pub(super) fn is_confinable(&self, run: &Run, phase: &Phase, line: Line) -> bool {
        if line == Line::Unlisted {
            return only_reads(&self.labels);
        }
        let analysis = &self.call.analysis;
        let sends = |command: &SimpleCommand| {
            command.network || OF_THE_NETWORK.iter().any(|word| does(command, &[], word) == Truth::Yes)
        };
        analysis.confinable
            && matches!(line, Line::NotDone | Line::UnlistedDenied)
            && holds(self.skill, run, phase)
            && !analysis.commands.iter().any(sends)
    }
}
