//! Access: where it is `readonly`, a call passes that is known to only read (rules 4.7).

use crate::answers::decision::Effect;
use crate::answers::denial::{Denial, DenialKind, Guidance};
use crate::commands::slash_command;
use crate::evidence::eval::World;
use crate::gates::gate::Context;
use crate::gates::permitting::readonly;
use crate::gates::protection::known_to_read;

pub(super) fn judge(_: &mut World<'_>, context: &Context<'_>) -> Option<Denial> {
    let why = readonly(context.policy, context.state, context.asked)?;
    if context.is_own || known_to_read(context.policy, context.call, context.caller) {
        return None;
    }
    let tool = context.call.tool.name.clone();
    let kind = DenialKind::Readonly { tool: tool.clone(), why };
    let guidance = slash_command::of_people(context.call).map_or(Guidance::None, Guidance::OfPeople);
    Some(Denial { tool, guidance, ..Denial::new(kind, Effect::Deny) })
}
