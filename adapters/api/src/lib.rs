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
pub mod playback;
pub mod refusal;
pub mod capability;
pub mod client;
pub mod table;
pub mod adapter;
pub mod guard;
pub mod text;
#[cfg(feature = "guarded")]
pub mod guarded;

pub use adapter::{Adapter, Registered};
pub use capability::{Ability, Capabilities};
pub use client::client_record::{ClientRecord, RecordPlace, Recorded, RecordedEnd, Said};
pub use client::client_shell::{ClientShell, ShellText};
pub use client::examine::{Diagnostics, ExamineRequest, Examined, Finding, Level, Limit, ModuleTable, SessionTable};
pub use client::install::{
    CHAINED_SHELL, Change, GIVEN_SHELL, InstallRequest, InstallScope, Installer, PROGRAM, Parts, Places, SHELL_NAMES,
    SHELLS, below_home,
};
pub use client::permission::{FilePattern, PatternRoot, Permission, PermissionEffect, Selection};
pub use client::program::ClientProgram;
pub use client::session_lines::{SessionLine, SessionLines};
pub use client::settings_shell::SettingsShell;
pub use codec::{Codec, Decoded, NoFrames};
pub use frame::{Frame, Message, Received};
pub use guard::{Guard, Standing, current_session, process_of};
pub use playback::Playback;
pub use problem::Problem;
pub use refusal::{FailureMode, Refusal};
pub use reply::{Output, Reply};
pub use session::{Memory, SessionView};
pub use table::{LimitRow, PlaceTable, Table, ToolRow};
pub use verdict::Verdict;
