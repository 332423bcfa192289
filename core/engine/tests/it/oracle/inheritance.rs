//! A session that inherits another's runs gets the same decisions as the other session.

use phasegate_core::state::{Session, Status};
use phasegate_core::{Event, EventKind, Facts, Policy, State, step};

/// Plays the events to one session. Before each call, a fresh session that inherits the first one's runs must decide
/// the call in the same way. Returns the first difference.
pub(crate) fn differ(policy: &Policy, events: &[(Event, Facts)]) -> Option<String> {
    let mut state = State::default();
    for (event, facts) in events.iter().filter(|(event, _)| event.session == "m") {
        // A run of the project is everybody's: only the session's own are copied.
        let live = state.session.runs.iter().filter(|run| run.status == Status::Active);
        let runs: Vec<_> = live.cloned().collect();
        let count = runs.len();
        let fresh =
            State { session: Session { agents: state.session.agents.clone(), ..Session::default() }, ..state.clone() };
        let join = Event::new("copy", EventKind::Join { from: "m".into(), runs });
        let joined = step(policy, &fresh, &join, facts).state_after(&fresh);
        if joined.session.runs.len() != count {
            return Some(format!("{count} runs were copied to {:?}", joined.session.runs));
        }
        let next = step(policy, &state, event, facts);
        if matches!(event.kind, EventKind::ToolCall { .. }) {
            let copy = Event { session: "copy".into(), ..event.clone() };
            let copied = step(policy, &joined, &copy, facts);
            let said = |step: &phasegate_core::Outcome| step.decision.as_ref().map(|is| (is.effect, is.code, is.line));
            // A call under an id that is open already ends that one first, which the copy does not have.
            if state.session.calls.is_empty() && said(&copied) != said(&next) {
                return Some(format!("{}\nthe run {:?}, its copy {:?}", event.to_value(), said(&next), said(&copied)));
            }
        }
        next.apply_to(&mut state);
    }
    None
}
