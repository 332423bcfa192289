//! Other spellings of what a line names: of its folder, of the home folder, of a path that a program prints as it is given.

/// Spellings of the folder that a line is in, the longer ones first.
const HERE: [&str; 9] = [
    "$(git rev-parse --show-toplevel)",
    "$(git rev-parse --show-cdup)",
    "`git rev-parse --show-toplevel`",
    "$(pwd -P)",
    "$(pwd -L)",
    "${PWD}",
    "$PWD",
    "$(pwd)",
    "`pwd`",
];
/// Spellings of the folder around it.
const AROUND: [&str; 2] = ["${PWD%/*}", "$(dirname $PWD)"];
/// Programs that print the path that they are given, where it is one.
const PRINTS_PATH: [&str; 7] =
    ["realpath ", "realpath -m ", "realpath -e ", "readlink -f ", "readlink -e ", "readlink -m ", "echo "];
/// What stands between a variable and the value that it has where it is not set.
const DEFAULTS: [&str; 4] = [":-", ":=", "-", "="];

/// The line in plainer spellings, where it has others.
pub(super) fn plainer(line: &str) -> Option<String> {
    let around = AROUND.iter().fold(line.to_owned(), |line, name| line.replace(name, ".."));
    let here = HERE.iter().fold(around, |line, name| line.replace(name, "."));
    let here = [" ", "=", "\"", ">", "("]
        .iter()
        .fold(here, |line, before| line.replace(&format!("{before}~+"), &format!("{before}.")));
    let plain = with_defaults(&without_printers(&here));
    (plain != line).then_some(plain)
}

/// The line with the path in place of the program that prints it.
fn without_printers(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some((before, after)) = rest.split_once("$(") {
        out.push_str(before);
        let inner = after.split_once(')').map(|(inner, behind)| (inner.trim(), behind));
        let path = inner.and_then(|(inner, behind)| {
            let path =
                PRINTS_PATH.iter().filter_map(|program| inner.strip_prefix(program)).map(str::trim).next_back()?;
            let path = path.trim_matches('"');
            let plain =
                !path.is_empty() && !path.contains(|sign: char| sign.is_whitespace() || "|;&<>()`'\"*?".contains(sign));
            plain.then_some((path, behind))
        });
        match path {
            Some((path, behind)) => {
                // In quotes a `~` is a letter.
                if path.starts_with('~') && out.ends_with('"') {
                    out.pop();
                    out.push_str(path);
                    out.push('"');
                } else {
                    out.push_str(path);
                }
                rest = behind;
            }
            None => {
                out.push_str("$(");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The line with the value that a variable has where it is not set: `${X:-value}`.
fn with_defaults(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let name = after
            .len()
            .saturating_sub(after.trim_start_matches(|sign: char| sign.is_ascii_alphanumeric() || sign == '_').len());
        let default = after.get(name..).and_then(|behind| DEFAULTS.iter().find_map(|sign| behind.strip_prefix(sign)));
        match default.and_then(|default| Some((default, closing(default)?))).filter(|_| name > 0) {
            Some((default, end)) => {
                out.push_str(default.get(..end).unwrap_or_default());
                rest = default.get(end.saturating_add(1)..).unwrap_or_default();
            }
            None => {
                out.push_str("${");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Where the bracket ends that is open where the text begins.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1_u32;
    for (at, sign) in text.char_indices() {
        match sign {
            '{' => depth = depth.saturating_add(1),
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::plainer;

    #[test]
    fn a_line_is_spelled_as_it_is_read() {
        for (line, plain) in [
            ("rm -rf ~+/.c*", "rm -rf ./.c*"),
            ("rm -rf \"$(pwd -P)\"/.c*", "rm -rf \".\"/.c*"),
            ("rm -rf $(realpath .)/.c*", "rm -rf ./.c*"),
            ("cd $(realpath ~)/.local && rm -rf *", "cd ~/.local && rm -rf *"),
            ("cd \"$(echo ~)/.local\"", "cd ~\"/.local\""),
            ("rm -rf ${XDG_STATE_HOME:-$HOME/.local/state}", "rm -rf $HOME/.local/state"),
            ("rm ${A:-${B:-x}}/y", "rm ${B:-x}/y"),
            ("rm ${PWD%/*}/p", "rm ../p"),
        ] {
            assert_eq!(plainer(line).as_deref(), Some(plain), "{line}");
        }
        for line in ["rm ${#x}", "echo $(date)", "ls ${x%.c}", "echo $(echo a | tr a b)"] {
            assert_eq!(plainer(line), None, "{line}");
        }
    }
}
