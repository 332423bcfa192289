//! One server of a list: how it is reached, and the same through the relay.

use jsonc_parser::cst::{CstInputValue, CstObject};
use serde_json::Value;

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Through the relay, as it is written here.
    Behind,
    /// It is the guard's own server, or a relay in a form that `init` does not write.
    Own,
    /// A program is started.
    Command(String),
    /// It is asked over HTTP.
    Url {
        /// Where.
        url: String,
        /// With these headers, each as `NAME: VALUE`.
        headers: Vec<String>,
    },
    /// In a way that the relay cannot take: why.
    Odd(String),
}

/// What stands before a server's own command or address, without its name.
const WORDS: [&str; 3] = ["mcp", "proxy", "--server"];

/// The kinds of servers over HTTP that the relay speaks to.
pub(crate) const HTTP: [&str; 3] = ["http", "streamable-http", "streamableHttp"];

/// How this server is reached, where `guard` is how the guard is run now.
pub(crate) fn of(object: &CstObject, guard: &str) -> Entry {
    let Some(entry) = object.to_serde_value() else { return Entry::Odd("cannot be read".into()) };
    let text = |name: &str| entry.get(name).and_then(Value::as_str).map(str::to_owned);
    let kind = text("type");
    if let (Some(program), None) = (text("command"), entry.get("url")) {
        let Some(args) = words(&entry) else { return Entry::Odd("has `args` that are not a list of texts".into()) };
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        return match args.as_slice() {
            words if is_guard(&program, guard) && own_at(words).is_some() => Entry::Behind,
            ["mcp", ..] if is_guard(&program, guard) => Entry::Own,
            _ => Entry::Command(program),
        };
    }
    let Some(url) = text("url").filter(|_| entry.get("command").is_none()) else {
        return Entry::Odd("has not just one of `command` and `url`, as a text".into());
    };
    if let Some(kind) = kind.filter(|kind| !HTTP.contains(&kind.as_str())) {
        return Entry::Odd(format!("is of the type `{kind}`, which the relay does not speak"));
    }
    match headers(&entry) {
        Some(headers) => Entry::Url { url, headers },
        None => Entry::Odd("has `headers` that are not texts by name".into()),
    }
}

/// Where a server's own command or address begins, behind the words of the relay; `None` if the relay stands in no form
/// that `init` writes.
fn own_at<T: AsRef<str>>(args: &[T]) -> Option<usize> {
    let words: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
    let rest = words.strip_prefix(&WORDS).filter(|rest| !rest.is_empty())?;
    let options = rest.get(1..)?.chunks(2).take_while(|pair| matches!(pair, ["--skill" | "--mode", _])).count();
    let at = WORDS.len() + 1 + 2 * options;
    matches!(words.get(at..), Some(["--" | "--url", _, ..])).then_some(at)
}

/// The words that put these skills in force.
fn skill_words(skills: &[String]) -> impl Iterator<Item = String> + '_ {
    skills.iter().flat_map(|skill| ["--skill".to_owned(), skill.clone()])
}

/// How the relay is put before a server.
pub(crate) struct Relay<'a> {
    /// The server's name.
    pub(crate) name: &'a str,
    /// The command that runs the guard.
    pub(crate) guard: &'a str,
    /// The skills that are in force from the start; none: as it is.
    pub(crate) skills: &'a [String],
}

/// Puts the relay before a server, or updates the guard's program and the skills if the relay is already there.
pub(crate) fn put(object: &CstObject, entry: &Entry, relay: &Relay<'_>) {
    let Relay { name, guard, skills } = *relay;
    let set = |key: &str, value: CstInputValue| match object.get(key) {
        Some(property) => property.set_value(value),
        None => drop(object.append(key, value)),
    };
    let before = WORDS.into_iter().chain([name]).map(str::to_owned).chain(skill_words(skills));
    match entry {
        Entry::Command(program) => {
            let args = object.array_value_or_create("args");
            set("command", CstInputValue::String(guard.to_owned()));
            let words = before.chain(["--".to_owned(), program.clone()]);
            match args {
                // One word a line: the others and their comments stay where they are.
                Some(list) if list.to_string().contains('\n') => {
                    for (place, word) in words.enumerate() {
                        list.insert(place, CstInputValue::String(word));
                    }
                }
                list => {
                    let present = object.to_serde_value().as_ref().and_then(self::words).unwrap_or_default();
                    let all = words.chain(present.into_iter().filter(|_| list.is_some()));
                    set("args", CstInputValue::Array(all.map(CstInputValue::String).collect()));
                }
            }
        }
        Entry::Url { url, headers } => {
            let words = before.chain(["--url".to_owned(), url.clone()]);
            let words = words.chain(headers.iter().flat_map(|header| ["--header".to_owned(), header.clone()]));
            remove(object, &["url", "headers"]);
            if object.get("type").is_some() {
                set("type", CstInputValue::String("stdio".to_owned()));
            }
            set("command", CstInputValue::String(guard.to_owned()));
            set("args", CstInputValue::Array(words.map(CstInputValue::String).collect()));
        }
        Entry::Behind => {
            if object.to_serde_value().is_some_and(|entry| entry.get("command").and_then(Value::as_str) != Some(guard))
            {
                set("command", CstInputValue::String(guard.to_owned()));
            }
            if !skills.is_empty() {
                put_skills(object, skills);
            }
        }
        Entry::Own | Entry::Odd(_) => {}
    }
}

