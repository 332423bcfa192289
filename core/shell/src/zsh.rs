//! Lines that zsh reads otherwise than bash, where the difference can run or write something.

use crate::tree::Span;

/// Variables and tables that change which program a word starts, or name a program that zsh starts by itself.
const NAMES: [&str; 15] = [
    "NULLCMD",
    "READNULLCMD",
    "path",
    "cdpath",
    "fpath",
    "module_path",
    "commands",
    "functions",
    "aliases",
    "galiases",
    "saliases",
    "dis_aliases",
    "dis_functions",
    "precmd_functions",
    "MODULE_PATH",
];

/// What zsh reads otherwise in a line, and where; `None` where it means to zsh what it means to bash, as far as known.
///
/// Source: the manual of zsh 5.9, sections "Redirection" (`NULLCMD`), "Expansion" (parameters, `=NAME`), "Builtins" (`hash`,
/// `read -t`), "Conditional expressions" (arithmetic in `[`), "The zsh/parameter module".
pub(crate) fn difference(line: &str) -> Option<(&'static str, Span)> {
    let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let found = |at: usize, what| Some((what, (place(at), place(line.len()))));
    let mut start = 0_usize;
    for word in line.split(|character: char| character.is_whitespace() || ";|&(){}".contains(character)) {
        let at = start;
        start = at.saturating_add(word.len()).saturating_add(1);
        let name = word.split(['=', '[', '+']).next().unwrap_or(word);
        if NAMES.contains(&name) && name.len() < word.len() {
            return found(at, "zsh looks up programs by this variable");
        }
        if word == "hash" && line.get(..at).is_some_and(begins_command) {
            return found(at, "`hash` can set what a name starts in zsh");
        }
        if word.strip_prefix('=').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_alphabetic())) {
            return found(at, "zsh replaces `=NAME` by the path of a program");
        }
        if word.strip_prefix('-').is_some_and(|rest| rest.ends_with('t')) && line.get(..at).is_some_and(reads) {
            return found(at, "zsh reads the time of `read` as arithmetic");
        }
    }
    let bytes = line.as_bytes();
    let mut at = 0;
    while let Some(dollar) = line.get(at..).and_then(|rest| rest.find('$')).map(|found| found.saturating_add(at)) {
        at = dollar.saturating_add(1);
        let name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let rest = bytes.get(at..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| name(byte)).count();
        let length =
            if length == 0 { usize::from(rest.first().is_some_and(|byte| b"@*#?!$-".contains(byte))) } else { length };
        match (length, rest.get(length), rest.get(1)) {
            (1.., Some(b'['), _) => {
                return found(dollar, "zsh reads `$NAME[...]` as an element, and its index as arithmetic");
            }
            (0, Some(b'=' | b'~' | b'^'), _) => return found(dollar, "zsh splits or expands this value"),
            (0, Some(b'{'), Some(b'(' | b'=' | b'~' | b'^')) => {
                return found(dollar, "zsh has flags for this expansion, which can evaluate its value");
            }
            _ => {}
        }
    }
    line.find("[$(")
        .or_else(|| line.find("[`"))
        .and_then(|at| found(at, "zsh evaluates an index in conditions and arithmetic"))
}

/// Whether a command begins behind this text: at its start, after an operator, or after a word of the shell's own.
fn begins_command(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t']);
    let words = ["do", "then", "else", "if", "while", "until", "!", "builtin", "command", "eval", "time"];
    before.is_empty()
        || before.ends_with([';', '|', '&', '(', '{', '\n', '`'])
        || before.split_ascii_whitespace().next_back().is_some_and(|word| words.contains(&word) || word.contains('='))
}

/// Whether the words end in a command `read` whose options follow.
fn reads(before: &str) -> bool {
    let mut words = before.split_ascii_whitespace().rev();
    words.find(|word| !word.starts_with('-')) == Some("read")
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn what_zsh_reads_otherwise_is_found() {
        let lines = [
            "hash ls=/bin/sh; ls -c 'touch f'",
            "echo $x['$(touch f)']",
            "NULLCMD=./x; >/dev/null",
            "READNULLCMD=./x; <a.txt",
            "path=(/tmp/evil $path); ls",
            "read -t 'a[$(touch f)]' x",
            "read -rt 'n' x",
            "[ 'a[$(touch f)]' -eq 1 ]",
            "echo ${(e)x}",
            "echo $~x",
            "cat =ls",
            "x=1 hash ls=/bin/sh",
            "if true; then hash ls=/bin/sh; fi",
            "eval hash ls=/bin/sh",
            "commands[ls]=/bin/sh; ls",
            "functions[ls]='touch f'; ls",
        ];
        for line in lines {
            assert!(difference(line).is_some(), "{line}");
        }
    }

    #[test]
    fn ordinary_lines_are_left_alone() {
        let lines = [
            "grep -rn 'path' src | head -20",
            "grep -rn hash src && git log --grep hash",
            "ls $HOME/x && cat \"${x:-a}\"",
            "git log --format=%H -1",
            "awk -F= '{print $1}' f",
            "for f in *.rs; do wc -l \"$f\"; done",
            "echo $1 $? $$ \"$@\"",
            "sed -n '/[a-z]$/p' f",
        ];
        for line in lines {
            assert_eq!(difference(line), None, "{line}");
        }
    }
}
