//! What a line's call has the client do, where the line itself does not say: the skill or the subagent that it names.

use phasegate_core::Event;
use phasegate_core::calls::analysis::Invocation;
use phasegate_core::calls::tool::{AGENT, SKILL};
use phasegate_core::events::event::EventKind;
use serde_json::Value;

/// The arguments that name a skill, in the words of the clients.
const SKILL_NAMES: [&str; 2] = ["skill", "name"];
/// The argument that names the type of a subagent.
const AGENT_TYPE: &str = "subagent_type";

/// Fills in what a call of the client's own tool `Skill` or `Agent` invokes.
pub(super) fn read(event: &mut Event) {
    let EventKind::ToolCall { tool, server: None, input, analysis, .. } = &mut event.kind else { return };
    let text = |name: &str| input.get(name).and_then(Value::as_str).map(str::to_owned);
    let named = match tool.as_str() {
        SKILL => SKILL_NAMES.into_iter().find_map(text).map(Invocation::Skill),
        AGENT => text(AGENT_TYPE).map(Invocation::Agent),
        _ => None,
    };
    analysis.invokes = analysis.invokes.take().or(named);
}
