//! Which session a request belongs to: handles, and who they were made for.

use std::collections::HashMap;
use std::sync::Mutex;

use phasegate_adapter::guarded::{GuardedCalls, GuardedSession};
use phasegate_adapter::{Problem, current_session};
use phasegate_core::Code;

use crate::sync::lock;

/// How many bytes a handle has, before it is written in hexadecimal digits.
const HANDLE_BYTES: usize = 16;

/// The sessions that handles stand for, and for whom each handle was made.
#[derive(Default)]
pub(super) struct Handles(Mutex<HashMap<String, GuardedSession>>);

/// The session of a principal who has none of their own. It goes on when this process ends.
pub(super) fn default_of(calls: &GuardedCalls, principal: Option<String>) -> GuardedSession {
    let id = match &principal {
        Some(name) => current_session(calls.guard(), &format!("http-{name}")).0,
        None => calls.process().to_owned(),
    };
    GuardedSession::new(id).of_principal(principal)
}

impl Handles {
    /// A new session of this principal, and its handle.
    ///
    /// # Errors
    ///
    /// The system gives no random numbers, and a handle that can be guessed is none.
    pub(super) fn open(
        &self,
        calls: &GuardedCalls,
        principal: Option<String>,
    ) -> Result<(GuardedSession, String), Problem> {
        let mut bytes = [0_u8; HANDLE_BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|error| Problem::new(Code::Internal, format!("no handle can be made: {error}")))?;
        let handle: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let session = GuardedSession::new(calls.fresh_id()).of_principal(principal);
        lock(&self.0).insert(handle.clone(), session.clone());
        Ok((session, handle))
    }

    /// The session that a handle stands for.
    ///
    /// # Errors
    ///
    /// `bad-input`: it was not made here, or for another principal.
    pub(super) fn find(&self, handle: &str, principal: Option<&str>) -> Result<GuardedSession, Problem> {
        match lock(&self.0).get(handle) {
            Some(session) if session.principal.as_deref() == principal => Ok(session.clone()),
            _ => Err(Problem::new(Code::BadInput, "the call carries a handle that is not known here")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use phasegate_adapter::Guard;
    use phasegate_core::{Event, Outcome};

    use super::*;

    struct Never;

    #[async_trait]
    impl Guard for Never {
        async fn handle(&self, _: &str, _: Event) -> Result<Outcome, Problem> {
            Err(Problem::new(Code::Internal, "it is not asked"))
        }
    }

    #[test]
    fn a_handle_is_its_makers_alone() {
        let (handles, calls) = (Handles::default(), GuardedCalls::new(Arc::new(Never), "mcp"));
        let (session, handle) = handles.open(&calls, Some("ann".into())).unwrap();
        assert_eq!(handles.find(&handle, Some("ann")), Ok(session));
        assert!(handles.find(&handle, Some("bob")).is_err());
        assert!(handles.find(&handle, None).is_err());
        assert!(handles.find("0", Some("ann")).is_err());
        assert_ne!(default_of(&calls, Some("ann".into())).id, default_of(&calls, None).id);
    }
}
