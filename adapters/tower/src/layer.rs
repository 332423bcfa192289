//! The layer, and the service that it makes.

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{SystemTime, UNIX_EPOCH};

use futures_util::FutureExt as _;
use futures_util::lock::Mutex;
use phasegate_adapter::{Guard, Problem, text};
use phasegate_core::event::{Outcome, SessionSource};
use phasegate_core::{Code, Effect, Event, EventKind, Step};
use tower_service::Service;

use crate::call::{Answer, Call, Denied};

/// Puts the guard before services that run tool calls. All services of a layer share what it knows of sessions.
///
/// `ended` says how a call ended, by what the service answered: a result that says of itself that it is an error is
/// [`Outcome::Failed`], and proves nothing that wants success. A service that fails altogether is [`Outcome::Failed`] too.
pub struct Layer<E> {
    shared: Arc<Shared>,
    ended: E,
}

/// How a call runs.
struct Passed {
    /// Whether its outcome is told.
    told: bool,
    /// What the agent is told beside the answer.
    warning: Option<String>,
}

struct Shared {
    guard: Arc<dyn Guard>,
    begun: Mutex<HashSet<String>>,
    process: String,
    next: AtomicU64,
}

impl<E> Layer<E> {
    /// A layer that asks this guard.
    pub fn new(guard: Arc<dyn Guard>, ended: E) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let process = format!("tower-{}-{}", std::process::id(), since.as_nanos());
        Self { shared: Arc::new(Shared { guard, begun: Mutex::default(), process, next: AtomicU64::new(0) }), ended }
    }

    /// Tells the guard that a session is over. A later call under its id begins a new one.
    pub async fn end(&self, session: &str) {
        if self.shared.begun.lock().await.remove(session) {
            // Nobody is left to be told; a session that does not end is one that is silent.
            drop(self.shared.handle(Event::new(session, EventKind::SessionEnd {})).await);
        }
    }
}

impl<E: Clone> Clone for Layer<E> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), ended: self.ended.clone() }
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

/// A call under way.
pub type Running<R, E> = Pin<Box<dyn Future<Output = Result<Answer<R>, E>> + Send>>;

impl<S, E> Service<Call> for Guarded<S, E>
where
    S: Service<Call> + Clone + Send + 'static,
    S::Response: Send,
    S::Error: Send,
    S::Future: Send,
    E: Fn(&S::Response) -> Outcome + Clone + Send + Sync + 'static,
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
            let id = layer.shared.id();
            let passed = match layer.shared.decide(&call, &id).await {
                Ok(passed) => passed,
                Err(denied) => return Ok(Answer::Denied(Box::new(denied))),
            };
            let asked = passed.told.then(|| call.clone());
            let answer = ready.call(call).await;
            if let Some(call) = asked {
                let outcome = answer.as_ref().map_or(Outcome::Failed, &layer.ended);
                layer.shared.outcome(&call, id, outcome).await;
            }
            answer.map(|answer| match passed.warning {
                Some(warning) => Answer::Warned(answer, warning),
                None => Answer::Ran(answer),
            })
        })
    }
}

impl Shared {
    fn id(&self) -> String {
        format!("{}-{}", self.process, self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Hands one event to the guard. A guard that panics has failed, and no more.
    async fn handle(&self, event: Event) -> Result<Step, Problem> {
        let session = event.session.clone();
        let handled = AssertUnwindSafe(self.guard.handle(&session, event)).catch_unwind().await;
        handled.unwrap_or_else(|_| Err(Problem::new(Code::Internal, "the guard failed while it decided")))
    }

    /// How the call runs, or why it does not. In a project that nothing guards it runs and nobody is told.
    async fn decide(&self, call: &Call, id: &str) -> Result<Passed, Denied> {
        let step = match self.begin(call).await {
            Ok(()) => self.handle(call.event(id)).await,
            Err(problem) => Err(problem),
        };
        match step {
            Ok(step) => match step.decision {
                Some(decision) if decision.lets_through() => {
                    let warns = decision.effect == Effect::Warn;
                    let warning = warns.then(|| text::warning(&decision, |tool, _| tool.to_owned()));
                    Ok(Passed { told: true, warning })
                }
                Some(decision) => Err(Denied::Decision(decision)),
                None => Err(Denied::Problem(Problem::new(Code::Internal, "the call was not decided"))),
            },
            Err(problem) if problem.code == Code::PolicyMissing && self.unguarded().await => {
                Ok(Passed { told: false, warning: None })
            }
            Err(problem) => Err(Denied::Problem(problem)),
        }
    }

    async fn unguarded(&self) -> bool {
        AssertUnwindSafe(self.guard.unguarded()).catch_unwind().await.unwrap_or(false)
    }

    /// Sees to it that the guard knows of the session before its first call.
    async fn begin(&self, call: &Call) -> Result<(), Problem> {
        let mut begun = self.begun.lock().await;
        if !begun.contains(&call.session) {
            let start = EventKind::SessionStart { source: SessionSource::Startup, parent: None };
            drop(self.handle(call.wrap(start)).await?);
            begun.insert(call.session.clone());
        }
        Ok(())
    }

    /// An outcome that cannot be recorded proves nothing; the answer itself is the service's, and goes out.
    async fn outcome(&self, call: &Call, id: String, outcome: Outcome) {
        let kind = EventKind::ToolResult {
            id: Some(id),
            outcome: Some(outcome),
            ok: None,
            exit_code: None,
            output: None,
            tool: Some(call.tool.clone()),
            input: None,
        };
        drop(self.handle(call.wrap(kind)).await);
    }
}
