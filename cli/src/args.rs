//! The arguments that every subcommand shares.

use std::path::PathBuf;

use anstream::ColorChoice;
use clap::{Parser, ValueEnum};

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

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Makes the choice hold for all output of the process.
    pub fn apply(self) {
        let choice = match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// A mode on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModeArg {
    /// A violation runs and is reported
    Warn,
    /// A violation is denied
    Block,
}

impl ModeArg {
    /// The mode's word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Block => "block",
        }
    }
}
