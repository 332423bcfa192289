//! Slash commands, which a person types as a prompt: `/phasegate approve NAME` and others. The prompt must match
//! exactly.
//!
//! | typed | command |
//! |---|---|
//! | `/phasegate start SKILL [NAME=VALUE...] [warn or block]` | `activate_skill` |
//! | `/phasegate approve NAME [PATH]` | `approve` |
//! | `/phasegate approve --reject NAME [PATH]` | `reject` |
//! | `/phasegate approve --revoke NAME` | `revoke` |
//! | `/phasegate allow [REASON]` | `allow` |
//! | `/phasegate skip [SKILL, PHASE or TASK [RUN]]` | `skip_phase` |
//! | `/phasegate end [SKILL]` | `deactivate_skill` |
//! | `/phasegate advance [SKILL or PHASE [RUN]] [--yes]` | `advance` |
//! | `/phasegate retry TASK [RUN]` | `retry_element` |
//! | `/phasegate mode warn or block [SKILL]` | `set_mode` |
//! | `/phasegate access readonly or normal or admin [TIME]` | `set_access` |
//! | `/phasegate reload` | `reload` |
//! | `/phasegate safety` | `safety` |
//! | `/phasegate safety approve or revoke PROGRAM` | `approve_program`, `revoke_program` |

use serde_json::{Map, Value};

use crate::answers::denial::InvalidCommand;
use crate::answers::phrase;
use crate::calls::analysis::Word;
use crate::calls::cause::By;
use crate::calls::tool::Call;
use crate::events::event::{Event, EventKind};
use crate::prelude::*;
use crate::shell::safety;
use crate::shell::shell_word::shell_word;
use crate::values::one_line::one_line;

/// The first word of every command that is typed as a prompt.
pub const WORD: &str = "/phasegate";

/// The longest command, in bytes. Of a much longer text a journal keeps the digest only, from which nothing could be decided
/// again.
const MAX_COMMAND_BYTES: usize = 1024;

/// The syntax of the commands, for an error message.
const FORMS: &str = "`/phasegate start SKILL [NAME=VALUE...] [warn|block]`, `approve [--reject|--revoke] NAME [PATH]`, \
                     `allow [REASON]`, `skip [SKILL, PHASE or TASK [RUN]]`, `end [SKILL]`, `advance [SKILL or PHASE [RUN]] [--yes]`, \
                     `retry TASK [RUN]`, `mode warn|block [SKILL]`, `access readonly|normal|admin [TIME]`, `reload`, \
                     `safety [approve|revoke PROGRAM]`";

/// The commands that were merged into others: the words that began them, and what to write in their place. Of several that
/// fit, the longest comes first.
const MERGED: &[(&str, &str)] = &[
    ("activate", "start"),
    ("deactivate", "end"),
    ("revoke", "approve --revoke"),
    ("task retry", "retry"),
    ("task skip", "skip"),
    ("audit why", "why"),
    ("plan on", "start plan-mode"),
    ("plan off", "end plan-mode"),
    ("plan approve", "approve plan"),
    ("plan reject", "approve --reject plan"),
    ("plan list", "status plans"),
    ("plan show", "status plans"),
    ("skill start", "start"),
    ("skill next", "status next"),
    ("skill branch", "status runs"),
    ("skill complete", "end --done"),
    ("skill halt", "halt"),
    ("skill resume", "resume"),
    ("skill skip", "skip"),
    ("skill end", "end"),
    ("skill status", "status history"),
    ("workflow start", "start"),
    ("workflow status", "status runs"),
    ("workflow advance", "advance"),
    ("workflow skip", "skip"),
    ("workflow end", "end"),
    ("workflow tasks retry", "retry"),
    ("workflow tasks skip", "skip"),
    ("workflow tasks", "status runs"),
    ("workflow graph", "status graph"),
    ("workflow export", "status export"),
    ("workflow", "status runs"),
];

/// What is written in place of a command that was merged into another, with the words that follow it.
pub fn merged(words: &[&str]) -> Option<String> {
    let (now, rest) = MERGED.iter().find_map(|(was, now)| {
        let was: Vec<&str> = was.split(' ').collect();
        Some((*now, words.strip_prefix(was.as_slice())?))
    })?;
    Some(core::iter::once(now).chain(rest.iter().copied()).collect::<Vec<_>>().join(" "))
}

