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
    /// Guard a project: write its config and wire phasegate into the platforms used there
    Init(init::Args),
    /// Answer one message of a platform, from standard input to standard output
    Hook(hook::Args),
    /// Answer the messages of a platform's plugin, line by line, for as long as its client runs
    Serve(serve::Args),
    /// Stand before servers of tools that speak MCP, or be one
    #[cfg(feature = "mcp")]
    Mcp(mcp::Args),
    /// Begin a run of a skill in a session
    Activate(activate::Args),
    /// End the run of a skill in a session
    Deactivate(deactivate::Args),
    /// Approve something that a skill waits for
    Approve(approve::Args),
    /// Leave the current phase of a skill for the next one, done or not
    Skip(skip::Args),
    /// Change what violations of an active skill lead to
    Mode(mode::Args),
    /// Show where the sessions of a project stand
    Status(status::Args),
    /// Say whether the guard is really wired, and what it cannot do
    Doctor(doctor::Args),
    /// Read, export, check and explain the journals of a project
    Audit(audit::Args),
    /// Let sessions under way go by what the configs say now
    Reload(reload::Args),
    /// Remove what sessions that are over left behind, in every project
    Gc(gc::Args),
    /// Find mistakes in configs
    Check(check::Args),
    /// Say what a code means and what to do about it
    Explain(explain::Args),
    /// Step a transcript through the engine, one output a line; configs are read from `--project` only
    Replay(replay::Args),
    /// Print a JSON Schema
    Schema(schema::Args),
    /// Say what a shell line would do, before it runs
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
