//! One hook in the settings: how `init` writes it, and whose a hook is. Ours is only what `init` writes, to the letter of
//! its command.

use jsonc_parser::cst::{CstArray, CstNode};
use phasegate_adapter::below_home;
use phasegate_core::policy::Mode;
use serde_json::{Value, json};

use crate::hosts::host::{Host, Search};
use crate::settings::hooks_of;

/// How the client starts the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Through a shell, which denies by exit status 2 unless the guard confirms its answer by a status of its own: fails
    /// closed on every recorded version.
    Shell,
    /// Directly, without a shell: fails closed only on versions that know `onFailure`, 2.1.329 among them.
    Exec,
}

/// Seconds after which the client gives up on most hooks: twice the guard's own deadline.
const TIMEOUT_SECONDS: u32 = 10;

/// What makes a shell tell an answer from every other end of the program: a status of its own, by which the guard confirms
/// that it has decided. That it ended well is not enough: a shell takes an empty file, which an interrupted upgrade leaves,
/// for a script that did. Status 2 is a denial of the guard's own.
const CONFIRMED: &str = " --confirm; case $? in 10) ;; 2) exit 2;; *) ";

/// The same where a denial would have the client go on without end.
const NEVER_DENIED: &str = " --confirm; case $? in 2|10) ;; *) ";

/// Where the guard gave no answer: looks upwards from the client's folder for a project in block mode, by its configs or by
/// what `init` writes beside the command, and at the user's and the machine's configs. The line is the same in every mode, because the
/// client starts identical lines once. The home folder's own settings stand for many projects, so they say nothing.
/// Without `grep` nothing can be looked for, and that is a denial.
const SEARCH: [&str; 5] = [
    "'; d=",
    concat!(
        r#"; c=${PHASEGATE_CONFIG_DIR:-${XDG_CONFIG_HOME:-$HOME/.config}/phasegate}; "#,
        r#"while type grep >/dev/null 2>&1 && ! grep -rqs 'mode.*block' "$c" /etc/phasegate "$d/.phasegate" && { [ "$d" = "$HOME" ] || "#,
        r#"! grep -qs '"onFailure": *"block"' "$d"/"#,
    ),
    concat!(
        r#"; }; do case $d in */*) d=${d%/*};; *) "#,
        r#"echo "{\"systemMessage\":\"$m This is not guarded.\"}"; exit;; esac; done; "#,
    ),
    "This is denied.",
    "; exit 2;; esac",
];

/// The search in the words of a host.
fn search(host: &Host) -> String {
    let Search { folder, settings, denial } = host.search;
    let [start, look, up, denied, end] = SEARCH;
    let [before, behind] = denial;
    [start, folder, look, settings, up, before, denied, behind, end].concat()
}

/// What was written before, the newest first.
const BEFORE: [&str; 2] = [" --confirm; [ $? = 10 ] || exit 2", " || exit 2"];

/// What a shell makes of an end of the guard that is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Otherwise {
    /// A denial where a project or the user's configs ask for block mode, else a message; both say what to install.
    ByMode,
    /// A denial, whatever the project asks for, which says what to install: an earlier form.
    Denies,
    /// A message that says what to install; what the agent does goes on.
    Tells,
    /// A message that says what to install; no answer is a denial.
    OnlyTells,
    /// A denial without a word, unless the guard confirms its answer: an earlier form.
    DeniesBefore,
    /// A denial, unless the program ended well, whatever it did: the earliest form.
    DeniesFailures,
    /// Nothing.
    Passes,
}

impl Otherwise {
    /// What is written for an event: one that is denied when the guard fails, or another one.
    fn wanted(host: &Host, event: &str) -> Self {
        if host.closed_events().any(|name| name == event) {
            return Self::ByMode;
        }
        if host.never_denied.contains(&event) { Self::OnlyTells } else { Self::Tells }
    }

    /// Whether it is a form that says what the guard is called.
    fn names_guard(self) -> bool {
        matches!(self, Self::ByMode | Self::Denies | Self::Tells | Self::OnlyTells)
    }

    /// What stands around the text that is printed.
    fn around(self, host: &Host) -> (String, String) {
        let none = String::new;
        match self {
            Self::ByMode => (format!("{CONFIRMED}m='"), search(host)),
            Self::Denies => {
                let before = format!("{CONFIRMED}echo '{{\"decision\":\"block\",\"reason\":\"");
                (before, "\"}'; exit 2;; esac".to_owned())
            }
            Self::Tells | Self::OnlyTells => {
                let answer = if self == Self::Tells { CONFIRMED } else { NEVER_DENIED };
                (format!("{answer}echo '{{\"systemMessage\":\""), "\"}';; esac".to_owned())
            }
            Self::DeniesBefore => (BEFORE[0].to_owned(), none()),
            Self::DeniesFailures => (BEFORE[1].to_owned(), none()),
            Self::Passes => (none(), none()),
        }
    }

