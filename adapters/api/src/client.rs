//! What an adapter says of its client: its program, records, shell and settings.

pub mod program;
pub mod permission;
pub mod client_record;
pub mod client_shell;
pub mod settings_shell;
pub mod session_lines;
pub mod examine;
pub mod install;
