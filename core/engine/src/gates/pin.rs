//! Tool pins: a server's tool is what it was when it was first seen, or a person has looked at it (rules 4.4).

use crate::answers::decision::Effect;
use crate::answers::denial::{Denial, DenialKind};
use crate::evidence::eval::World;
use crate::gates::gate::Context;
use crate::policy::ChangedTools;
use crate::state::pins::PINNED;

pub(super) fn judge(_: &mut World<'_>, context: &Context<'_>) -> Option<Denial> {
    let tool = &context.call.tool.name;
    let server = context.call.tool.server.as_deref()?;
    let pins = context.state.project.servers.get(server)?;
    let same = match pins.get(tool) {
        Some(pin) => pin.changed.is_none(),
        None => pins.len() < PINNED,
    };
    if same {
        return None;
    }
    let effect = match context.policy.changed_tools {
        ChangedTools::Report => Effect::Warn,
        ChangedTools::Deny => Effect::Deny,
    };
    let kind = DenialKind::ToolChanged { server: server.into(), tool: tool.clone() };
    Some(Denial { tool: tool.clone(), ..Denial::new(kind, effect) })
}