/// The name of the skill that plan mode is.
pub const PLAN_MODE: &str = "plan-mode";

/// The name by which its plan is approved.
pub const PLAN: &str = "plan";

/// A command as it was typed: its name as a control command, and its arguments.
pub(crate) struct SlashCommand {
    pub(crate) name: &'static str,
    pub(crate) args: Value,
}

/// Whether a prompt is addressed to phasegate: it begins with [`WORD`], as a word of its own, and is short.
pub fn addressed(prompt: &str) -> bool {
    prompt.len() <= MAX_COMMAND_BYTES
        && prompt.strip_prefix(WORD).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// The command in a prompt; `None` for an ordinary prompt.
///
/// # Errors
///
/// The prompt begins like a command and is not valid; the text gives the syntax.
pub(crate) fn command(prompt: &str) -> Option<Result<SlashCommand, InvalidCommand>> {
    let rest = prompt.strip_prefix(WORD).filter(|_| addressed(prompt))?;
    let words: Vec<&str> = rest.split(' ').filter(|word| !word.is_empty()).collect();
    let one_line = !rest.trim_end().contains(char::is_control);
    let words: Vec<&str> = words.iter().map(|word| word.trim_end()).filter(|word| !word.is_empty()).collect();
    let typed = if one_line { read(&words) } else { None };
    let invalid = || match merged(&words) {
        Some(now) => InvalidCommand::Merged { prompt: shown(prompt), now },
        None => InvalidCommand::NoCommand { prompt: shown(prompt), forms: FORMS },
    };
    Some(typed.ok_or_else(invalid))
}

/// Whether a person has the configs read anew by this event: by the command, or by typing it.
pub fn reloads(event: &Event) -> bool {
    match &event.kind {
        EventKind::Command { by: By::Human, name, .. } => name == "reload",
        EventKind::Prompt { text, interactive: Some(true) } if event.subagent().is_none() => {
            matches!(command(text), Some(Ok(SlashCommand { name: "reload", .. })))
        }
        _ => false,
    }
}

fn read(words: &[&str]) -> Option<SlashCommand> {
    let mode = |word: &str| matches!(word, "warn" | "block");
    Some(match *words {
        ["start", skill, ref values @ .., word] if mode(word) => activated(skill, values, Some(word))?,
        ["start", skill, ref values @ ..] => activated(skill, values, None)?,
        ["end"] => typed("deactivate_skill", &[]),
        ["end", skill] => typed("deactivate_skill", &[("skill_name", skill)]),
        ["allow"] => typed("allow", &[]),
        ["allow", ref why @ ..] => typed("allow", &[("why", &why.join(" "))]),
        ["approve", ref words @ ..] => approval(words)?,
        ["skip", ref names @ ..] => named("skip_phase", "name", names)?,
        ["advance", ref names @ .., "--yes"] => confirmed(named("advance", "name", names)?),
        ["advance", ref names @ ..] => named("advance", "name", names)?,
        ["retry", ref names @ ..] if !names.is_empty() => named("retry_element", "id", names)?,
        ["access", word] => typed("set_access", &[("access", word)]),
        ["access", word, lasts] => typed("set_access", &[("access", word), ("for", lasts)]),
        ["reload"] => typed("reload", &[]),
        ["safety"] => typed("safety", &[]),
        ["safety", "approve", program] => typed("approve_program", &[("program", program)]),
        ["safety", "revoke", program] => typed("revoke_program", &[("program", program)]),
        ["mode", word] if mode(word) => typed("set_mode", &[("mode", word)]),
        ["mode", word, skill] if mode(word) => typed("set_mode", &[("mode", word), ("skill_name", skill)]),
        _ => return None,
    })
}

/// What a person says of a name: yes, no, or no longer yes.
fn approval(words: &[&str]) -> Option<SlashCommand> {
    let (options, names): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.starts_with('-'));
    match (options.as_slice(), names.as_slice()) {
        ([], [name]) => Some(typed("approve", &[("name", name)])),
        ([], [name, path]) => Some(typed("approve", &[("name", name), ("path", path)])),
        (["--reject"], [name]) => Some(typed("reject", &[("name", name)])),
        (["--reject"], [name, path]) => Some(typed("reject", &[("name", name), ("path", path)])),
        (["--revoke"], [name]) => Some(typed("revoke", &[("name", name)])),
        _ => None,
    }
}