/// Puts these skills in force in a relay, instead of those that are.
fn put_skills(object: &CstObject, skills: &[String]) {
    let args = object.to_serde_value().as_ref().and_then(words).unwrap_or_default();
    let (Some(list), Some(at)) = (object.array_value("args"), own_at(&args)) else { return };
    let first = WORDS.len() + 1;
    let present: Vec<usize> =
        (first..at).step_by(2).filter(|place| args.get(*place).is_some_and(|word| word == "--skill")).collect();
    let wanted: Vec<String> = skill_words(skills).collect();
    if present.iter().flat_map(|place| args.get(*place..place + 2).unwrap_or_default()).eq(&wanted) {
        return;
    }
    let elements = list.elements();
    for place in present.into_iter().flat_map(|place| [place, place + 1]) {
        if let Some(word) = elements.get(place) {
            word.clone().remove();
        }
    }
    for (place, word) in wanted.into_iter().enumerate() {
        list.insert(first + place, CstInputValue::String(word));
    }
}

/// Takes the relay away from before a server.
pub(crate) fn take(object: &CstObject) {
    let args = object.to_serde_value().as_ref().and_then(words).unwrap_or_default();
    let Some(at) = own_at(&args) else { return };
    match args.get(at).map(String::as_str) {
        Some("--") => {
            if let (Some(command), Some(program)) = (object.get("command"), args.get(at + 1)) {
                command.set_value(CstInputValue::String(program.clone()));
            }
            let list = object.array_value("args");
            let words = list.map(|list| list.elements()).unwrap_or_default();
            let bare = words.len() == at + 2;
            for word in words.into_iter().take(at + 2) {
                word.remove();
            }
            if bare {
                remove(object, &["args"]);
            }
        }
        Some("--url") => {
            let url = args.get(at + 1).cloned().unwrap_or_default();
            let headers = args.iter().skip(at + 2).filter_map(|word| word.split_once(": "));
            let headers: Vec<(String, CstInputValue)> =
                headers.map(|(name, value)| (name.to_owned(), CstInputValue::String(value.to_owned()))).collect();
            remove(object, &["command", "args"]);
            if let Some(kind) = object.get("type") {
                kind.set_value(CstInputValue::String("http".to_owned()));
            }
            object.append("url", CstInputValue::String(url));
            if !headers.is_empty() {
                object.append("headers", CstInputValue::Object(headers));
            }
        }
        _ => {}
    }
}

fn remove(object: &CstObject, keys: &[&str]) {
    for key in keys {
        if let Some(property) = object.get(key) {
            property.remove();
        }
    }
}

/// The arguments; `None` if they are not a list of texts.
fn words(entry: &Value) -> Option<Vec<String>> {
    match entry.get("args") {
        None => Some(Vec::new()),
        Some(args) => args.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect(),
    }
}

/// The headers, each as `NAME: VALUE`; `None` if they are not texts by name.
fn headers(entry: &Value) -> Option<Vec<String>> {
    match entry.get("headers") {
        None => Some(Vec::new()),
        Some(headers) => {
            headers.as_object()?.iter().map(|(name, value)| Some(format!("{name}: {}", value.as_str()?))).collect()
        }
    }
}

/// Whether this program is the guard.
fn is_guard(program: &str, guard: &str) -> bool {
    let last = program.rsplit(['/', '\\']).next().unwrap_or(program);
    program == guard || last == "phasegate" || last == "phasegate.exe"
}
