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

pub mod canonical;
pub mod older;
pub mod fact_part;
pub mod rules_seen;
pub mod redacted;
pub mod status;
mod mode;
mod scope;
pub mod forbidden_change;
pub mod analysis;
pub mod tool;
pub mod builtin_tools;
pub mod outcome;
pub mod cause;
pub mod glob;
pub mod one_line;
pub mod shell_word;
pub mod input;
pub mod runner;
pub mod test_report;
pub mod words;
pub mod prose;
pub mod common;
pub mod matcher;
pub mod object;
mod parts;
pub mod fact;
pub mod fact_test;
pub mod content;
pub mod format;
pub mod artifact;
pub mod plan;
pub mod same_line;
pub mod steps;
pub mod condition;
pub mod access;
pub mod budget;
pub mod by_version;
pub mod rule_fact;
pub mod rules;
mod child_runs;
pub mod policy;
mod phrase;
pub mod doubt;
pub mod redaction;
pub mod reported;
pub mod code;
pub mod reason;
#[deny(clippy::wildcard_enum_match_arm, reason = "a new case must break the build, not the behaviour")]
pub mod decide;
pub mod decision;
pub mod safety;
pub mod pins;
pub mod counted_calls;
pub mod open_call;
pub mod asked;
pub mod shared_list;
pub mod state;
pub mod classifier;
pub mod event;
pub mod proved;
pub mod change;
mod elements;
mod tallies;
mod apply;
pub mod record;
mod draft;
mod asked_conditions;
mod eval;
mod missing;
mod graph;
#[deny(clippy::wildcard_enum_match_arm, reason = "a new case must break the build, not the behaviour")]
mod judge;
#[deny(clippy::wildcard_enum_match_arm, reason = "a new case must break the build, not the behaviour")]
mod moves;
mod tree;
mod waves;
mod children;
mod settle;
#[deny(clippy::wildcard_enum_match_arm, reason = "a new case must break the build, not the behaviour")]
mod branch_start;
mod run_verdict;
mod holding;
mod subject;
pub mod ruled;
pub mod denial;
mod rendering;
mod activation;
pub mod import;
mod in_force;
mod permitting;
mod spending;
mod gate;
mod command_view;
mod rule_request;
mod facts_of_parts;
mod earlier_calls;
mod reach;
mod start;
mod suggested;
mod stopped;
mod remedy;
mod hindered;
mod gates;
mod pinning;
mod question;
mod shown;
mod approving;
mod registering;
mod observe;
pub mod said;
mod finish;
mod denied;
mod approved;
mod call;
pub mod effects;
mod inheritance;
mod new_run;
mod npm;
pub mod slash_command;
pub mod inputs;
mod deprecated;
mod early_gate;
mod plan_notice;
mod run_status;
mod arguments;
mod meant;
mod steering;
mod halting;
pub mod rule_report;
mod completed;
mod obligation;
mod directive;
mod control;
mod managing;
mod own_action;
mod rules_said;
mod step;

pub use change::{Change, Durability};
pub use code::Code;
pub use command_view::WORDS as EFFECTS;
pub use control::COMMANDS;
pub use decision::{Confined, Decision, Effect, Gate};
pub use denial::{Denial, DenialKind};
pub use event::{Event, EventKind};
pub use fact::{Fact, FactKey, FactValue, Facts};
pub use gates::gates;
pub use judge::confined::{holding, requires_hold};
pub use phrase::effect_in_words;
pub use policy::Policy;
pub use reason::DenialReason;
pub use record::{Record, records};
pub use rule_request::is_secret_path;
pub use run_status::files_made;
pub use state::State;
pub use step::{Outcome, RunPosition, step};
pub use tree::above;
