//! A call that was admitted and has not ended.

use std::future::Future as _;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use phasegate_adapter::guarded::caught;
use phasegate_core::events::event::CallOutcome;

use crate::admission::{Admission, Admitted};

/// An admitted call until its end is recorded. Who drops it before has cut the call short: it failed in a panic, else it was
/// cancelled.
pub(crate) struct Unended {
    admission: Arc<dyn Admission>,
    admitted: Option<Admitted>,
}

impl Unended {
    pub(crate) fn new(admission: Arc<dyn Admission>, admitted: Admitted) -> Self {
        Self { admission, admitted: Some(admitted) }
    }

    /// Records how the call ended.
    pub(crate) async fn end(mut self, outcome: CallOutcome) {
        if let Some(admitted) = self.admitted.take() {
            self.admission.ended(admitted, outcome).await;
        }
    }
}

impl Drop for Unended {
    fn drop(&mut self) {
        let Some(admitted) = self.admitted.take() else { return };
        let outcome = if std::thread::panicking() { CallOutcome::Failed } else { CallOutcome::Cancelled };
        // Nobody can wait here. The guard of a project takes an event in as it is given; a panic would end the process.
        let mut recorded = pin!(caught(self.admission.ended(admitted, outcome)));
        let _ = recorded.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    }
}
