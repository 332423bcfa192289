//! Version: the caller was told of the policy that is in force, or of none (rules 4.7).

use alloc::boxed::Box;

use crate::access::same_version;
use crate::decision::Effect;
use crate::denial::{Denial, DenialKind};
use crate::eval::World;
use crate::gate::Context;
use crate::reason::DenialReason;

pub(super) fn judge(_: &mut World<'_>, context: &Context<'_>) -> Option<Denial> {
    let expected = context.asked.stated?.version.as_ref()?;
    let actual = &context.policy.version;
    if same_version(expected, actual) {
        return None;
    }
    let reason = DenialReason::RuleVersionMismatch { expected: expected.clone(), actual: actual.clone() };
    let tool = context.call.tool.name.clone();
    Some(Denial { tool, ..Denial::new(DenialKind::Admission(Box::new(reason)), Effect::Deny) })
}
