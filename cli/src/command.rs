//! The subcommands.

pub mod access;
pub mod adapters;
pub mod advance;
pub mod allow;
pub mod approve;
pub mod audit;
pub mod check;
pub mod completions;
pub mod confine;
pub mod control;
pub mod doctor;
pub mod end;
pub mod explain;
pub mod gc;
pub mod halt;
pub mod hook;
pub mod init;
mod live;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod mode;
pub mod reload;
pub mod repair;
pub mod replay;
pub mod backtest;
pub mod restore;
pub mod resume;
pub mod retry;
pub mod rules;
pub mod safety;
pub mod schema;
pub mod serve;
pub mod shell;
pub mod skill;
pub mod skip;
pub mod start;
pub mod status;
mod step_line;
pub mod why;

use std::process::ExitCode;

use clap::Subcommand;

use crate::context::Context;
use crate::output::Failure;

/// A group of subcommands.
#[derive(Debug)]
pub struct Group {
    /// What it is for.
    pub title: &'static str,
    /// The name and the help of each.
    pub commands: &'static [(&'static str, &'static str)],
}

/// Declares the subcommands in groups: the help of each, its name, the module that holds its arguments and runs it, and how
/// that is called where it answers with an exit code of its own.
macro_rules! commands {
    ($($group:literal: {
        $($(#[doc = $help:literal])+ $(#[cfg($condition:meta)])? $name:ident($module:ident) $(=> $run:expr)?;)+
    })+) => {
        /// What to do.
        #[derive(Debug, Subcommand)]
        pub enum Command {
            $($($(#[doc = $help])+ $(#[cfg($condition)])? $name($module::Args),)+)+
        }

        impl Command {
            /// The subcommands by group. The first group is what a person needs each day.
            pub const GROUPS: &'static [Group] = &[
                $(Group {
                    title: $group,
                    commands: &[$($(#[cfg($condition)])? (stringify!($module), concat!($($help),+)),)+],
                },)+
            ];

            /// Does it.
            ///
            /// # Errors
            ///
            /// It could not be done.
            pub fn run(self, context: &Context) -> Result<ExitCode, Failure> {
                match self {
                    $($($(#[cfg($condition)])? Self::$name(args) => run!(args, context, $module $(, $run)?),)+)+
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
    "Every day": {
        /// Begin a skill: a run of the project, of each session, or of one
        Start(start);
        /// Show where each session stands, or a run, a plan, what the agent has to do next
        Status(status);
        /// Explain the last denial, and what you can do about it; or any call
        Why(why);
        /// Approve what a skill's condition or a question asks for, reject it, or list what waits
        Approve(approve);
        /// Let the call pass once that was denied last
        Allow(allow);
        /// Leave the phase of a run, done or not; or pass over a phase that is still to come, or a task
        Skip(skip);
        /// End a run, or a session whose client is gone
        End(end);
        /// Find errors in configs
        Check(check);
    }
    "A run, besides": {
        /// Have a run go on to its next phase, or to the phase named: what lies before counts as done
        Advance(advance);
        /// Have a task of a run begun anew
        Retry(retry);
        /// Have a run stand still, with all its parts
        Halt(halt);
        /// Have a halted run go on, and print what to do next
        Resume(resume);
        /// Change the mode of an active skill
        Mode(mode);
        /// Set what calls may do at all, for every session of the project
        Access(access);
        /// Put back files that calls changed against the rules of a phase or of the guard, or accept them
        Restore(restore);
    }
    "Set up and keep": {
        /// Guard a project: write its config and install phasegate into the platforms used there
        Init(init);
        /// Check that the guard works here, and list what it cannot do
        Doctor(doctor);
        /// Apply the current configs to live sessions
        Reload(reload);
        /// Go on where a journal is damaged or gone: set it aside, by what a person says was active
        Repair(repair);
        /// Remove old state of ended sessions, in every project
        Gc(gc);
        /// Read, export and verify the journals of a project
        Audit(audit);
        /// List the platforms of this build and what each can enforce
        Adapters(adapters);
        /// Print a completion script for a shell
        Completions(completions);
    }
    "Write policies": {
        /// Show and write skills
        Skill(skill);
        /// Show, check and explain the rules over calls
        Rules(rules);
        /// Show and register what commands of programs do, and let agents classify programs
        Safety(safety);
        /// Explain a code and its remedy
        Explain(explain);
        /// Step a transcript through the engine, one output a line, with the configs of the project
        Replay(replay);
        /// Play recorded sessions through the configs, and report what they would have stopped
        Backtest(backtest);
        /// Analyse a shell command without running it
        Shell(shell);
        /// Print a JSON Schema
        Schema(schema);
        /// Run a command so that it keeps no change, or none to certain folders
        Confine(confine) => confine::run;
    }
    "For clients": {
        /// Answer one message of a platform, from standard input to standard output
        Hook(hook) => |args: hook::Args, _| hook::run(&args.platform, args.audit_log, args.confirm);
        /// Answer the messages of a platform's plugin, line by line, until its client ends
        Serve(serve) => |args, _| serve::run(args);
        /// Guard MCP servers, or serve the skill tools over MCP
        #[cfg(feature = "mcp")]
        Mcp(mcp);
    }
}