    /// What follows the guard's arguments.
    fn tail(self, host: &Host) -> String {
        let (then, end) = match self {
            Self::ByMode => ("", "."),
            Self::Denies => (", so this is denied", ""),
            Self::Tells | Self::OnlyTells => {
                ("", ". Until then tool calls are denied in block mode, and run unchecked in warn mode.")
            }
            Self::DeniesBefore | Self::DeniesFailures | Self::Passes => return self.around(host).0,
        };
        let (before, after) = self.around(host);
        format!(
            "{before}Run phasegate init in this project, or install phasegate from {} first: it was not found or gave no \
             answer{then}{end}{after}",
            env!("CARGO_PKG_REPOSITORY")
        )
    }

    /// What stands before this end in a command that has it, whatever text it prints.
    fn before<'a>(self, host: &Host, written: &'a str) -> Option<&'a str> {
        let (start, end) = self.around(host);
        if end.is_empty() {
            return written.strip_suffix(start.as_str());
        }
        let (before, text) = written.strip_suffix(end.as_str())?.split_once(start.as_str())?;
        (!text.contains(['\'', '"'])).then_some(before)
    }
}

/// Every form that is or was written for a shell; the last one fits every command.
const FORMS: [Otherwise; 7] = [
    Otherwise::ByMode,
    Otherwise::Denies,
    Otherwise::Tells,
    Otherwise::OnlyTells,
    Otherwise::DeniesBefore,
    Otherwise::DeniesFailures,
    Otherwise::Passes,
];

/// What the shell that starts a hook's command makes of an end of the guard that is no answer.
pub(crate) fn otherwise(host: &Host, hook: &Value) -> Otherwise {
    let written = hook.get("command").and_then(Value::as_str).filter(|_| hook.get("args").is_none());
    written.map_or(Otherwise::Passes, |written| split(host, written).1)
}

/// Whether the client denies what the hook is about where the hook fails.
pub(crate) fn by_client(hook: &Value) -> bool {
    hook.get("onFailure").is_some_and(|then| then == "block")
}

/// A command without its end, and what the end means.
fn split<'a>(host: &Host, written: &'a str) -> (&'a str, Otherwise) {
    let form = |form: Otherwise| Some((form.before(host, written)?, form));
    FORMS.into_iter().find_map(form).unwrap_or((written, Otherwise::Passes))
}

/// The hook that runs `command` (a path, which may begin with `$HOME/`) for an event of the client. `mode` says what the
/// client makes of a guard that hangs; the line is the same in every mode.
#[must_use]
pub(crate) fn entry(host: &Host, event: &str, command: &str, mode: Mode, form: Form) -> Value {
    let closed = host.closed_events().any(|name| name == event);
    let shorter = host.shorter.iter().find(|(name, _)| *name == event);
    let timeout = shorter.map_or(TIMEOUT_SECONDS, |(_, seconds)| *seconds);
    let mut hook = match form {
        Form::Exec => json!({"type": "command", "command": command, "args": words(host), "timeout": timeout}),
        Form::Shell => {
            let tail = Otherwise::wanted(host, event).tail(host);
            let command = format!("{} {}{tail}", quoted(command), host.arguments());
            json!({"type": "command", "command": command, "timeout": timeout})
        }
    };
    if let (true, Mode::Block, Some(fields)) = (closed, mode, hook.as_object_mut()) {
        fields.insert("onFailure".into(), "block".into());
    }
    hook
}

/// The arguments of a hook that is started without a shell.
fn words(host: &Host) -> Value {
    json!(["hook", host.table.id])
}

/// Whose a hook is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// It is one of the forms that are written here, whatever the program's path.
    Ours,
    /// It runs the guard in a form that `init` does not write: with variables, through another program, or from a
    /// script's text.
    Wrapped,
    /// It has nothing to do with the guard.
    Other,
}

/// Whose a hook is, where `command` is how the guard is run now.
pub(crate) fn owner(host: &Host, hook: &Value, command: &str) -> Owner {
    if !hook.get("command").is_some_and(Value::is_string) {
        return Owner::Other;
    }
    let named =
        |program: String| program == command || is_named(&program, "phasegate") || otherwise(host, hook).names_guard();
    if program_of(host, hook).is_some_and(named) {
        return Owner::Ours;
    }
    if mentions(host, hook, command) { Owner::Wrapped } else { Owner::Other }
}

/// The program of a hook in one of the forms that are written here; `None` for any other hook.
pub(crate) fn program_of(host: &Host, hook: &Value) -> Option<String> {
    let written = hook.get("command")?.as_str()?;
    match hook.get("args") {
        Some(args) => (*args == words(host)).then(|| written.to_owned()),
        None => program(host, written),
    }
}

/// The program of a command in the form that is written for shells; `None` for any other command.
fn program(host: &Host, written: &str) -> Option<String> {
    let (bare, _) = split(host, written);
    let word = bare.strip_suffix(&host.arguments())?.strip_suffix(' ')?;
    let (home, rest) = word.strip_prefix(HOME).map_or(("", word), |rest| ("$HOME/", rest));
    let bare = match rest.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some(inside) => inside.replace(ESCAPED, "'"),
        None => rest.to_owned(),
    };
    let bare = format!("{home}{bare}");
    (quoted(&bare) == word).then_some(bare)
}

