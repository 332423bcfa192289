//! Probing through the bridge: what calls would be answered now, as frames of the platform.

use phasegate_adapter::{Adapter, Problem, SessionView};
use phasegate_core::answers::decision::Effect;
use phasegate_core::{Code, Decision};

use phasegate_runtime::driver::open_frame::Opened;
use phasegate_runtime::runtime::Runtime;
use phasegate_runtime::sessions::snapshot::SessionSnapshot;
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::read_last;

/// What each of these frames would be answered if it were the session's next one; the strictest answer to what a frame
/// stands for. Nothing is recorded. In a project that nothing guards, everything is allowed.
///
/// # Errors
///
/// What would keep a frame from being decided; frames of several sessions.
pub(crate) fn probe(runtime: &Runtime, adapter: &dyn Adapter, frames: &[Opened]) -> Result<Vec<Decision>, Problem> {
    let Some(first) = frames.first() else { return Ok(Vec::new()) };
    let message = first.open(adapter)?;
    let project = runtime.project_of(adapter, &first.frame, Some(message))?;
    let last = read_last::<SessionSnapshot>(&FileStore, &project.session_journal(&message.session))?;
    let kept = last.map(|last| last.state).unwrap_or_default();
    let view = SessionView::new(&kept.memory, Some(&kept.session));
    let mut answers = Vec::new();
    for frame in frames {
        let one = frame.open(adapter)?;
        if one.session != message.session {
            return Err(Problem::new(Code::BadInput, "the frames of a probe are of several sessions"));
        }
        let events = adapter.codec().decode(one, &view)?.events;
        let decided = runtime.probe(&project, &message.session, events)?.unwrap_or_default();
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
