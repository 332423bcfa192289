//! The subcommands.

/// Declares the parts of a command: the help of each, its name, and the module that holds its arguments and runs it.
macro_rules! parts {
    ($($(#[doc = $help:literal])+ $name:ident($module:ident);)+) => {
        /// The arguments.
        #[derive(Debug, clap::Args)]
        pub struct Args {
            /// What to do.
            #[command(subcommand)]
            part: Part,
        }

        #[derive(Debug, clap::Subcommand)]
        enum Part {
            $($(#[doc = $help])+ $name($module::Args),)+
        }

        /// Does it.
        ///
        /// # Errors
        ///
        /// It could not be done.
        pub fn run(
            args: &Args,
            context: &crate::context::Context,
        ) -> Result<crate::exit::Exit, crate::output::Failure> {
            match &args.part {
                $(Part::$name(args) => $module::run(args, context),)+
            }
        }
    };
}

pub mod runs;
pub mod keep;
pub mod policies;
pub mod clients;

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
        $($(#[doc = $help:literal])+ $(#[cfg($condition:meta)])? $name:ident($folder:ident::$module:ident) $(=> $run:expr)?;)+
    })+) => {
        /// What to do.
        #[derive(Debug, Subcommand)]
        pub enum Command {
            $($($(#[doc = $help])+ $(#[cfg($condition)])? $name($folder::$module::Args),)+)+
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
                    $($($(#[cfg($condition)])? Self::$name(args) => run!(args, context, $folder::$module $(, $run)?),)+)+
                }
            }
        }
    };
}

macro_rules! run {
    ($args:ident, $context:ident, $folder:ident::$module:ident) => {
        $folder::$module::run(&$args, $context).map(ExitCode::from)
    };
    ($args:ident, $context:ident, $folder:ident::$module:ident, $run:expr) => {
        Ok($run($args, $context))
    };
}

commands! {
    "Every day": {
        /// Begin a skill: a run of the project, of each session, or of one
        Start(runs::start);
        /// Show where each session stands, or a run, a plan, what the agent has to do next
        Status(runs::status);
        /// Explain the last denial, and what you can do about it; or any call
        Why(runs::why);
        /// Approve what a skill's condition or a question asks for, reject it, or list what waits
        Approve(runs::approve);
        /// Let the call pass once that was denied last
        Allow(runs::allow);
        /// Leave the phase of a run, done or not; or pass over a phase that is still to come, or a task
        Skip(runs::skip);
        /// End a run, or a session whose client is gone
        End(runs::end);
        /// Find errors in configs
        Check(policies::check);
    }
    "A run, besides": {
        /// Have a run go on to its next phase, or to the phase named: what lies before counts as done
        Advance(runs::advance);
        /// Have a task of a run begun anew
        Retry(runs::retry);
        /// Have a run stand still, with all its parts
        Halt(runs::halt);
        /// Have a halted run go on, and print what to do next
        Resume(runs::resume);
        /// Change the mode of an active skill
        Mode(runs::mode);
        /// Set what calls may do at all, for every session of the project
        Access(runs::access);
        /// Put back files that calls changed against the rules of a phase or of the guard, or accept them
        Restore(runs::restore);
    }
    "Set up and keep": {
        /// Guard a project: write its config and install phasegate into the platforms used there
        Init(keep::init);
        /// Check that the guard works here, and list what it cannot do
        Doctor(keep::doctor);
        /// Have the real client make forbidden calls in a copy of the project, also while the guard fails
        #[cfg(unix)]
        Drill(keep::drill);
        /// Apply the current configs to live sessions
        Reload(keep::reload);
        /// Go on where a journal is damaged or gone: set it aside, by what a person says was active
        Repair(keep::repair);
        /// Remove old state of ended sessions, in every project
        Gc(keep::gc);
        /// Read, export and verify the journals of a project
        Audit(keep::audit);
        /// List the platforms of this build and what each can enforce
        Adapters(keep::adapters);
        /// Print a completion script for a shell
        Completions(keep::completions);
    }
    "Write policies": {
        /// Show and write skills
        Skill(policies::skill);
        /// Show, check and explain the rules over calls
        Rules(policies::rules);
        /// Show and register what commands of programs do, and let agents classify programs
        Safety(policies::safety);
        /// Explain a code and its remedy
        Explain(policies::explain);
        /// Step a transcript through the engine, one output a line, with the configs of the project
        Replay(policies::replay);
        /// Play recorded sessions through the configs, and report what they would have stopped
        Backtest(policies::backtest);
        /// Analyse a shell command without running it
        Shell(policies::shell);
        /// Print a JSON Schema
        Schema(policies::schema);
        /// Run a command so that it keeps no change, or none to certain folders
        Confine(policies::confine) => policies::confine::run;
    }
    "For clients": {
        /// Answer one message of a platform, from standard input to standard output
        Hook(clients::hook) => |args: clients::hook::Args, _| clients::hook::run(&args.platform, args.audit_log, args.confirm);
        /// Answer the messages of a platform's plugin, line by line, until its client ends
        Serve(clients::serve) => |args, _| clients::serve::run(args);
        /// Guard MCP servers, or serve the skill tools over MCP
        #[cfg(feature = "mcp")]
        Mcp(clients::mcp);
    }
}