/// Whether a command or its arguments name the guard.
fn mentions(host: &Host, hook: &Value, command: &str) -> bool {
    let written = hook.get("command").and_then(Value::as_str);
    let args = hook.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let words: Vec<String> = written
        .into_iter()
        .chain(args)
        .flat_map(str::split_whitespace)
        .map(|word| word.replace(['\'', '"'], ""))
        .collect();
    let text = words.join(" ");
    text.contains(&host.arguments()) && (text.contains("phasegate") || text.contains(command))
}

fn is_named(program: &str, name: &str) -> bool {
    let last = program.rsplit(['/', '\\']).next().unwrap_or(program);
    last == name || last.strip_suffix(".exe") == Some(name)
}

/// How a shell is told the home folder, which may have blanks in its name.
const HOME: &str = "\"$HOME\"/";
/// A quotation mark within a word in quotation marks.
const ESCAPED: &str = r"'\''";

/// The command as one word of a POSIX shell.
pub(crate) fn quoted(command: &str) -> String {
    if let Some(below) = below_home(command) {
        return format!("{HOME}{}", quoted(below));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if !command.is_empty() && command.chars().all(plain) {
        return command.to_owned();
    }
    format!("'{}'", command.replace('\'', ESCAPED))
}

/// Our hooks among an event's groups.
pub(crate) fn ours(host: &Host, groups: &CstArray, command: &str) -> Vec<CstNode> {
    let mut hooks = hooks_of(groups);
    hooks.retain(|hook| hook.to_serde_value().is_some_and(|hook| owner(host, &hook, command) == Owner::Ours));
    hooks
}

#[cfg(test)]
mod tests {
    use phasegate_adapter::PROGRAM;
    use phasegate_core::policy::Mode;
    use serde_json::{Value, json};

    use super::{Form, Otherwise, Owner, entry, owner};
    use crate::hosts::claude_code::HOST;

    fn shell(command: &str) -> Value {
        json!({"type": "command", "command": command})
    }

    #[test]
    fn what_is_written_here_is_ours() {
        for command in [
            "phasegate",
            PROGRAM,
            "$HOME/it's here/phasegate",
            "/opt/it's here/phasegate",
            "/opt/guard",
            "C:\\tools\\phasegate.exe",
        ] {
            for (event, mode, form) in [
                ("Stop", Mode::Block, Form::Shell),
                ("PreToolUse", Mode::Warn, Form::Shell),
                ("PreToolUse", Mode::Block, Form::Shell),
                ("PreToolUse", Mode::Block, Form::Exec),
            ] {
                let entry = entry(&HOST, event, command, mode, form);
                assert_eq!(owner(&HOST, &entry, command), Owner::Ours, "{entry}");
                let unknown = command == "/opt/guard" && form == Form::Exec;
                let elsewhere = if unknown { Owner::Other } else { Owner::Ours };
                assert_eq!(owner(&HOST, &entry, "/new/phasegate"), elsewhere, "{entry}");
            }
        }
    }

    #[test]
    fn what_was_written_before_is_ours() {
        let earlier = Otherwise::Denies.tail(&HOST);
        for command in [
            &format!("phasegate hook claude-code{earlier}"),
            "phasegate hook claude-code",
            "phasegate hook claude-code || exit 2",
            "phasegate hook claude-code --confirm; case $? in 10) ;; 2) exit 2;; *) echo '{\"systemMessage\":\"other words\"}';; esac",
            "phasegate hook claude-code --confirm; [ $? = 10 ] || exit 2",
            "'/a b/phasegate' hook claude-code --confirm; [ $? = 10 ] || exit 2",
        ] {
            assert_eq!(owner(&HOST, &shell(command), "phasegate"), Owner::Ours, "{command}");
        }
    }

    #[test]
    fn what_others_wrote_around_it_is_theirs() {
        for command in [
            "PHASEGATE_LOG_FILE=/tmp/l /opt/phasegate hook claude-code || exit 2",
            "phasegate hook claude-code || true",
            "phasegate hook claude-code --confirm; case $? in 10) ;; 2) exit 2;; *) echo '{\"systemMessage\":\"a\"}'; true '\"}';; esac",
            "phasegate hook claude-code; exit 0",
            "phasegate  hook claude-code",
            "\"$CLAUDE_PROJECT_DIR\"/bin/phasegate hook claude-code",
            "$HOME/bin/phasegate hook claude-code",
            "sh -c 'phasegate hook claude-code'",
            "a'b'/phasegate hook claude-code",
        ] {
            assert_eq!(owner(&HOST, &shell(command), "phasegate"), Owner::Wrapped, "{command}");
        }
        let through = json!({"type": "command", "command": "env", "args": ["A=b", "phasegate", "hook", "claude-code"]});
        assert_eq!(owner(&HOST, &through, "phasegate"), Owner::Wrapped);
    }

    #[test]
    fn the_rest_is_nobodys_business() {
        for hook in
            [shell("./lint.sh"), shell("phasegate check"), shell("tool hook claude-code"), json!({"type": "http"})]
        {
            assert_eq!(owner(&HOST, &hook, "phasegate"), Owner::Other, "{hook}");
        }
    }
}