fn activated(skill: &str, values: &[&str], mode: Option<&str>) -> Option<SlashCommand> {
    let values = values.iter().map(|word| word.split_once('='));
    let values: Map<String, Value> =
        values.map(|pair| pair.map(|(name, value)| (name.to_string(), Value::from(value)))).collect::<Option<_>>()?;
    let mode = mode.map(|mode| ("mode", mode));
    let fields: Vec<(&str, &str)> = core::iter::once(("skill_name", skill)).chain(mode).collect();
    let mut command = typed("activate_skill", &fields);
    if let (Value::Object(args), false) = (&mut command.args, values.is_empty()) {
        args.insert("inputs".to_string(), Value::Object(values));
    }
    Some(command)
}

/// A command about what the first word names, in the run that the second one names.
fn named(command: &'static str, key: &str, names: &[&str]) -> Option<SlashCommand> {
    let keys = [key, "run"];
    (names.len() <= keys.len())
        .then(|| typed(command, &keys.into_iter().zip(names.iter().copied()).collect::<Vec<_>>()))
}

/// A command the person of which said that what lies between may be skipped.
fn confirmed(command: SlashCommand) -> SlashCommand {
    let mut args = command.args.as_object().cloned().unwrap_or_default();
    args.insert("confirmed".to_string(), Value::from("yes"));
    SlashCommand { args: Value::Object(args), ..command }
}

/// The name of the control command that a prompt is.
pub(crate) fn name(prompt: &str) -> Option<&'static str> {
    command(prompt)?.ok().map(|command| command.name)
}

fn typed(name: &'static str, args: &[(&str, &str)]) -> SlashCommand {
    let args: Map<String, Value> = args.iter().map(|(key, value)| ((*key).to_string(), Value::from(*value))).collect();
    SlashCommand { name, args: Value::Object(args) }
}

/// The beginning of a prompt, for a message.
fn shown(prompt: &str) -> String {
    let line = prompt.lines().next().unwrap_or_default();
    if line.chars().count() > 60 { line.chars().take(60).chain(['…']).collect() } else { line.to_string() }
}

/// What a command that was carried out has done, as a sentence for the user and the agent.
pub(crate) fn reported(name: &str, result: &Value, skill: Option<&str>) -> String {
    let text = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or_default();
    match (name, skill) {
        ("approve", _) => format!("phasegate: the user approved `{}`{}", text("name"), plan_of(result)),
        ("allow", _) => format!("phasegate: the user lets this pass once, in the next 30 minutes: {}", text("of")),
        ("reject", _) => format!("phasegate: the user rejected `{}` as it is now", text("name")),
        ("revoke", _) => {
            format!("phasegate: the user took the approval of `{}` back{}", text("name"), passed(result))
        }
        ("activate_skill", _) => {
            format!("phasegate: the user activated the skill `{}` ({} mode)", text("skill"), text("mode"))
        }
        ("skip_phase", _) if result.get("element").is_some() => {
            format!("phasegate: the user skipped `{}` of `{}`", text("element"), text("skill"))
        }
        ("skip_phase", _) if result.get("phase").is_some() => {
            let (phase, skill, here) = (text("phase"), text("skill"), text("current_phase"));
            format!("phasegate: the user skipped the phase \"{phase}\" of `{skill}`; it is in \"{here}\"")
        }
        ("advance", _) => match text("current_phase") {
            "" => format!("phasegate: the user had `{}` end: its last phase counts as done", text("skill")),
            here => format!("phasegate: the user had `{}` go on; it is in \"{here}\"", text("skill")),
        },
        ("retry_element", _) => {
            format!("phasegate: the user had `{}` of `{}` begun anew", text("element"), text("skill"))
        }
        ("skip_phase", _) => {
            format!(
                "phasegate: the user skipped a phase of `{}`; it is in \"{}\"",
                text("skill"),
                text("current_phase")
            )
        }
        ("set_mode", _) => format!("phasegate: the user set `{}` to {} mode", text("skill"), text("mode")),
        ("set_access", _) => format!("phasegate: the user set the access to `{}`", text("access")),
        ("approve_program", _) => format!("phasegate: the user lets agents classify `{}`", text("program")),
        ("revoke_program", _) => format!("phasegate: the user lets agents classify `{}` no more", text("program")),
        ("safety", _) => safety::shown(result),
        ("reload", _) => "phasegate: the user had the configs read anew".to_string(),
        (_, Some(skill)) => match text("part_of") {
            "" => format!("phasegate: the user ended the skill `{skill}`"),
            whole => format!("phasegate: the user ended `{skill}`, a part of the skill `{whole}`"),
        },
        (_, None) => "phasegate: no skill was active".to_string(),
    }
}

