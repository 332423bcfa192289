//! phasegate-core: the decision, and nothing else.
//!
//! One pure function, [`step`], decides an event; [`State::apply`] applies the changes that it answers.
//! No files, no clock, no randomness, no async: the crate has no `std` to reach them with.
//! The modules are listed in reading order.
//!
//! # One decision
//!
//! A skill asks for a look at the code before an edit. The edit is denied until the look has succeeded.
//!
//! ```
//! use phasegate_core::{Code, Effect, Event, Facts, Policy, State, step};
//! use serde_json::{Value, json};
//!
//! let tool = |name: &str| json!({"text": name, "tool": {"exact": name}, "server": "bare"});
//! let looked = json!({"call": {"atom": 0, "wanted": {"outcome": "ok"}, "matcher": tool("Read")}});
//! let phase = |name: &str, allowed: Value, done_when: Value, next: Value| {
//!     json!({
//!         "name": name, "do": "", "allowed": [allowed], "forbidden": [], "requires": null,
//!         "done_when": done_when, "optional": "no", "leave": "on_call", "next": next, "back": [],
//!     })
//! };
//! let skill = json!({
//!     "name": "look-first", "description": "Look, then edit.", "version": "1", "seed": false, "mode": "block",
//!     "scope": "session", "unlisted": "read_only", "leave_skill": "finished", "servers": [], "tools": [],
//!     "global_forbidden": [],
//!     "phases": [
//!         phase("look", tool("Read"), looked, json!([{"to": 1}])),
//!         phase("edit", tool("Edit"), Value::Null, json!([])),
//!     ],
//! });
//! // `phasegate-config` compiles such a policy from YAML.
//! let policy: Policy = serde_json::from_value(json!({"version": "1", "skills": [skill]}))?;
//!
//! let mut state = State::default();
//! let mut play = |event: Value| -> Result<_, String> {
//!     let outcome = step(&policy, &state, &Event::from_value(event)?, &Facts::new());
//!     outcome.apply_to(&mut state); // a journal stores `outcome.changes` first
//!     Ok(outcome.decision)
//! };
//! play(json!({"event": "skill", "name": "look-first", "by": "human"}))?;
//!
//! let edit = json!({"event": "tool_call", "id": "1", "tool": "Edit", "input": {"file_path": "a.rs"}});
//! let denied = play(edit.clone())?.ok_or("a call is decided")?;
//! assert_eq!((denied.effect, denied.code), (Effect::Deny, Some(Code::NotDone)));
//! assert_eq!(denied.missing, ["ok: Read"]);
//!
//! play(json!({"event": "tool_call", "id": "2", "tool": "Read", "input": {}}))?;
//! play(json!({"event": "tool_result", "id": "2", "outcome": "ok"}))?;
//! let allowed = play(edit)?.ok_or("a call is decided")?;
//! assert_eq!((allowed.effect, allowed.phase.as_deref()), (Effect::Allow, Some("edit")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![no_std]
extern crate alloc;

mod step;
mod prelude;
pub mod values;
pub mod calls;
pub mod shell;
pub mod evidence;
pub mod policy;
pub mod rules;
pub mod state;
#[deny(clippy::wildcard_enum_match_arm, reason = "a new case must break the build, not the behaviour")]
pub mod decide;
pub mod runs;
mod gates;
pub mod answers;
pub mod commands;
pub mod events;

pub use answers::code::Code;
pub use answers::decision::{Confined, Decision, Effect, Gate};
pub use answers::denial::{Denial, DenialKind};
pub use answers::phrase::effect_in_words;
pub use answers::reason::DenialReason;
pub use commands::control::COMMANDS;
pub use commands::run_status::files_made;
pub use decide::judge::confined::{holding, requires_hold};
pub use events::event::{Event, EventKind};
pub use evidence::fact::{Fact, FactKey, FactValue, Facts};
pub use gates::gates;
pub use policy::Policy;
pub use rules::rule_request::is_secret_path;
pub use runs::tree::above;
pub use shell::command_view::{WORDS as EFFECTS, rows_of_word};
pub use state::State;
pub use state::change::{Change, Durability};
pub use state::record::{Record, records};
pub use step::{Outcome, RunPosition, step};
