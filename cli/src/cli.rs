//! The whole command line: the shared arguments and a subcommand.

use std::path::PathBuf;

use clap::Parser;

use crate::args::Color;
use crate::command::{Command, Group};

/// Enforces the phases of agent skills: allows, warns, asks or denies each tool call, with reason and remedy.
#[derive(Debug, Parser)]
#[command(name = "phasegate", version, propagate_version = true, help_template = template())]
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

/// The help of the program: the commands of each day, and how to see the rest.
fn template() -> String {
    let daily = Command::GROUPS.first().map(listed).unwrap_or_default();
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{daily}\n`phasegate help all` lists the other commands.\n\nOptions:\n{{options}}"
    )
}

/// All commands by group, as `phasegate help all` prints them.
pub fn all() -> String {
    Command::GROUPS.iter().map(listed).collect::<Vec<_>>().join("\n")
}

fn listed(group: &Group) -> String {
    let Group { title, commands } = group;
    let lines = commands.iter().map(|(name, help)| format!("  {name:<12}{}\n", help.trim()));
    format!("{title}:\n{}", lines.collect::<String>())
}
