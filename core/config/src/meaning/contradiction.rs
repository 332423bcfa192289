//! What is allowed and forbidden at once.

use phasegate_core::Code;

use super::cover::covers;
use crate::build::builder::Built;
use crate::read::report::Finding;

/// Reports what a phase allows although the phase or the skill forbids all of it.
pub(super) fn check(built: &Built, findings: &mut Vec<Finding>) {
    let skill = &built.skill;
    for (phase, places) in skill.phases.iter().zip(&built.places.phases) {
        let here = format!("phase `{}`", phase.name);
        // What is forbidden only until something has happened may be allowed after it.
        let always = phase.always_forbidden().filter_map(|(at, line)| Some((line, places.forbidden.get(at)?)));
        let own: Vec<_> = always.map(|(line, at)| (here.as_str(), line, at)).collect();
        let everywhere = skill.global_forbidden.iter().zip(&built.places.global_forbidden);
        let everywhere = everywhere.map(|(line, at)| ("the skill", line, at));
        let lists: Vec<_> = own.into_iter().chain(everywhere).collect();
        for (allowed, span) in phase.allowed.iter().zip(&places.allowed) {
            let found = lists.iter().find(|(_, forbidden, _)| covers(forbidden, allowed, skill));
            let Some((name, forbidden, at)) = found else { continue };
            let message = format!(
                "`{}` is allowed in phase `{}`, and forbidden by `{}`",
                allowed.text, phase.name, forbidden.text
            );
            findings.push(
                Finding::error(Code::ToolAllowedAndForbidden, *span, message)
                    .cause(format!("{name} forbids it on line {}; forbidden wins", at.line))
                    .lenient(skill.compat),
            );
        }
    }
}
