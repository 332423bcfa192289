//! The program as its users meet it: a process for each command.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "a test says what is wrong by failing"
)]

mod accepted;
mod alarms;
mod allow;
mod approvals;
mod attacks;
mod backtest;
mod starts_by_change;
mod audit;
mod bad_input;
mod bounds;
mod client_shell;
mod clients;
mod cmd;
mod confine;
mod confined;
mod context_size;
mod copilot_cli;
mod doctor;
#[cfg(unix)]
mod drill;
mod effects;
mod end;
mod documents;
mod exits;
mod facts;
mod fail_closed;
mod first_week;
mod formats;
mod gc;
mod hard_links;
mod confined_sessions;
mod hook;
mod in_force;
mod init;
mod init_local;
mod init_parts;
mod init_report;
mod init_shell;
mod journal_size;
mod kappa;
mod killed_tasks;
mod killed_at_every_step;
mod listing;
mod not_in_force;
mod obeyed;
mod panic;
mod person_commands;
mod plan_commands;
mod program_link;
mod project_runs;
mod protection;
mod prove;
mod read_folders;
mod reload;
mod repair;
mod rules;
mod serve;
mod servers;
mod outer;
mod sessions;
mod skill_files;
mod skill;
mod status;
mod store;
mod stress;
mod support;
mod tampering;
mod tasks;
mod transcripts;
mod unchanged;
mod unguarded_session;
mod vs_code;
mod ways_out;
mod weaker;
mod words;
mod workflow;
