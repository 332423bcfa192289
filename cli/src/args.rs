//! Values of arguments that several subcommands share.

use anstream::ColorChoice;
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use phasegate_core::policy::Mode;

/// The platforms that this build has, as values of an argument.
pub fn platform_names() -> PossibleValuesParser {
    PossibleValuesParser::new(phasegate_adapters::all().into_iter().map(|adapter| adapter.id()))
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
    /// The mode.
    pub fn mode(self) -> Mode {
        match self {
            Self::Warn => Mode::Warn,
            Self::Block => Mode::Block,
        }
    }
}
