//! The texts among a tool's arguments, and what each of them may be: a path in one of its spellings, a line, or words of a
//! person.

use std::borrow::Cow;
use std::path::Path;

use phasegate_core::commands::slash_command;
use phasegate_core::shell::shell_word::quoted;
use phasegate_shell::{Part, Pattern};
use serde_json::{Map, Value};

/// The names of arguments that hold a command line or a script.
const SCRIPTS: [&str; 9] = ["command", "cmd", "script", "code", "shell", "bash", "args", "argv", "run"];
/// The words by which a tool says that it takes something away from where it is.
const REMOVALS: [&str; 8] = ["delete", "remove", "move", "rename", "trash", "unlink", "rmdir", "rmtree"];
/// The names of arguments that hold those of another tool. Elsewhere JSON is a file's content more likely than a call.
const CALLS: [&str; 8] = ["arguments", "args", "params", "parameters", "input", "kwargs", "payload", "tool_input"];
/// How many times a text may be JSON that holds a text that is JSON.
const MAX_JSON_DEPTH: usize = 4;

/// Programs that put something into a folder under its own name.
pub(in crate::analysis) const COPIES: [&str; 8] = ["cp", "gcp", "ditto", "mv", "install", "ln", "rsync", "scp"];

/// The name that paths made of several arguments are found under.
const PATH: &str = "path";
/// The most arguments beside each other that may be parts of one path, and the longest of them in bytes.
const MAX_PARTS: usize = 16;
const MAX_PART: usize = 256;

/// Whether an argument of this name holds a command line or a script.
pub(in crate::analysis) fn is_script(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| SCRIPTS.contains(&word) || word.strip_suffix('s').is_some_and(|word| SCRIPTS.contains(&word)))
}

/// Whether a tool of this name says that it takes something away from where it is.
pub(in crate::analysis) fn removes(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    REMOVALS.iter().any(|word| tool.contains(word))
}

/// Whether a text is what only a person may type: later it could be sent as if one had.
pub(in crate::analysis) fn is_typed(text: &str) -> bool {
    slash_command::addressed(blanks_off(text))
}

/// Calls `found` with every text among the arguments, the keys too, and with the name that it stands under; with the
/// line that a list of words is; and with what is in a text that is a call in JSON.
pub(in crate::analysis) fn each_text(value: &Value, name: &str, found: &mut dyn FnMut(&str, &str)) {
    walk(value, name, MAX_JSON_DEPTH, found);
}