/// What follows the report of an approved plan: its file, and what each step permits.
fn plan_of(result: &Value) -> String {
    let (Some(path), Some(steps)) = (result.get("path"), result.get("steps").and_then(Value::as_array)) else {
        return String::new();
    };
    let word = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).map(one_line);
    let step = |step: &Value| {
        let id = word(step, "id").unwrap_or_default();
        match word(step, "permits") {
            Some(calls) => format!("`{id}` permits {calls}"),
            None => format!("`{id}` is prose"),
        }
    };
    let each: Vec<String> = steps.iter().map(step).collect();
    format!(", `{}`: {}", path.as_str().map(one_line).unwrap_or_default(), phrase::joined(&each))
}

/// What follows the report of a revoked approval: nothing waits for it again where the run is past it.
fn passed(result: &Value) -> String {
    let text = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or_default();
    if result.get("waits").and_then(Value::as_bool) != Some(false) {
        return String::new();
    }
    format!(
        ". What it opened stays open: the run of `{0}` is in \"{1}\" already and goes on there; `/phasegate end \
         {0}` ends it",
        text("skill"),
        text("phase")
    )
}

/// The word that a person types for a control command.
pub fn word(command: &str) -> &str {
    match command {
        "activate_skill" => "start",
        "deactivate_skill" | "end_session" => "end",
        "skip_phase" | "skip_element" => "skip",
        "retry_element" => "retry",
        "set_mode" => "mode",
        "set_access" => "access",
        "revoke" => "approve --revoke",
        "reject" => "approve --reject",
        "approve_program" => "safety approve",
        "revoke_program" => "safety approve --revoke",
        "plan_skill_safety" => "safety register",
        "halt_run" => "halt",
        "resume_run" => "resume",
        other => other,
    }
}

/// The commands to phasegate that only a person gives, as a program takes them, and whether a prompt takes them too.
const OF_PEOPLE: [(&str, bool); 15] = [
    ("access", true),
    ("advance", true),
    ("allow", true),
    ("approve", true),
    ("end", true),
    ("gc", false),
    ("halt", false),
    ("init", false),
    ("mode", true),
    ("reload", true),
    ("repair", false),
    ("resume", false),
    ("retry", true),
    ("skip", true),
    ("start", true),
];

/// Whether a prompt takes this command, too, as it is typed in a terminal.
pub fn is_prompt(command: &str) -> bool {
    let given: Vec<String> = command.split_whitespace().map(ToString::to_string).collect();
    prompt_instead(&given).flatten().is_some()
}

/// What a person types instead of this call, where a line of the shell gives phasegate a command that is for people.
pub(crate) fn of_people(call: &Call) -> Option<String> {
    let given = call.analysis.commands.iter().find_map(|command| {
        let known = |word: &Word| if let Word::Known(text) = word { Some(text.clone()) } else { None };
        let words = command.words.iter().map(known).collect::<Option<Vec<String>>>()?;
        let (program, rest) = words.split_first()?;
        (program.rsplit('/').next() == Some("phasegate")).then(|| rest.to_vec())
    })?;
    let now = merged(&given.iter().map(String::as_str).collect::<Vec<_>>());
    let given = now.map_or(given, |now| now.split(' ').map(ToString::to_string).collect());
    let prompt = prompt_instead(&given)?;
    let given = given.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
    let as_prompt = prompt.map(|prompt| format!("`/phasegate {prompt}` as a prompt, or ")).unwrap_or_default();
    Some(format!("{as_prompt}`phasegate {given}` in a terminal of their own"))
}

