//! What every platform adapter implements: native frames to events, verdicts to native replies (rules 6).
//!
//! An adapter is pure: it sees no store, no clock and no config. What it must remember between frames is its
//! [`Memory`], which the runtime keeps with the session's state. An adapter has three parts: a [`Codec`] for frames and
//! replies, an [`Installer`] for settings, and [`Diagnostics`].
//!
//! # A whole adapter
//!
//! ```
#![doc = include_str!("../examples/echo.rs")]
//! ```

pub mod problem;
pub mod strict;
pub mod frame;
pub mod patch;
pub mod reply;
pub mod session;
pub mod verdict;
pub mod codec;
pub mod client_record;
pub mod session_lines;
pub mod client_shell;
pub mod playback;
pub mod refusal;
pub mod capability;
pub mod install;
pub mod settings_shell;
pub mod examine;
pub mod program;
pub mod permission;
pub mod table;
pub mod adapter;
pub mod guard;
pub mod text;
#[cfg(feature = "guarded")]
pub mod guarded;

pub use adapter::{Adapter, Registered};
pub use capability::{Ability, Capabilities};
pub use client_record::{ClientRecord, RecordPlace, Recorded, RecordedEnd, Said};
pub use client_shell::{ClientShell, ShellText};
pub use codec::{Codec, Decoded, NoFrames};
pub use examine::{Diagnostics, ExamineRequest, Examined, Finding, Level, Limit, ModuleTable, SessionTable};
pub use frame::{Frame, Message, Received};
pub use guard::{Guard, Standing, current_session, process_of};
pub use install::{
    CHAINED_SHELL, Change, GIVEN_SHELL, InstallRequest, InstallScope, Installer, PROGRAM, Parts, Places, SHELL_NAMES,
    SHELLS, below_home,
};
pub use permission::{FilePattern, PatternRoot, Permission, PermissionEffect, Selection};
pub use playback::Playback;
pub use problem::Problem;
pub use program::ClientProgram;
pub use refusal::{FailureMode, Refusal};
pub use reply::{Output, Reply};
pub use session::{Memory, SessionView};
pub use session_lines::{SessionLine, SessionLines};
pub use settings_shell::SettingsShell;
pub use table::{LimitRow, PlaceTable, Table, ToolRow};
pub use verdict::Verdict;
