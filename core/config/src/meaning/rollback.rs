//! Rollback edges that lead forward, and artifacts that are asked for before a phase that makes them.

use phasegate_core::Code;
use phasegate_core::evidence::condition::Condition;
use phasegate_core::policy::Skill;

use crate::build::builder::Built;
use crate::read::report::Finding;
use crate::read::suggestion::listed;

/// Reports them.
pub(super) fn check(built: &Built, findings: &mut Vec<Finding>) {
    let skill = &built.skill;
    let after = after(skill);
    let follows = |of: usize, phase: usize| after.get(of).is_some_and(|after| after.get(phase) == Some(&true));
    for (at, (phase, places)) in skill.phases.iter().zip(&built.places.phases).enumerate() {
        for (back, span) in phase.back.iter().zip(&places.back) {
            if follows(at, back.to) && !follows(back.to, at) {
                let to = skill.phases.get(back.to).map(|to| to.name.as_str()).unwrap_or_default();
                let key = if back.on_failure { "on_failure" } else { "back" };
                let message = format!("`{key}` of phase `{}` leads to `{to}`, which comes later", phase.name);
                findings.push(
                    Finding::error(Code::ConfigValue, *span, message)
                        .cause("a rollback edge goes back: a run loses the evidence of the phase and of all after it")
                        .suggest("name an earlier phase, or write the way under `next`")
                        .lenient(skill.compat),
                );
            }
        }
        let conditions = [
            ("requires", &phase.requires, places.requires, Code::PhaseUnreachable, "it can never be entered"),
            ("done_when", &phase.done_when, places.done_when, Code::PhaseNeverDone, "it can never be done"),
        ];
        for (key, condition, span, code, so) in conditions {
            let own = key == "done_when";
            let comes_before = |maker: usize| (own && maker == at) || follows(maker, at);
            let Some(name) = condition.as_ref().and_then(|asked| too_early(skill, asked, &comes_before)) else {
                continue;
            };
            let makers = listed(makers(skill, name).map(|(_, maker)| maker));
            let message = format!(
                "`{key}` of phase `{}` asks for the artifact `{name}`, which only a later phase makes",
                phase.name
            );
            findings.push(
                Finding::error(code, span, message)
                    .cause(format!("before phase {makers} there is no such artifact, so {so}"))
                    .suggest(format!("let the phase produce it (`produces: [{name}]`), or ask for it later"))
                    .lenient(skill.compat),
            );
        }
    }
}

/// For each phase which ones follow it, along the edges.
pub(super) fn after(skill: &Skill) -> Vec<Vec<bool>> {
    let along = |start: usize| {
        let mut seen = vec![false; skill.phases.len()];
        let mut open = vec![start];
        while let Some(phase) = open.pop().and_then(|at| skill.phases.get(at)) {
            for edge in &phase.next {
                if let Some(new @ false) = seen.get_mut(edge.to) {
                    *new = true;
                    open.push(edge.to);
                }
            }
        }
        seen
    };
    (0..skill.phases.len()).map(along).collect()
}

/// The phases that make an artifact.
fn makers<'s>(skill: &'s Skill, artifact: &str) -> impl Iterator<Item = (usize, &'s str)> {
    let place = skill.artifacts.iter().position(|one| one.name == artifact);
    let makes = move |produces: &[usize]| place.is_some_and(|place| produces.contains(&place));
    let phases = skill.phases.iter().enumerate().filter(move |(_, phase)| makes(&phase.produces));
    phases.map(|(at, phase)| (at, phase.name.as_str()))
}

/// An artifact without which the condition never holds, and that no phase makes early enough.
fn too_early<'c>(skill: &Skill, condition: &'c Condition, before: &dyn Fn(usize) -> bool) -> Option<&'c str> {
    match condition {
        Condition::All(parts) => parts.iter().find_map(|part| too_early(skill, part, before)),
        Condition::Any(parts) => {
            let each: Option<Vec<&str>> = parts.iter().map(|part| too_early(skill, part, before)).collect();
            each.and_then(|each| each.first().copied())
        }
        Condition::Artifact(test) => {
            let mut makers = makers(skill, &test.name).peekable();
            let late = makers.peek().is_some() && !makers.any(|(at, _)| before(at));
            late.then_some(test.name.as_str())
        }
        Condition::Not(_)
        | Condition::Call(_)
        | Condition::Fact(_)
        | Condition::Approved(_)
        | Condition::Unchanged(_)
        | Condition::Says(_) => None,
    }
}