/// The prompt that stands for a command of people, where one does; `None`: it is not for people alone.
fn prompt_instead(given: &[String]) -> Option<Option<String>> {
    let words: Vec<&str> = given.iter().map(String::as_str).collect();
    let (as_prompt, words) = match *words.as_slice() {
        ["access", access, "--for", lasts] => (true, ["access", access, lasts].to_vec()),
        ["safety", "approve", "--revoke", program] => (true, ["safety", "revoke", program].to_vec()),
        ["safety", "approve" | "register" | "import", ..] => (words.get(1) == Some(&"approve"), words.clone()),
        ["safety", ..] => return None,
        [first, ..] => (OF_PEOPLE.iter().find(|(name, _)| *name == first)?.1, words.clone()),
        [] => return None,
    };
    // Besides these, a prompt takes no options.
    let plain = |word: &&str| !word.starts_with('-') || matches!(*word, "--reject" | "--revoke" | "--yes");
    Some((as_prompt && words.iter().all(plain)).then(|| words.join(" ")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn read(prompt: &str) -> Option<Option<(&'static str, String)>> {
        command(prompt).map(|typed| typed.ok().map(|typed| (typed.name, typed.args.to_string())))
    }

    #[test]
    fn a_prompt_is_a_command_to_the_letter_or_not_at_all() {
        let args = |text: &str| text.to_string();
        assert_eq!(read("/phasegate approve plan"), Some(Some(("approve", args(r#"{"name":"plan"}"#)))));
        assert_eq!(read("/phasegate approve plan\n"), Some(Some(("approve", args(r#"{"name":"plan"}"#)))));
        assert_eq!(read("/phasegate end"), Some(Some(("deactivate_skill", args("{}")))));
        assert_eq!(read("/phasegate skip s"), Some(Some(("skip_phase", args(r#"{"name":"s"}"#)))));
        assert_eq!(read("/phasegate advance"), Some(Some(("advance", args("{}")))));
        assert_eq!(read("/phasegate advance a p1"), Some(Some(("advance", args(r#"{"name":"a","run":"p1"}"#)))));
        assert_eq!(read("/phasegate retry T1"), Some(Some(("retry_element", args(r#"{"id":"T1"}"#)))));
        assert_eq!(
            read("/phasegate approve --reject plan a.md"),
            Some(Some(("reject", args(r#"{"name":"plan","path":"a.md"}"#))))
        );
        assert!(read("/phasegate mode warn s").unwrap().is_some());
        assert!(read("/phasegate start s block").unwrap().is_some());
        for wrong in [
            "/phasegate",
            "/phasegate approve",
            "/phasegate approve a b c",
            "/phasegate approve --yes a",
            "/phasegate approve --revoke a b",
            "/phasegate skip a b c",
            "/phasegate retry",
            "/phasegate task T1",
            "/phasegate approve plan\nand go on",
            "/phasegate approve\tplan",
            "/phasegate mode loose",
            "/phasegate end now please",
            "/phasegate please",
        ] {
            assert_eq!(read(wrong), Some(None), "{wrong}");
        }
        assert_eq!(read(&format!("/phasegate approve {}", "x".repeat(MAX_COMMAND_BYTES))), None);
        for other in ["approve plan", " /phasegate approve plan", "please /phasegate approve plan", "/phasegates x"] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn a_word_that_was_merged_names_the_command_of_today() {
        for (was, now) in [
            ("activate s id=1", "start s id=1"),
            ("plan approve a.md", "approve plan a.md"),
            ("workflow tasks skip T1", "skip T1"),
            ("workflow tasks", "status runs"),
            ("plan show a.md", "status plans a.md"),
        ] {
            assert_eq!(merged(&was.split(' ').collect::<Vec<_>>()).as_deref(), Some(now));
        }
        assert_eq!(merged(&["start", "s"]), None);
    }
}
