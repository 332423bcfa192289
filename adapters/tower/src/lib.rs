//! A layer over tool calls: before the service behind it runs, the call is decided; when it has answered, the outcome is
//! told. It knows no protocol. Whatever keeps a call from being decided denies it.
//!
//! ```
//! use std::convert::Infallible;
//! use std::sync::Arc;
//! use phasegate_adapter::Guard;
//! use phasegate_core::event::Outcome;
//! use phasegate_tower::{Answer, Call, Layer};
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//!
//! # async fn serve(guard: Arc<dyn Guard>) -> Result<(), Infallible> {
//! // A tool is a service from a call to a text, and `ran` says how a call ended by what it answered.
//! let tools = service_fn(|call: Call| async move { Ok::<_, Infallible>(format!("ran {}", call.tool)) });
//! let ran = |_: &String| Outcome::Ok;
//! let guarded = ServiceBuilder::new().layer(Layer::new(guard, ran)).service(tools);
//! match guarded.oneshot(Call::new("session 1", "apply_edit")).await? {
//!     Answer::Ran(text) => println!("{text}"),
//!     Answer::Warned(text, warning) => println!("{text}\n\n{warning}"),
//!     Answer::Denied(denied) => println!("{}", denied.text()),
//! }
//! # Ok(())
//! # }
//! ```

pub mod call;
pub mod layer;

pub use call::{Answer, Call};
pub use layer::{Guarded, Layer, Running};
pub use phasegate_adapter::guarded::Denial;
