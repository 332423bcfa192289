//! The subcommands.

pub mod access;
pub mod activate;
pub mod adapters;
pub mod allow;
pub mod approve;
pub mod audit;
pub mod check;
pub mod completions;
pub mod confine;
pub mod control;
pub mod deactivate;
pub mod doctor;
pub mod end;
pub mod explain;
pub mod gc;
pub mod hook;
pub mod init;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod mode;
pub mod plan;
pub mod reload;
pub mod repair;
pub mod replay;
pub mod restore;
pub mod rules;
pub mod safety;
pub mod schema;
pub mod serve;
pub mod shell;
pub mod skill;
pub mod skip;
pub mod status;
mod step_line;
pub mod workflow;

use std::process::ExitCode;

use clap::Subcommand;

use crate::context::Context;
use crate::output::Failure;

/// Declares the subcommands: the help of each, its name, the module that holds its arguments and runs it, and how that
/// is called where it answers with an exit code of its own.
macro_rules! commands {
    ($($(#[doc = $help:literal])+ $(#[cfg($condition:meta)])? $name:ident($module:ident) $(=> $run:expr)?;)+) => {
        /// What to do.
        #[derive(Debug, Subcommand)]
        pub enum Command {
            $($(#[doc = $help])+ $(#[cfg($condition)])? $name($module::Args),)+
        }

        impl Command {
            /// Does it.
            ///
            /// # Errors
            ///
            /// It could not be done.
            pub fn run(self, context: &Context) -> Result<ExitCode, Failure> {
                match self {
                    $($(#[cfg($condition)])? Self::$name(args) => run!(args, context, $module $(, $run)?),)+
                }
            }
        }
    };
}

macro_rules! run {
    ($args:ident, $context:ident, $module:ident) => {
        $module::run(&$args, $context).map(ExitCode::from)
    };
    ($args:ident, $context:ident, $module:ident, $run:expr) => {
        Ok($run($args, $context))
    };
}

commands! {
    /// Guard a project: write its config and install phasegate into the platforms used there
    Init(init);
    /// Answer one message of a platform, from standard input to standard output
    Hook(hook) => |args: hook::Args, _| hook::run(&args.platform, args.audit_log, args.confirm);
    /// Answer the messages of a platform's plugin, line by line, until its client ends
    Serve(serve) => |args, _| serve::run(args);
    /// Guard MCP servers, or serve the skill tools over MCP
    #[cfg(feature = "mcp")]
    Mcp(mcp);
    /// Put a skill in force for the project, or begin it in one session
    Activate(activate);
    /// End a skill, for the project or in one session
    Deactivate(deactivate);
    /// Approve what a skill's condition asks for
    Approve(approve);
    /// Let the call pass once that was denied last
    Allow(allow);
    /// Skip to the next phase of a skill, even if the current one is not done
    Skip(skip);
    /// Change the mode of an active skill
    Mode(mode);
    /// Set what calls may do at all, for every session of the project
    Access(access);
    /// Begin and end plan mode, and approve its plan
    Plan(plan);
    /// Show the current phase of each session of a project
    Status(status);
    /// Show, begin, follow, steer and write skills
    Skill(skill);
    /// Begin, follow and steer runs that belong to the project and outlive its sessions
    Workflow(workflow);
    /// Show and register what commands of programs do, and let agents classify programs
    Safety(safety);
    /// Show, check and explain the rules over calls
    Rules(rules);
    /// Check that the guard works here, and list what it cannot do
    Doctor(doctor);
    /// Read, export, verify and explain the journals of a project
    Audit(audit);
    /// Apply the current configs to live sessions
    Reload(reload);
    /// Go on where a journal is damaged or gone: set it aside, by what a person says was active
    Repair(repair);
    /// Put back files that calls changed against the rules of a phase or of the guard, or accept them
    Restore(restore);
    /// End a session whose client is gone
    End(end);
    /// Remove old state of ended sessions, in every project
    Gc(gc);
    /// Find errors in configs
    Check(check);
    /// Explain a code and its remedy
    Explain(explain);
    /// Step a transcript through the engine, one output a line, with the configs of the project
    Replay(replay);
    /// Print a JSON Schema
    Schema(schema);
    /// Analyse a shell command without running it
    Shell(shell);
    /// Run a command so that it keeps no change, or none to certain folders
    Confine(confine) => confine::run;
    /// List the platforms of this build and what each can enforce
    Adapters(adapters);
    /// Print a completion script for a shell
    Completions(completions);
}
