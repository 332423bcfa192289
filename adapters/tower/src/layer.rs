//! The layer, and the service that it makes.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use phasegate_adapter::Guard;
use phasegate_adapter::guarded::{GuardedCalls, GuardedSession};
use phasegate_core::events::event::CallOutcome;
use tower_service::Service;

use crate::asking;
use crate::call::{Answer, Call};
use crate::unended::Unended;

/// Puts the guard before services that run tool calls. All services of a layer share what it knows of sessions.
///
/// `ended` says how a call ended, by what the service answered: a result that says of itself that it is an error is
/// [`CallOutcome::Failed`], and proves nothing that wants success. A service that fails altogether is [`CallOutcome::Failed`] too.
pub struct Layer<E> {
    calls: Arc<GuardedCalls>,
    ended: E,
}

impl<E> Layer<E> {
    /// A layer that asks this guard.
    pub fn new(guard: Arc<dyn Guard>, ended: E) -> Self {
        Self { calls: Arc::new(GuardedCalls::new(guard, "tower")), ended }
    }

    /// Records the end of a session. A later call under its id begins a new one.
    pub async fn end(&self, session: &str) {
        self.calls.end(&GuardedSession::new(session)).await;
    }
}

impl<E: Clone> Clone for Layer<E> {
    fn clone(&self) -> Self {
        Self { calls: Arc::clone(&self.calls), ended: self.ended.clone() }
    }
}

impl<E> std::fmt::Debug for Layer<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Layer").finish_non_exhaustive()
    }
}

impl<S, E: Clone> tower_layer::Layer<S> for Layer<E> {
    type Service = Guarded<S, E>;

    fn layer(&self, inner: S) -> Self::Service {
        Guarded { layer: self.clone(), inner }
    }
}

/// A service of tool calls, each of which is decided before it runs.
#[derive(Debug)]
pub struct Guarded<S, E> {
    layer: Layer<E>,
    inner: S,
}

impl<S: Clone, E: Clone> Clone for Guarded<S, E> {
    fn clone(&self) -> Self {
        Self { layer: self.layer.clone(), inner: self.inner.clone() }
    }
}

/// A call that has not ended.
pub type Running<R, E> = Pin<Box<dyn Future<Output = Result<Answer<R>, E>> + Send>>;

impl<S, E> Service<Call> for Guarded<S, E>
where
    S: Service<Call> + Clone + Send + 'static,
    S::Response: Send,
    S::Error: Send,
    S::Future: Send,
    E: Fn(&S::Response) -> CallOutcome + Clone + Send + Sync + 'static,
{
    type Response = Answer<S::Response>;
    type Error = S::Error;
    type Future = Running<S::Response, S::Error>;

    /// Ready when the service behind is: a call that is let through runs without waiting again.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, call: Call) -> Self::Future {
        // The service that said it is ready is the one that runs; what stays behind has said nothing yet.
        let next = self.inner.clone();
        let mut ready = std::mem::replace(&mut self.inner, next);
        let layer = self.layer.clone();
        Box::pin(async move {
            let admitted = match asking::decide(&layer.calls, &call, None).await {
                Ok(admitted) => admitted,
                Err(denied) => return Ok(Answer::Denied(Box::new(denied))),
            };
            let warning = admitted.warning.clone();
            let unended = Unended::new(layer.calls, admitted);
            let answer = ready.call(call).await;
            unended.end(answer.as_ref().map_or(CallOutcome::Failed, &layer.ended)).await;
            answer.map(|answer| match warning {
                Some(warning) => Answer::Warned(answer, warning),
                None => Answer::Ran(answer),
            })
        })
    }
}