fn walk(value: &Value, name: &str, depth: usize, found: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::String(text) => {
            found(name, text);
            let call = depth > 0 && CALLS.contains(&name.to_ascii_lowercase().as_str());
            if let Some(inner) = if call { json_in(text) } else { None } {
                walk(&inner, name, depth.saturating_sub(1), found);
            }
        }
        Value::Array(items) => {
            if let Some(line) = line_of(items) {
                found("command", &line);
            }
            let parts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            if parts.len() > 1 && parts.len() <= MAX_PARTS {
                found(PATH, &parts.join("/"));
            }
            items.iter().for_each(|item| walk(item, name, depth, found));
        }
        Value::Object(fields) => {
            if let Some(line) = program_of(fields) {
                found("command", &line);
            }
            lines_elsewhere(fields).iter().for_each(|line| found("command", line));
            for (name, item) in fields {
                found("", name);
                walk(item, name, depth, found);
            }
            paths_of(fields).iter().for_each(|path| found(PATH, path));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The paths that two arguments beside each other are: a folder and a name.
fn paths_of(fields: &Map<String, Value>) -> Vec<String> {
    let short = |text: &&str| !text.is_empty() && text.len() <= MAX_PART && !text.contains(['\n', ' ']);
    let texts: Vec<&str> = fields.values().filter_map(Value::as_str).filter(short).take(MAX_PARTS).collect();
    let beside = |(at, folder): (usize, &&str)| {
        let folder = folder.trim_end_matches('/').to_string();
        let others = texts.iter().enumerate().filter(move |(other, _)| *other != at);
        // What is copied into a folder has the last name of its path.
        others.map(move |(_, name)| {
            format!("{folder}/{}", name.rsplit('/').next().filter(|_| is_elsewhere(name)).unwrap_or(name))
        })
    };
    texts.iter().enumerate().flat_map(beside).collect()
}

/// Whether a path says that it is no name below another one.
fn is_elsewhere(path: &str) -> bool {
    path.starts_with(['/', '~']) || path.starts_with("../")
}

/// The lines beside an argument that names the folder in which they run, as lines that go there first.
fn lines_elsewhere(fields: &Map<String, Value>) -> Vec<String> {
    let texts = || fields.iter().filter_map(|(name, value)| Some((name, value.as_str()?)));
    let lines = || texts().filter(|(name, _)| is_script(name));
    let folders = texts().filter(|(name, text)| is_folder(name) && !text.is_empty() && text.len() <= MAX_PART);
    let all = folders
        .flat_map(|(_, folder)| lines().map(move |(_, line)| format!("cd '{}' && {line}", folder.replace('\'', ""))));
    all.take(MAX_PARTS).collect()
}

/// Whether an argument of this name says in which folder something runs.
fn is_folder(name: &str) -> bool {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    ["cwd", "workdir", "workingdir", "workingdirectory", "dir", "directory", "folder", "root", "path", "chdir"]
        .contains(&name.as_str())
}

/// The arguments of a registration with its list of pairs as the object that it stands for: a pattern is no line that runs.
pub(in crate::analysis) fn keyed_patterns(input: &Value) -> Cow<'_, Value> {
    let pair = |item: &Value| match item.as_array().map(Vec::as_slice) {
        Some([Value::String(pattern), level @ Value::String(_)]) => Some((pattern.clone(), level.clone())),
        _ => None,
    };
    let pairs = input.get("commands").and_then(Value::as_array);
    let Some(keyed) = pairs.and_then(|items| items.iter().map(pair).collect::<Option<Map<_, _>>>()) else {
        return Cow::Borrowed(input);
    };
    let mut changed = input.clone();
    if let Some(commands) = changed.get_mut("commands") {
        *commands = Value::Object(keyed);
    }
    Cow::Owned(changed)
}

/// What a text is that holds a list or an object in JSON.
fn json_in(text: &str) -> Option<Value> {
    let text = blanks_off(text);
    if text.starts_with(['{', '[']) { serde_json::from_str(text).ok() } else { None }
}

/// The line that two words or more are when they are run.
fn line_of(items: &[Value]) -> Option<String> {
    let words: Option<Vec<String>> = items.iter().map(|item| item.as_str().map(quoted)).collect();
    words.filter(|words| words.len() > 1).map(|words| words.join(" "))
}

/// The line of a program that stands beside a list of its arguments.
fn program_of(fields: &Map<String, Value>) -> Option<String> {
    let program = fields.iter().find_map(|(name, value)| value.as_str().filter(|_| is_script(name)))?;
    let arguments = fields.values().filter_map(Value::as_array).find_map(|items| {
        let words: Option<Vec<String>> = items.iter().map(|item| item.as_str().map(quoted)).collect();
        words.filter(|words| !words.is_empty())
    })?;
    Some(format!("{program} {}", arguments.join(" ")))
}

/// The paths that a text may be, in the spellings that platforms and servers take: as it stands, without blanks around it,
/// below the home folder, and as a web address of a file.
pub(in crate::analysis) fn spellings(text: &str, home: &str) -> Vec<String> {
    let bare = blanks_off(text);
    let mut all = vec![text.to_string()];
    if bare != text {
        all.push(bare.to_string());
    }
    if bare == "~" || bare.starts_with("~/") {
        all.push(format!("{home}{}", bare.trim_start_matches('~')));
    }
    let scheme = bare.get(.."file:".len()).is_some_and(|start| start.eq_ignore_ascii_case("file:"));
    if scheme && let Some(rest) = bare.get("file:".len()..) {
        let below = rest.strip_prefix("//").unwrap_or(rest);
        let path = below.find('/').and_then(|at| below.get(at..)).filter(|_| below != rest);
        for path in [Some(rest), Some(below), path].into_iter().flatten() {
            all.push(path.to_string());
            all.extend(decoded(path));
        }
    }
    all
}

/// A text without the blanks at its ends, those that JavaScript counts as such included.
pub(in crate::analysis) fn blanks_off(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// A text with percent escapes (`%2e`) decoded; `None` if it has none.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    let mut any = false;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|pair| str::from_utf8(pair).ok());
        let byte = digits.filter(|pair| pair.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match byte.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) => {
                any = true;
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    any.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether the part's program is one of these.
pub(in crate::analysis) fn is_one_of(part: &Part, programs: &[&str]) -> bool {
    let name = part.words.first().and_then(Pattern::text);
    name.is_some_and(|name| {
        Path::new(&name).file_name().is_some_and(|name| programs.iter().any(|program| name == *program))
    })
}

/// Whether a part only makes empty folders.
pub(in crate::analysis) fn makes_folders(part: &Part) -> bool {
    part.words.first().and_then(Pattern::text).is_some_and(|program| program.rsplit('/').next() == Some("mkdir"))
}
