//! `docs/cli.md`: the command line, from its own help.

use clap::{Command, CommandFactory as _};
use clap_markdown::{MarkdownOptions, help_markdown_custom};
use phasegate::cli::Cli;

use super::generated::Generated;

/// What the exit statuses mean, as `cli/src/exit.rs` has them.
const STATUSES: &str = "
## Exit statuses

| status | meaning |
|---|---|
| 0 | done, and the answer is yes |
| 1 | done, and the answer is no: a command was refused, a config has errors, `doctor` or `audit verify` found a problem |
| 2 | it could not be done: the arguments are wrong, a skill, session, record or code of that name does not exist, or the state cannot be used; of a hook it is a denial |
| 10 | a hook with `--confirm` denies nothing |
| 73 | `confine read-only`: the command ended with 0, and not all that it changed is kept |
| 125 | `confine`: the command could not be confined, and has not run |
| 126, 127 | `confine`: the command's program may not be started, or does not exist |

`confine` ends with the command's own status otherwise, and with 128 and the number of the signal that ended it.
";

/// The page.
pub(super) fn page() -> Generated {
    let options = MarkdownOptions::new().title("The command line".into()).show_footer(false);
    let text = help_markdown_custom::<Cli>(&options);
    let (title, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let note = "Made by `cargo xtask gen` from the help of `phasegate`.";
    let mut equals = Vec::new();
    with_equals(&Cli::command(), &mut equals);
    let rest = equals.iter().fold(rest.to_owned(), |text, (shown, real)| text.replace(shown, real));
    // One heading for each command of the first level.
    let rest = rest.split_once("\n## ").map(|(_, rest)| format!("## {rest}")).unwrap_or(rest);
    let lines: Vec<String> = rest.lines().map(|line| flat(line.trim_end())).collect();
    let text = format!("{title}\n\n{note}\n{STATUSES}\n{}\n", lines.join("\n").trim());
    Generated { path: "docs/cli.md".into(), text }
}

/// A heading below the first level as a paragraph.
fn flat(line: &str) -> String {
    match (line.strip_prefix("###### "), line.strip_prefix("## ")) {
        (Some(label), _) => label.to_owned(),
        (_, Some(command)) if command.split(' ').count() > 2 => format!("**{command}**"),
        _ => line.to_owned(),
    }
}

/// The options whose value stands behind `=`, as the page would show them and as they are written.
fn with_equals(command: &Command, found: &mut Vec<(String, String)>) {
    for option in command.get_arguments().filter(|option| option.is_require_equals_set()) {
        let (Some(name), Some(values)) = (option.get_long(), option.get_value_names()) else { continue };
        let value = values.first().map(ToString::to_string).unwrap_or_default();
        found.push((format!("`--{name} <{value}>`"), format!("`--{name}[=<{value}>]`")));
    }
    command.get_subcommands().for_each(|command| with_equals(command, found));
}
