//! Commands that a phase which only reads lets run so that nothing of them stays (rules 3.2).

use phasegate_rules::Truth;

use super::{SkillCall, SkillPart};
use crate::answers::decision::Confined;
use crate::answers::rendering;
use crate::calls::analysis::{Access, SimpleCommand};
use crate::calls::tool::only_reads;
use crate::decide::Line;
use crate::policy::matcher::Matcher;
use crate::policy::{Confine, Mode, Phase, Policy, Skill, Unlisted};
use crate::prelude::*;
use crate::shell::command_view::does;
use crate::state::{Run, State};

/// What nobody can do confined: it is for another machine, and there the network ends at this one.
const OF_THE_NETWORK: [&str; 8] = ["send", "push", "push_tag", "force_push", "publish", "deploy", "operate", "request"];

/// What a line of a phase may list of commands that only reads.
const READING: [&str; 2] = ["does:read", "does:list"];

/// Whether the kernel holds lines in a phase: as it says itself, else as the skill does; `None` leaves it to the project.
fn confine_in(skill: &Skill, phase: &Phase) -> Option<Confine> {
    phase.confine.or(skill.confine)
}

/// Whether calls of a run are held by the kernel in this phase: it only reads, and what breaks that is denied. In a phase
/// for certain commands, or for the steps of a plan, another command is a mistake that has to be told.
fn holds(skill: &Skill, run: &Run, phase: &Phase) -> bool {
    let reads = |line: &Matcher| line.commands.iter().all(|command| READING.contains(&command.as_str()));
    let only_reads = phase.steps.is_none() && phase.allowed.iter().all(reads);
    let is_off = confine_in(skill, phase) == Some(Confine::Off);
    run.mode == Mode::Block
        && !skill.compat
        && only_reads
        && !is_off
        && skill.unlisted_in(phase).1 == Unlisted::ReadOnly
}

/// How lines are held now, where the state has a live run in a phase that holds them.
pub fn holding(policy: &Policy, state: &State) -> Option<Confined> {
    state.live_runs().find_map(|run| {
        let skill = policy.skill_version(&run.skill, &run.version)?;
        let phase = skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index))?;
        holds(skill, run, phase).then(|| confined(skill, phase, state))
    })
}

/// Whether a live run in block mode is in a phase whose lines have to be held.
pub fn requires_hold(policy: &Policy, state: &State) -> bool {
    state.live_runs().filter(|run| run.mode == Mode::Block).any(|run| {
        let skill = policy.skill_version(&run.skill, &run.version);
        let phase = skill.and_then(|skill| skill.phases.get(skill.phase_index(&run.phase)?));
        skill.zip(phase).and_then(|(skill, phase)| confine_in(skill, phase)) == Some(Confine::Required)
    })
}

/// How lines are held in a phase: what they change stays in the folders that it lists whole, where no other run and no line
/// that forbids has a say in them.
fn confined(skill: &Skill, phase: &Phase, state: &State) -> Confined {
    let forbids = skill.global_forbidden.iter().chain(&phase.forbidden).any(|line| !line.paths.is_empty());
    let plain = |line: &&Matcher| line.args.is_empty() && line.agent.is_none() && line.except.is_empty();
    let written = |line: &&Matcher| line.paths.len() == 1 && line.paths.iter().all(|path| path.access == Access::Write);
    let lines = phase.allowed.iter().filter(plain).filter(written);
    let alone = state.live_runs().count() == 1 && !forbids && phase.line_requires.is_empty();
    let keeps = lines.filter(|_| alone).flat_map(|line| &line.paths).filter_map(|path| path.pattern.whole_folder());
    let keeps: Vec<String> = keeps.map(String::from).collect();
    Confined { says: rendering::not_kept(&skill.name, phase, &keeps), keeps }
}

impl SkillCall<'_> {
    /// How the shell is to run the call, by what a run says of it; `None`: as without a guard. What is known to read runs so:
    /// held, it would not see what other programs have in the temporary folder, and reach none of their sockets.
    pub(crate) fn confinement(&self, state: &State, run: &Run, line: Line) -> Option<Confined> {
        let phase = self.present(run).filter(|_| line == Line::Confined)?;
        Some(confined(self.skill, phase, state))
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
