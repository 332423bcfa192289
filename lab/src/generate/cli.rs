//! `docs/cli.md`: the command line, from its own help.

use clap_markdown::{MarkdownOptions, help_markdown_custom};
use phasegate::cli::Cli;

use super::generated::Generated;

/// The page.
pub(super) fn page() -> Generated {
    let options = MarkdownOptions::new().title("The command line".into()).show_footer(false);
    let text = help_markdown_custom::<Cli>(&options);
    let (title, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let note = "Made by `cargo xtask gen` from the help of `phasegate`.";
    let lines: Vec<&str> = rest.lines().map(str::trim_end).collect();
    let text = format!("{title}\n\n{note}\n{}\n", lines.join("\n").trim_end());
    Generated { path: "docs/cli.md".into(), text }
}
