//! Settings, variables and options whose value is a command that another program runs (`git -c core.pager=...`, `GIT_PAGER`,
//! `sort --compress-program=...`).

use phasegate_core::calls::analysis::Status;

use crate::arguments::{Given, same};
use crate::expand::field::Field;
use crate::finding::{Finding, keep_worse};
use crate::judge::guard::is_sign;
use crate::judge::text::Runs;
use crate::parse::Dialect;
use crate::script::{Doubt, Script};
use crate::table::Rule;
use crate::walk::Walk;

/// Variables of the environment.
const VARIABLES: [&str; 29] = [
    "BROWSER",
    "EDITOR",
    "FCEDIT",
    "GH_BROWSER",
    "GH_EDITOR",
    "GH_PAGER",
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "KUBE_EDITOR",
    "LESSOPEN",
    "MANPAGER",
    "PAGER",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "RSYNC_RSH",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SUDO_EDITOR",
    "VISUAL",
];

/// Whether a variable names a command.
pub(crate) fn is_variable(name: &str) -> bool {
    VARIABLES.contains(&name) || name.starts_with("GIT_CONFIG_VALUE_")
}

/// Judges the commands that options of a program name.
pub(crate) fn options(walk: &mut Walk<'_>, rule: &Rule, options: &[Given], worst: &mut Finding) {
    let runs = |given: &&Given| rule.runs.split_ascii_whitespace().any(|option| same(option, &given.name));
    for value in options.iter().filter(runs).filter_map(|given| given.value.as_ref()) {
        keep_worse(worst, value_of(walk, value));
    }
}

/// Judges the commands that addresses name to which git talks through a program: `ext::COMMAND`.
pub(crate) fn addresses(walk: &mut Walk<'_>, words: &[Field]) {
    for word in words {
        if let Some(at) = word.start().find("ext::") {
            value_of(walk, &word.after(at.saturating_add(5)));
        }
    }
}

/// Judges the command that a value is, which may run or not; one that begins with what nobody knows may be any.
pub(crate) fn value_of(walk: &mut Walk<'_>, value: &Field) -> Finding {
    let script = Script::of([value]);
    let mut finding = judge(walk, &script);
    if script.doubt > Doubt::Nothing && script.text.starts_with(is_sign) {
        keep_worse(&mut finding, walk.any_command(value.span));
    }
    finding
}

/// Judges the command, which may run or not.
pub(crate) fn judge(walk: &mut Walk<'_>, script: &Script) -> Finding {
    let text = script.text.trim_start_matches(['!', '|']).trim();
    let status = std::mem::replace(&mut walk.status, Status::Lost);
    let finding = walk.script(&script.with(text), Runs::Apart(&[]), Dialect::Posix);
    walk.status = status;
    finding
}
