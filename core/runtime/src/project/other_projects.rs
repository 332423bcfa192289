//! Calls in projects that nothing guards: they may not change what guards others (rules 4.1).

use phasegate_adapter::{Adapter, Problem, SessionView};
use phasegate_core::{Code, Event, EventKind};

use crate::analysis::{self, Shell};
use crate::bounds;
use crate::driver::open_frame::Opened;
use crate::project::Project;
use crate::runtime::Runtime;
use crate::sessions::lineage::Origin;
use crate::sessions::outer_sessions;

/// Why the frame is refused; `None` for a frame that leaves other projects' guard alone, or where no project is guarded.
pub fn refused(runtime: &Runtime, adapter: &dyn Adapter, opened: &Opened, project: &Project) -> Option<Problem> {
    let message = opened.message()?;
    if !runtime.locations.state.join("projects").exists() {
        return None;
    }
    let decoded = match adapter.codec().decode(message, &SessionView::empty()) {
        Ok(decoded) => decoded,
        Err(problem) => return speaks_of_guarded(runtime, opened).then_some(problem),
    };
    let held = |outer: &[String]| {
        let calls = decoded.events.iter().cloned().map(|mut event| {
            analysis::read_line(&mut event, &Shell::default(), &project.root, &|| None);
            event
        });
        calls.into_iter().find_map(|event| outer_sessions::held(&runtime.locations, outer, &event))
    };
    let names = adapter.installer().places().session_variables;
    let origin = Origin::of(names, &opened.frame, &decoded.events, &message.session, &mut Vec::new());
    let outer = outer_sessions::named(&origin, &runtime.locations, project);
    if let Some(problem) = held(&outer) {
        return Some(problem);
    }
    decoded.events.into_iter().find_map(|event| forbidden(runtime, event, project))
}

/// Whether an unreadable frame names a protected path of another project: it may change everything that it names.
pub fn speaks_of_guarded(runtime: &Runtime, opened: &Opened) -> bool {
    let text = String::from_utf8_lossy(&opened.frame.bytes);
    runtime.locations.state.join("projects").exists() && runtime.protected(None, &[]).spoken_of(&text).is_some()
}

/// As [`refused`], of one event.
pub fn forbidden(runtime: &Runtime, mut event: Event, project: &Project) -> Option<Problem> {
    if !runtime.locations.state.join("projects").exists() {
        return None;
    }
    if let Err(problem) = bounds::check(&event) {
        return Some(problem);
    }
    analysis::complete(&mut event, &project.root, &Shell::default(), &|| runtime.protected(None, &[]), &|| None);
    let EventKind::ToolCall { tool, analysis, .. } = &event.kind else { return None };
    let guarded = analysis.guarded.first()?;
    let message = format!(
        "{tool} would change `{}`, and other projects are guarded by that; this project is not, so nothing was recorded",
        guarded.path
    );
    Some(Problem::new(Code::SelfProtection, message))
}
