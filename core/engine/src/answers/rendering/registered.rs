//! The texts about what is registered of commands.

use crate::answers::denial::{Blame, NotRegistered};
use crate::prelude::*;
use crate::shell::classifier::NotRead;
use crate::shell::safety::REGISTER;
use crate::shell::shell_word::shell_word;

/// How to get on where no READ counts for the rights that a command has.
const PLAIN_RIGHTS: &str = "Run it without other rights, or go on without it in this phase.";
/// How to get on where earlier calls changed what a command runs.
const ACCEPTED: &str = "The user looks at what was changed and runs `phasegate reload`; then it counts again as it did before. Else \
                        go on without it in this phase.";
/// How to get on where a word of a command is not known before it runs.
const SAY_THE_WORD: &str = "Write the word itself, each command in a call of its own.";
/// The most patterns that a denial names.
const MAX_READERS: usize = 2;
/// The most characters of patterns that a person can paste.
const MAX_PATTERNS_CHARS: usize = 120;

/// Why something is not registered, and what to do about it.
pub(super) fn refused(why: &NotRegistered) -> (String, String) {
    match why {
        NotRegistered::Subagent => (
            "a subagent registers no patterns".to_string(),
            "Leave it to the main agent, which reads the skill too.".to_string(),
        ),
        NotRegistered::NotNamed { program } => (
            format!("no person has said that agents may classify `{program}`"),
            format!(
                "Ask the user to run `phasegate safety approve {program}`, or to name it in the settings: `safety: \
                 {{programs: [{program}]}}`."
            ),
        ),
        NotRegistered::NoProgram { tool } => (
            format!("`{tool}` is no name of a program"),
            "Give `tool` as the program's name, as in `gcloud` or `go-gmail`.".to_string(),
        ),
        NotRegistered::NoCommands => (
            "`commands` is an object of patterns, each with a level, or a list of such pairs".to_string(),
            "Write for example `{\"gcloud * list *\": \"READ\", \"gcloud * delete *\": \"WRITE\"}`.".to_string(),
        ),
        NotRegistered::TooMany => (
            format!("a program has at most {} patterns", crate::shell::safety::MAX_PATTERNS),
            "Register fewer patterns, with stars.".to_string(),
        ),
        NotRegistered::Rejected { program, rejected } => (
            format!("no pattern of `{program}` is registered: {}", rejected.join("; ")),
            "Correct the patterns. What is not registered is judged as before.".to_string(),
        ),
    }
}

/// The reason of a denial, with what is known of the command that is to blame.
pub(super) fn with_blame(blame: Option<&Blame>, reason: String) -> String {
    match blame {
        None | Some(Blame::Unlabelled { .. }) => reason,
        Some(Blame::Registered { registered, .. }) => format!("{reason}: {}", registered.because()),
        Some(Blame::Judged { because, .. }) => format!("{reason}: {because}"),
        Some(Blame::Unheard { program, why: None, .. }) => {
            format!("{reason}: phasegate does not know `{program}`")
        }
        Some(Blame::Unheard { program, why: Some(why), .. }) => {
            format!("{reason}: `{program}` is registered, {}", why.in_words())
        }
    }
}

/// The recovery, with what may be run in the command's place. What a program is that nobody knows, stands for what the phase
/// still needs: that is no help here.
pub(super) fn instead(blame: Option<&Blame>, recovery: String) -> String {
    match blame {
        None | Some(Blame::Judged { changed: false, .. }) => recovery,
        Some(Blame::Judged { changed: true, .. }) => ACCEPTED.to_string(),
        Some(Blame::Unlabelled { tool, server }) => with_label(tool, server.as_deref(), &recovery),
        Some(Blame::Registered { readers, .. }) => with_readers(readers, recovery),
        Some(Blame::Unheard { program, start, named, why: None, .. }) => known_by(program, start, *named),
        Some(Blame::Unheard { program, start, registered, why: Some(why), .. }) => match why {
            NotRead::Raised => PLAIN_RIGHTS.to_string(),
            NotRead::AtRunTime => SAY_THE_WORD.to_string(),
            NotRead::Changes(_) | NotRead::NoPattern => with_one_more(program, start, registered),
        },
    }
}

/// How a person says of a tool that it only reads.
fn with_label(tool: &str, server: Option<&str>, recovery: &str) -> String {
    let trusted = |server| {
        format!(", or trust what its server says: `mcp: {{servers: {{{server}: {{trust_annotations: true}}}}}}`")
    };
    let trusted = server.map(trusted).unwrap_or_default();
    let label = format!(
        "If it only reads, the user can label it in the skill: `tools: {{{tool}: {{labels: [read]}}}}`{trusted}."
    );
    if recovery.is_empty() { label } else { format!("{recovery} {label}") }
}

fn with_readers(readers: &[String], recovery: String) -> String {
    if readers.is_empty() {
        return recovery;
    }
    let shown: Vec<String> = readers.iter().take(MAX_READERS).map(|pattern| format!("`{pattern}`")).collect();
    let more = if readers.len() > MAX_READERS { " and others" } else { "" };
    format!("{recovery} Only reads: {}{more}.", shown.join(", "))
}

/// How a person adds a pattern to those of a program: what they register replaces them.
fn with_one_more(program: &str, start: &str, registered: &[String]) -> String {
    let patterns: Vec<String> = registered.iter().map(|pattern| shell_word(pattern)).collect();
    let patterns = patterns.join(" ");
    let given = if patterns.chars().count() <= MAX_PATTERNS_CHARS { patterns } else { "...".to_string() };
    format!(
        "If this command only reads, the user can register it. All patterns are given anew (`phasegate safety list` shows \
         them): `phasegate safety register {program} {given} 'READ={start} ...'`. Else go on without it in this phase."
    )
}

/// How it becomes known which commands of a program read.
fn known_by(program: &str, start: &str, named: bool) -> String {
    let agent = if named { format!("register it with `{REGISTER}`, or ") } else { String::new() };
    format!("If it only reads, {agent}the user runs `phasegate safety register {program} 'READ={start} ...'`.")
}
