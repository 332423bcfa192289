//! The tool lock as a layer, and the service that it makes.

use std::pin::Pin;
use std::task::{Context, Poll};

use phasegate_core::events::event::CallOutcome;
use tower_service::Service;

use crate::admission::Request;
use crate::call::Call;
use crate::denied::StageError;
use crate::tool_lock::ToolLock;

impl<S, E: Clone> tower_layer::Layer<S> for ToolLock<E> {
    type Service = Locked<S, E>;

    fn layer(&self, inner: S) -> Self::Service {
        Locked { lock: self.clone(), inner }
    }
}

/// A service of tool calls behind a [`ToolLock`].
#[derive(Clone, Debug)]
pub struct Locked<S, E> {
    lock: ToolLock<E>,
    inner: S,
}

/// A call that has not ended.
pub type Admitting<R, E> = Pin<Box<dyn Future<Output = Result<R, StageError<E>>> + Send>>;

impl<S, E> Service<Request> for Locked<S, E>
where
    S: Service<Call> + Clone + Send + 'static,
    S::Response: Send + Sync,
    S::Error: Send + Sync,
    S::Future: Send,
    E: Fn(&S::Response) -> CallOutcome + Clone + Send + Sync + 'static,
{
    type Response = S::Response;
    type Error = StageError<S::Error>;
    type Future = Admitting<S::Response, S::Error>;

    /// Ready when the service behind is: a call that is admitted runs without waiting again.
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context).map_err(StageError::Next)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        // The service that said it is ready is the one that runs; what stays behind has said nothing yet.
        let next = self.inner.clone();
        let mut ready = std::mem::replace(&mut self.inner, next);
        let lock = self.lock.clone();
        Box::pin(async move {
            let call = request.call.clone();
            lock.run(request, || ready.call(call)).await
        })
    }
}
