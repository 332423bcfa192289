//! The whole command line: the shared arguments and a subcommand.

use std::path::PathBuf;

use clap::Parser;

use crate::args::Color;
use crate::command::Command;

/// Enforces the phases of agent skills: allows, warns, asks or denies each tool call, with reason and remedy.
#[derive(Debug, Parser)]
#[command(name = "phasegate", version, propagate_version = true, arg_required_else_help = true)]
pub struct Cli {
    /// Print JSON instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// The project to use; default: the one that contains the current folder
    #[arg(long, global = true, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}
