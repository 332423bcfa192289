//! The subcommands.

pub mod activate;
pub mod adapters;
pub mod approve;
pub mod audit;
pub mod check;
pub mod completions;
pub mod control;
pub mod deactivate;
pub mod doctor;
pub mod explain;
pub mod gc;
pub mod hook;
pub mod init;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod mode;
pub mod reload;
pub mod replay;
pub mod schema;
pub mod serve;
pub mod shell;
pub mod skip;
pub mod status;

use std::process::ExitCode;

use clap::Subcommand;

use crate::context::Context;
use crate::output::Failure;

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Guard a project: write its config and install phasegate into the platforms used there
    Init(init::Args),
    /// Answer one message of a platform, from standard input to standard output
    Hook(hook::Args),
    /// Answer the messages of a platform's plugin, line by line, until its client ends
    Serve(serve::Args),
    /// Guard MCP servers, or serve the skill tools over MCP
    #[cfg(feature = "mcp")]
    Mcp(mcp::Args),
    /// Activate a skill in a session
    Activate(activate::Args),
    /// Deactivate a skill in a session
    Deactivate(deactivate::Args),
    /// Approve what a skill's condition asks for
    Approve(approve::Args),
    /// Skip to the next phase of a skill, even if the current one is not done
    Skip(skip::Args),
    /// Change the mode of an active skill
    Mode(mode::Args),
    /// Show the current phase of each session of a project
    Status(status::Args),
    /// Check that the guard works here, and list what it cannot do
    Doctor(doctor::Args),
    /// Read, export, verify and explain the journals of a project
    Audit(audit::Args),
    /// Apply the current configs to live sessions
    Reload(reload::Args),
    /// Remove old state of ended sessions, in every project
    Gc(gc::Args),
    /// Find errors in configs
    Check(check::Args),
    /// Explain a code and its remedy
    Explain(explain::Args),
    /// Step a transcript through the engine, one output a line; configs are read from `--project` only
    Replay(replay::Args),
    /// Print a JSON Schema
    Schema(schema::Args),
    /// Analyse a shell command without running it
    Shell(shell::Args),
    /// List the platforms of this build and what each can enforce
    Adapters(adapters::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
}

impl Command {
    /// Does it.
    ///
    /// # Errors
    ///
    /// It could not be done.
    pub fn run(self, context: &Context) -> Result<ExitCode, Failure> {
        let exit = match self {
            Self::Init(args) => init::run(&args, context),
            Self::Hook(args) => return Ok(hook::run(&args.platform, args.audit_log, args.confirm)),
            Self::Serve(args) => return Ok(serve::run(args)),
            #[cfg(feature = "mcp")]
            Self::Mcp(args) => mcp::run(args, context),
            Self::Activate(args) => activate::run(&args, context),
            Self::Deactivate(args) => deactivate::run(&args, context),
            Self::Approve(args) => approve::run(&args, context),
            Self::Skip(args) => skip::run(&args, context),
            Self::Mode(args) => mode::run(&args, context),
            Self::Status(args) => status::run(&args, context),
            Self::Doctor(args) => doctor::run(&args, context),
            Self::Audit(args) => audit::run(&args, context),
            Self::Reload(args) => reload::run(&args, context),
            Self::Gc(args) => gc::run(&args, context),
            Self::Check(args) => check::run(&args, context),
            Self::Explain(args) => explain::run(&args, context),
            Self::Replay(args) => replay::run(&args, context),
            Self::Schema(args) => schema::run(&args, context),
            Self::Shell(args) => shell::run(&args, context),
            Self::Adapters(args) => adapters::run(&args, context),
            Self::Completions(args) => completions::run(&args, context),
        };
        exit.map(ExitCode::from)
    }
}
