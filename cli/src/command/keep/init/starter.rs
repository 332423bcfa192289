//! The config that `init` writes where there is none. It is the short manual of its keys.

use crate::args::ModeArg;

/// The text of a new config.
pub(crate) fn text(skills: &[String], mode: ModeArg) -> String {
    let mode = mode.mode().word();
    let uses = if skills.is_empty() {
        "# use:\n#   - lsp-refactor\n".to_string()
    } else {
        skills.iter().fold("use:\n".to_string(), |text, skill| text + "  - " + skill + "\n")
    };
    format!(
        "\
# Which skills phasegate enforces here, and how strictly. `phasegate check` finds mistakes in this file.

# What a call that breaks a phase leads to: `warn` lets it go on and tells the agent, `block` denies it.
mode: {mode}

# Shipped skills that apply. A skill file of the same name in `.phasegate/skills/` stands in for the shipped one.
{uses}
# `true`: only a person may deactivate a skill before its end.
# locked: true

# What is forbidden in every phase of every skill.
# global_forbidden:
#   - WebFetch
"
    )
}
