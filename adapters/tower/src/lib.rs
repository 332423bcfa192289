//! A layer over tool calls: the guard decides each call before the service behind the layer runs, and records how it ended.
//! The layer knows no protocol. Whatever keeps a call from being decided denies it.
//!
//! A whole service, guarded, that is called three times:
//!
//! ```
//! use std::convert::Infallible;
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! use async_trait::async_trait;
//! use phasegate_tower::{
//!     Answer, Call, CallOutcome, Decision, Effect, Event, EventKind, Guard, Layer, Outcome, Problem,
//! };
//! use tower::{Service, ServiceBuilder, ServiceExt, service_fn};
//!
//! /// Denies `delete` until a `search` has succeeded. A real service asks the guard of its project:
//! /// `phasegate_guard::project(&folder)?`.
//! #[derive(Default)]
//! struct SearchFirst(AtomicBool);
//!
//! #[async_trait]
//! impl Guard for SearchFirst {
//!     async fn handle(&self, _session: &str, event: Event) -> Result<Outcome, Problem> {
//!         let decision = match &event.kind {
//!             EventKind::ToolCall { tool, .. } if tool == "delete" && !self.0.load(Ordering::Relaxed) => Some(Decision {
//!                 effect: Effect::Deny,
//!                 reason: "nothing was searched yet".into(),
//!                 recovery: "call `search`".into(),
//!                 ..Decision::allow()
//!             }),
//!             EventKind::ToolCall { .. } => Some(Decision::allow()),
//!             EventKind::ToolResult { outcome: Some(CallOutcome::Ok), tool: Some(tool), .. } if tool == "search" => {
//!                 self.0.store(true, Ordering::Relaxed);
//!                 None
//!             }
//!             _ => None,
//!         };
//!         Ok(Outcome { decision, ..Outcome::default() })
//!     }
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Infallible> {
//!     // A tool is a service from a call to a text. `ended` says by the text how the call ended.
//!     let tools = service_fn(|call: Call| async move { Ok::<_, Infallible>(format!("ran {}", call.tool)) });
//!     let ended = |text: &String| if text.contains("error") { CallOutcome::Failed } else { CallOutcome::Ok };
//!     let layer = Layer::new(Arc::new(SearchFirst::default()), ended);
//!     let mut guarded = ServiceBuilder::new().layer(layer.clone()).service(tools);
//!
//!     for (tool, runs) in [("delete", false), ("search", true), ("delete", true)] {
//!         let answer = guarded.ready().await?.call(Call::new("session 1", tool)).await?;
//!         assert_eq!(matches!(answer, Answer::Ran(_)), runs);
//!         match answer {
//!             Answer::Ran(text) => println!("{text}"),
//!             Answer::Warned(text, warning) => println!("{text}\n\n{warning}"),
//!             Answer::Denied(denial) => println!("{}", denial.text()),
//!         }
//!     }
//!     layer.end("session 1").await;
//!     Ok(())
//! }
//! ```
#![doc = include_str!("tool_lock.md")]

pub mod call;
pub mod admission;
mod asking;
mod unended;
pub mod layer;
pub mod denied;
mod order;
pub mod tool_lock;
pub mod locked;

pub use admission::{Admission, Admitted, Refusal, Request, Verdict};
pub use call::{Answer, Call};
pub use denied::{AdmissionEvent, StageError, ToolAdmissionDenied};
pub use layer::{Guarded, Layer, Running};
pub use locked::{Admitting, Locked};
pub use phasegate_adapter::guarded::Denial;
pub use phasegate_adapter::{Guard, Problem};
pub use phasegate_core::answers::reason::{DenialReason, Resets};
pub use phasegate_core::calls::tool::Labels;
pub use phasegate_core::events::event::CallOutcome;
pub use phasegate_core::policy::access::{AccessMode, same_version};
pub use phasegate_core::{Code, Decision, Effect, Event, EventKind, Outcome};
pub use tool_lock::{BoxError, MiddlewareStage, Next, ToolLock, ToolLockOptions};
