//! The file that lists servers, in the form that clients use: `{"mcpServers": {NAME: {"command": ..., "args": ...}}}`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::install::entry::HTTP;
use crate::message::tool_call::server_name;
use crate::proxy::{Origin, Spec};
use crate::wire::stdio::Command;

/// The file. What clients keep in it besides is theirs.
#[derive(Deserialize)]
struct File {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
struct Entry {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    url: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

/// The servers that the text lists. `only` picks one of them; `variable` gives the environment's values, which stand where
/// the text has `${NAME}` or `${NAME:-otherwise}`.
///
/// # Errors
///
/// What is wrong with the text, as a fragment.
pub fn servers(text: &str, only: Option<&str>, variable: impl Fn(&str) -> Option<String>) -> Result<Vec<Spec>, String> {
    let file: File = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut specs: Vec<Spec> = Vec::new();
    for (name, entry) in file.servers {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let origin = origin(entry, &variable).map_err(|what| format!("the server `{name}` {what}"))?;
        specs.push(Spec { name, trusted: false, origin });
    }
    match only {
        Some(only) if specs.is_empty() => return Err(format!("no server `{only}` is listed")),
        None if specs.is_empty() => return Err("no server is listed".to_owned()),
        _ => {}
    }
    check_names(&specs)?;
    Ok(specs)
}

fn origin(entry: Entry, variable: &impl Fn(&str) -> Option<String>) -> Result<Origin, String> {
    let fill = |text: &str| filled(text, variable);
    let fill_all = |fields: &BTreeMap<String, String>| {
        let filled = fields.iter().map(|(name, value)| Ok((name.clone(), fill(value)?)));
        filled.collect::<Result<BTreeMap<_, _>, String>>()
    };
    if let (Some(kind), Some(_)) = (&entry.kind, &entry.url)
        && !HTTP.contains(&kind.as_str())
    {
        return Err(format!(
            "is of the type `{kind}`, which the relay does not speak; it speaks `http` (streamable HTTP)"
        ));
    }
    match (entry.command, entry.url) {
        (Some(program), None) => Ok(Origin::Command(Command {
            program: fill(&program)?,
            args: entry.args.iter().map(|arg| fill(arg)).collect::<Result<_, _>>()?,
            env: fill_all(&entry.env)?,
            cwd: entry.cwd.as_deref().map(fill).transpose()?.map(Into::into),
        })),
        #[cfg(feature = "http")]
        (None, Some(url)) => remote(&fill(&url)?, fill_all(&entry.headers)?),
        #[cfg(not(feature = "http"))]
        (None, Some(_)) => {
            let _ = fill_all(&entry.headers)?;
            Err("has a `url`, and this build has no HTTP".to_owned())
        }
        (Some(_), Some(_)) => Err("has both `command` and `url`".to_owned()),
        (None, None) => Err("has neither `command` nor `url`".to_owned()),
    }
}

#[cfg(feature = "http")]
fn remote(url: &str, headers: BTreeMap<String, String>) -> Result<Origin, String> {
    let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let remote = crate::http::Remote::new(url, headers).map_err(|bad| format!("cannot be reached: {bad}"))?;
    Ok(Origin::Url(remote))
}

/// The text with the variables' values, as [`servers`] reads it.
///
/// # Errors
///
/// A variable is not set.
pub fn filled(text: &str, variable: &impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, after)) = after.split_once('}') else { break };
        let (name, otherwise) = inside.split_once(":-").map_or((inside, None), |(name, text)| (name, Some(text)));
        let value = variable(name).or_else(|| otherwise.map(ToOwned::to_owned));
        filled.push_str(before);
        filled.push_str(&value.ok_or_else(|| format!("uses the variable `{name}`, which is not set"))?);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// Whether `SERVER__TOOL` is unambiguous for several servers: the names differ in that spelling, and form no `__` by
/// themselves or with what follows.
fn check_names(specs: &[Spec]) -> Result<(), String> {
    let names: Vec<String> = specs.iter().map(|spec| server_name(&spec.name)).collect();
    for (place, name) in names.iter().enumerate().filter(|_| specs.len() > 1) {
        if names.iter().take(place).any(|before| before == name) {
            return Err(format!("two servers would both be called `{name}` in the names of tools"));
        }
        if name.contains("__") || name.ends_with('_') {
            let why = "its name has `__`, or ends with `_`";
            return Err(format!("the server `{name}` cannot stand before tools of several servers: {why}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::servers;
    use crate::proxy::Origin;

    fn read(text: &str, only: Option<&str>) -> Result<Vec<(String, String)>, String> {
        let variable = |name: &str| (name == "HOME").then(|| "/folder".to_owned());
        let specs = servers(text, only, variable)?;
        let shown = |origin: &Origin| match origin {
            Origin::Command(command) => format!("{} {}", command.program, command.args.join(" ")),
            #[cfg(feature = "http")]
            Origin::Url(_) => "url".to_owned(),
        };
        Ok(specs.iter().map(|spec| (spec.name.clone(), shown(&spec.origin))).collect())
    }

    #[test]
    fn the_clients_own_form_is_read() {
        let text = r#"{"mcpServers": {
            "b": {"type": "stdio", "command": "${HOME}/run", "args": ["${X:-x}", "$Y"], "timeout": 3},
            "a": {"command": "go"}
        }, "other": 1}"#;
        let pair = |name: &str, line: &str| (name.to_owned(), line.to_owned());
        assert_eq!(read(text, None), Ok(vec![pair("a", "go "), pair("b", "/folder/run x $Y")]));
        assert_eq!(read(text, Some("a")), Ok(vec![pair("a", "go ")]));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (text, only) in [
            ("{}", None),
            (r#"{"mcpServers": {}}"#, None),
            (r#"{"mcpServers": {"a": {"command": "x"}}}"#, Some("b")),
            (r#"{"mcpServers": {"a": {}}}"#, None),
            (r#"{"mcpServers": {"a": {"command": "x", "url": "http://127.0.0.1/"}}}"#, None),
            (r#"{"mcpServers": {"a": {"command": "${NOT_SET}"}}}"#, None),
            (r#"{"mcpServers": {"a": {"type": "sse", "url": "http://127.0.0.1/"}}}"#, None),
            (r#"{"mcpServers": {"a b": {"command": "x"}, "a_b": {"command": "y"}}}"#, None),
            (r#"{"mcpServers": {"a__b": {"command": "x"}, "c": {"command": "y"}}}"#, None),
            (r#"{"mcpServers": {"a": {"command": "x"}, "a_": {"command": "y"}}}"#, None),
        ] {
            assert!(read(text, only).is_err(), "{text}");
        }
    }
}
