//! Probing through the bridge: what calls would be answered now, as frames of the platform.

use phasegate_adapter::{Adapter, Address, Frame, Problem};
use phasegate_core::decision::Effect;
use phasegate_core::{Code, Decision};

use phasegate_runtime::kept::{KeptSession, kept};
use phasegate_runtime::runtime::Runtime;
use phasegate_store::journal::read_last;

/// What each of these frames would be answered if it were the session's next one; the strictest answer to what a frame
/// stands for. Nothing is recorded. In a project that nothing guards, everything is allowed.
///
/// # Errors
///
/// What would keep a frame from being decided; frames of several sessions.
pub(crate) fn probe(runtime: &Runtime, adapter: &dyn Adapter, frames: &[Frame]) -> Result<Vec<Decision>, Problem> {
    let Some(first) = frames.first() else { return Ok(Vec::new()) };
    let address = adapter.address(first)?;
    let project = runtime.project_of(adapter, first, Some(&address))?;
    let kept: KeptSession = kept(read_last(&project.session_journal(&address.session))?.as_ref())?;
    let mut answers = Vec::new();
    for frame in frames {
        let Address { session, .. } = adapter.address(frame)?;
        if session != address.session {
            return Err(Problem::new(Code::BadInput, "the frames of a probe are of several sessions"));
        }
        let events = adapter.decode(frame, &kept.memory)?.events;
        let decided = runtime.probe(&project, &session, events)?.unwrap_or_default();
        answers.push(decided.into_iter().max_by_key(|decision| decision.effect).unwrap_or_else(Decision::allow));
    }
    Ok(answers)
}

/// A decision as the plugin is reported.
#[derive(Debug, serde::Serialize)]
pub(crate) struct Probed {
    effect: Effect,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<Code>,
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
}

impl From<Decision> for Probed {
    fn from(decision: Decision) -> Self {
        Self { effect: decision.effect, code: decision.code, reason: decision.reason }
    }
}
