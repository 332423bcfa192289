//! The registry of command safety: only the main agent registers what commands do (rules 4.6).

use crate::answers::decision::Effect;
use crate::answers::denial::{Denial, DenialKind, NotRegistered};
use crate::evidence::eval::World;
use crate::gates::gate::Context;
use crate::shell::classifier::is_child;
use crate::shell::safety::REGISTER;

pub(super) fn judge(_: &mut World<'_>, context: &Context<'_>) -> Option<Denial> {
    let tool = &context.call.tool.name;
    let child = is_child(&context.state.session);
    if tool != REGISTER || !(child || context.caller.agent.is_some()) {
        return None;
    }
    let kind = DenialKind::NotRegistered(NotRegistered::Subagent);
    Some(Denial { tool: tool.clone(), ..Denial::new(kind, Effect::Deny) })
}
