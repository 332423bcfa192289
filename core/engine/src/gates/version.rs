//! Version: the caller was told of the policy that is in force, or of none (rules 4.7).

use crate::answers::decision::Effect;
use crate::answers::denial::{Denial, DenialKind};
use crate::answers::reason::DenialReason;
use crate::evidence::eval::World;
use crate::gates::gate::Context;
use crate::policy::access::same_version;
use crate::prelude::*;

/// How a version says by what it is made.
const PREFIX: &str = "sha256:";

pub(super) fn judge(_: &mut World<'_>, context: &Context<'_>) -> Option<Denial> {
    let expected = context.asked.stated?.version.as_ref()?;
    let actual = format!("{PREFIX}{}", context.policy.version);
    if same_version(expected, &actual) {
        return None;
    }
    let reason = DenialReason::RuleVersionMismatch { expected: expected.clone(), actual };
    let tool = context.call.tool.name.clone();
    Some(Denial { tool, ..Denial::new(DenialKind::Admission(Box::new(reason)), Effect::Deny) })
}
