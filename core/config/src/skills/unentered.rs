//! Phases of runs that no call enters, as the phases before them list the calls with which their runs begin.

use std::collections::BTreeMap;

use phasegate_core::Code;
use phasegate_core::calls::analysis::Invocation;
use phasegate_core::calls::tool::READ;
use phasegate_core::policy::matcher::{Matcher, ToolPattern};
use phasegate_core::policy::{Leave, Phase, Skill};

use crate::meaning::covers;
use crate::read::report::Finding;
use crate::skills::children::Named;

/// Warns of runs that begin only when the agent invokes their skill: no text tells it to.
pub(crate) fn check(skills: &BTreeMap<String, Skill>, named: &[Named], report: &mut dyn FnMut(usize, Finding)) {
    for name in named {
        let Some(skill) = skills.get(&name.skill) else { continue };
        let Some(first) =
            skill.children.iter().find(|child| child.name == name.child).and_then(|one| one.phases.first())
        else {
            continue;
        };
        for (at, phase) in skill.phases.iter().enumerate().filter(|(_, phase)| runs(phase, &name.child)) {
            let mut before = before(skill, at).peekable();
            let listed = |earlier: &Phase| first.enters().all(|line| lists(earlier, line, skill));
            if let Some(earlier) = before.peek().map(|earlier| earlier.name.clone())
                && before.all(|earlier| earlier.leave != Leave::OnDone && listed(earlier))
            {
                report(name.file, finding(name, &phase.name, &first.name, &earlier));
            }
        }
    }
}

fn runs(phase: &Phase, child: &str) -> bool {
    phase.run.iter().flat_map(|runs| &runs.each).any(|run| run.skill == child)
}

/// The phases that an edge leads from.
fn before(skill: &Skill, to: usize) -> impl Iterator<Item = &Phase> {
    skill.phases.iter().filter(move |phase| phase.next.iter().any(|edge| edge.to == to))
}

/// Whether the phase lists each call that the line selects.
fn lists(phase: &Phase, line: &Matcher, skill: &Skill) -> bool {
    phase.lines(false).iter().any(|own| covers(own, line, skill) || (reads(own) && starts(line)))
}

/// Whether the line lists all that only reads; the start of a subagent reads too.
fn reads(line: &Matcher) -> bool {
    matches!(&line.tool, ToolPattern::Label(label) if label == READ) && line.except.is_empty() && line.paths.is_empty()
}

fn starts(line: &Matcher) -> bool {
    matches!(line.invokes.as_deref(), Some(Invocation::Agent(_)))
}

fn finding(name: &Named, phase: &str, first: &str, earlier: &str) -> Finding {
    let message = format!("no call of `{}` enters the phase `{phase}`, which runs it", name.child);
    Finding::warning(Code::PhaseUnreachable, name.span, message)
        .cause(format!(
            "the phase `{earlier}` before it lists every call of `{first}`, the first phase of `{}`: there such a call \
             begins no run and proves nothing in it",
            name.child
        ))
        .suggest(format!(
            "give `{earlier}` `leave: on_done`, or take these calls out of it by `except`; else only the invocation of \
             the skill `{}` begins a run",
            name.child
        ))
}
