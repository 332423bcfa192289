//! What Claude Code gives its shell: `source SNAPSHOT ... && eval 'LINE' < /dev/null && pwd -P >| FILE`.
//!
//! Seen in 2.1.197 to 2.1.332: the last word `eval` outside of quotes stands before the line, and the last `>|` before the
//! file in which the shell leaves its folder. A plain word stands without quotes, and a here-document without `< /dev/null`.
//! The client takes only a shell whose file is named `bash` or `zsh`, and else falls back to another without a word.

use std::path::{Path, PathBuf};

use phasegate_adapter::{ClientShell, ShellText};
use serde_json::Value;

/// How the text begins by which the client makes a snapshot of a person's shell.
const SNAPSHOT: &str = "SNAPSHOT_FILE=";

/// The shell of the client.
pub(crate) struct Shell;

impl ClientShell for Shell {
    fn variable(&self) -> &'static str {
        "CLAUDE_CODE_SHELL"
    }

    fn folder_variable(&self) -> &'static str {
        "CLAUDE_CONFIG_DIR"
    }

    fn read(&self, text: &str) -> Option<ShellText> {
        let line = line_in(text)?;
        let file = text.rsplit_once("pwd -P >| ").and_then(|(_, file)| word(file)).map(|(file, _)| PathBuf::from(file));
        Some(ShellText { line, folder_file: file.filter(|file| is_of_folder(file)) })
    }

    fn is_of_client(&self, text: &str) -> bool {
        text.starts_with(SNAPSHOT)
    }

    fn named(&self, settings: &str) -> Option<String> {
        let settings: Value = serde_json::from_str(settings).ok()?;
        settings.get("env")?.get(self.variable())?.as_str().map(str::to_owned)
    }

    fn is_sandboxed(&self, settings: &str) -> bool {
        let settings: Value = serde_json::from_str(settings).unwrap_or_default();
        settings.pointer("/sandbox/enabled") == Some(&Value::Bool(true))
    }

    fn folders(&self, variable: &dyn Fn(&str) -> Option<PathBuf>, temporary: &Path, user: u32) -> Vec<PathBuf> {
        let usual = temporary.join(format!("claude-{user}"));
        variable("CLAUDE_CODE_TMPDIR").into_iter().chain([usual]).collect()
    }
}

/// Whether the client would name a file so.
fn is_of_folder(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    file.is_absolute() && name.starts_with("claude-") && name.ends_with("-cwd")
}

/// The line behind the last `eval` that stands outside of quotes: what hooks have the client put before it may hold others.
fn line_in(text: &str) -> Option<String> {
    let (mut rest, mut line) = (text.trim_start(), None);
    while !rest.is_empty() {
        let (found, after) = word(rest)?;
        rest = after.trim_start();
        if found == "eval" {
            line = word(rest).map(|(line, _)| line);
        }
    }
    line
}

/// The first word of a text without its quotes, and what follows it.
fn word(text: &str) -> Option<(String, &str)> {
    let (mut found, mut signs) = (String::new(), text.char_indices());
    let mut quote = None;
    while let Some((at, sign)) = signs.next() {
        match (quote, sign) {
            (None, ' ' | '\n' | '\t') => return Some((found, text.get(at..)?)),
            (None, '\'' | '"') => quote = Some(sign),
            (Some(open), _) if sign == open => quote = None,
            (None, '\\') => found.push(signs.next()?.1),
            (Some('"'), '\\') => match signs.next()?.1 {
                escaped @ ('$' | '`' | '"' | '\\') => found.push(escaped),
                '\n' => {}
                other => found.extend(['\\', other]),
            },
            _ => found.push(sign),
        }
    }
    quote.is_none().then_some((found, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "source /h/.claude/shell-snapshots/s.sh 2>/dev/null || true && \\builtin shopt -u extglob 2>/dev/null || true \
                        && { \\builtin unalias -- 'which'; \\builtin unset -f -- 'which'; } >/dev/null 2>&1 || true && ";

    fn line(text: &str) -> Option<String> {
        Shell.read(text).map(|found| found.line)
    }

    #[test]
    fn the_line_is_found_in_each_form_that_the_client_writes() {
        for (written, line) in [
            (r#"eval 'cd /tmp && echo '"'"'a b'"'"' | cat' < /dev/null"#, "cd /tmp && echo 'a b' | cat"),
            ("eval 'cat <<EOF\nx $HOME\nEOF'", "cat <<EOF\nx $HOME\nEOF"),
            ("eval false < /dev/null", "false"),
            ("{ case x in *) eval 'echo `id`' ;; esac; } < /dev/null", "echo `id`"),
            (r#"eval 'eval "$x"' < /dev/null"#, r#"eval "$x""#),
            (r#"eval "echo \$x \"y\" \z" < /dev/null"#, r#"echo $x "y" \z"#),
        ] {
            let found = Shell.read(&format!("{HEAD}{written} && pwd -P >| /tmp/claude-1e42-cwd")).unwrap();
            let folder_file = Some("/tmp/claude-1e42-cwd".into());
            assert_eq!(found, ShellText { line: line.into(), folder_file }, "{written}");
        }
    }

    #[test]
    fn a_line_cannot_pass_for_another() {
        let hidden = "eval 'rm x; eval ls < /dev/null && pwd -P >| f' < /dev/null";
        assert_eq!(line(&format!("{HEAD}{hidden}")).as_deref(), Some("rm x; eval ls < /dev/null && pwd -P >| f"));
        assert_eq!(line(&format!("eval \"$(direnv hook)\" && {HEAD}{hidden}")), line(hidden));
        assert!(Shell.is_of_client("SNAPSHOT_FILE=/h/s.sh\necho eval x") && !Shell.is_of_client(hidden));
        assert_eq!(Shell.read("eval 'x' && pwd -P >| /h/.bashrc").unwrap().folder_file, None);
        assert_eq!((line("a\n\nb eval c"), line("x\n \ty")), (Some("c".into()), None));
        assert_eq!((line("env"), line("eval 'open")), (None, None));
    }
}
