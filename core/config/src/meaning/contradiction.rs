//! What is allowed and forbidden at once.

use phasegate_core::Code;

use super::cover::covers;
use crate::build::builder::Built;
use crate::report::Finding;

/// Reports what a phase allows although the phase or the skill forbids all of it.
pub(super) fn check(built: &Built, findings: &mut Vec<Finding>) {
    let skill = &built.skill;
    for (phase, places) in skill.phases.iter().zip(&built.places.phases) {
        let here = format!("phase `{}`", phase.name);
        let lists = [
            (here.as_str(), &phase.forbidden, &places.forbidden),
            ("`global_forbidden`", &skill.global_forbidden, &built.places.global_forbidden),
        ];
        for (allowed, span) in phase.allowed.iter().zip(&places.allowed) {
            let found = lists.iter().find_map(|(name, matchers, spans)| {
                let mut pairs = matchers.iter().zip(spans.iter());
                pairs.find(|(forbidden, _)| covers(forbidden, allowed, skill)).map(|found| (*name, found))
            });
            let Some((name, (forbidden, at))) = found else { continue };
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
