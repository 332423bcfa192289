//! Lines of `start` that begin nothing.

use phasegate_core::Code;
use phasegate_core::calls::tool::only_reads;
use phasegate_core::policy::Start;

use super::cover::labels;
use crate::build::builder::Built;
use crate::read::report::Finding;

/// Warns of each `before` that selects only calls that read, which begin no run.
pub(super) fn check(built: &Built, findings: &mut Vec<Finding>) {
    let skill = &built.skill;
    let before = skill.start.iter().filter_map(|start| if let Start::Before(line) = start { Some(line) } else { None });
    for (matcher, span) in before.zip(&built.places.start) {
        // What starts a subagent or invokes a skill begins a run, whatever else it does.
        if matcher.invokes.is_none() && only_reads(&labels(matcher, skill)) {
            let message = format!("`before: {}` begins nothing", matcher.text);
            findings.push(
                Finding::warning(Code::MatcherNeverMatches, *span, message)
                    .cause("a call that only reads begins no run")
                    .suggest("name the first call that changes something, or write `session` or `prompt`"),
            );
        }
    }
}
