//! Whose a hook is: ours is only what `init` writes, to the letter of its command.

use serde_json::{Value, json};

use super::{ARGUMENTS, OR_DENY, OR_DENY_BEFORE};

/// Whose a hook is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// It is one of the forms that are written here, whatever the program's path.
    Ours,
    /// It runs the guard in a form that somebody else wrote: with variables, through another program, from a script's text.
    Wrapped,
    /// It has nothing to do with the guard.
    Other,
}

/// Whose a hook is, where `command` is how the guard is run now.
pub(super) fn of(hook: &Value, command: &str) -> Owner {
    let Some(written) = hook.get("command").and_then(Value::as_str) else { return Owner::Other };
    if program_of(hook).is_some_and(|program| program == command || is_named(&program, "phasegate")) {
        return Owner::Ours;
    }
    if mentions(hook, written, command) { Owner::Wrapped } else { Owner::Other }
}

/// The program of a hook in one of the forms that are written here; `None` for any other hook.
pub(super) fn program_of(hook: &Value) -> Option<String> {
    let written = hook.get("command")?.as_str()?;
    match hook.get("args") {
        Some(args) => (*args == json!(["hook", "claude-code"])).then(|| written.to_owned()),
        None => program(written),
    }
}

/// The program of a command in the form that is written for shells; `None` for any other command.
fn program(written: &str) -> Option<String> {
    let bare = [OR_DENY, OR_DENY_BEFORE].iter().find_map(|end| written.strip_suffix(end)).unwrap_or(written);
    let word = bare.strip_suffix(ARGUMENTS)?.strip_suffix(' ')?;
    let bare = match word.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some(inside) => inside.replace(ESCAPED, "'"),
        None => word.to_owned(),
    };
    (quoted(&bare) == word).then_some(bare)
}

/// Whether a command, its arguments included, speaks of the guard.
fn mentions(hook: &Value, written: &str, command: &str) -> bool {
    let args = hook.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let words: Vec<String> = std::iter::once(written)
        .chain(args)
        .flat_map(str::split_whitespace)
        .map(|word| word.replace(['\'', '"'], ""))
        .collect();
    let text = words.join(" ");
    text.contains(ARGUMENTS) && (text.contains("phasegate") || text.contains(command))
}

fn is_named(program: &str, name: &str) -> bool {
    let last = program.rsplit(['/', '\\']).next().unwrap_or(program);
    last == name || last.strip_suffix(".exe") == Some(name)
}

/// A quotation mark within a word in quotation marks.
const ESCAPED: &str = r"'\''";

/// The command as one word of a POSIX shell.
pub(super) fn quoted(command: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if !command.is_empty() && command.chars().all(plain) {
        return command.to_owned();
    }
    format!("'{}'", command.replace('\'', ESCAPED))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::{Form, hook_entry};
    use super::{Owner, of};

    fn shell(command: &str) -> Value {
        json!({"type": "command", "command": command})
    }

    #[test]
    fn what_is_written_here_is_ours() {
        for command in ["phasegate", "/opt/it's here/phasegate", "/opt/guard", "C:\\tools\\phasegate.exe"] {
            for (event, form) in [("Stop", Form::Shell), ("PreToolUse", Form::Shell), ("PreToolUse", Form::Exec)] {
                let entry = hook_entry(event, command, form);
                assert_eq!(of(&entry, command), Owner::Ours, "{entry}");
                let elsewhere = if command == "/opt/guard" { Owner::Other } else { Owner::Ours };
                assert_eq!(of(&entry, "/new/phasegate"), elsewhere, "{entry}");
            }
        }
    }

    #[test]
    fn what_was_written_before_is_ours() {
        for command in ["phasegate hook claude-code || exit 2", "'/a b/phasegate' hook claude-code || exit 2"] {
            assert_eq!(of(&shell(command), "phasegate"), Owner::Ours, "{command}");
        }
    }

    #[test]
    fn what_others_wrote_around_it_is_theirs() {
        for command in [
            "PHASEGATE_LOG_FILE=/tmp/l /opt/phasegate hook claude-code || exit 2",
            "phasegate hook claude-code || true",
            "phasegate hook claude-code; exit 0",
            "phasegate  hook claude-code",
            "\"$CLAUDE_PROJECT_DIR\"/bin/phasegate hook claude-code",
            "sh -c 'phasegate hook claude-code'",
            "a'b'/phasegate hook claude-code",
        ] {
            assert_eq!(of(&shell(command), "phasegate"), Owner::Wrapped, "{command}");
        }
        let through = json!({"type": "command", "command": "env", "args": ["A=b", "phasegate", "hook", "claude-code"]});
        assert_eq!(of(&through, "phasegate"), Owner::Wrapped);
    }

    #[test]
    fn the_rest_is_nobodys_business() {
        for hook in
            [shell("./lint.sh"), shell("phasegate check"), shell("tool hook claude-code"), json!({"type": "http"})]
        {
            assert_eq!(of(&hook, "phasegate"), Owner::Other, "{hook}");
        }
    }
}
