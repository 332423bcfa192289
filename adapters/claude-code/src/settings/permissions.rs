//! The client's own permissions, as data (<https://code.claude.com/docs/en/permissions>).

use std::path::Path;

use phasegate_adapter::{FilePattern, PatternRoot, Permission, PermissionEffect, Problem, Selection};
use phasegate_core::calls::tool::{AGENT, BASH};
use serde_json::Value;

use crate::settings::{Comments, parse};

/// The lists of `permissions`, in the order in which the client looks at them.
const LISTS: [PermissionEffect; 3] = [PermissionEffect::Deny, PermissionEffect::Ask, PermissionEffect::Allow];
/// What the name of a server's tool begins with.
const OF_SERVER: &str = "mcp__";
/// The tools whose patterns are about files that are changed.
const CHANGE: [&str; 4] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];
/// The tools whose patterns are about files that are read.
const READ: [&str; 4] = ["Read", "Glob", "Grep", "LS"];

/// The permissions that a settings file gives.
pub(crate) fn given(path: &Path, text: &str) -> Result<Vec<Permission>, Problem> {
    let (_, root) = parse(path, text, Comments::Refused)?;
    let value = root.to_serde_value().unwrap_or_default();
    let list = |effect: PermissionEffect| {
        let entries = value.get("permissions").and_then(|all| all.get(effect.word())).and_then(Value::as_array);
        entries.into_iter().flatten().filter_map(Value::as_str).map(move |written| permission(effect, written))
    };
    Ok(LISTS.into_iter().flat_map(list).collect())
}

/// An entry, as `TOOL` or `TOOL(SPECIFIER)`.
pub(crate) fn permission(effect: PermissionEffect, written: &str) -> Permission {
    let entry = written.trim();
    let (tool, specifier) = match entry.split_once('(') {
        Some((tool, rest)) => (tool.trim(), Some(rest.strip_suffix(')').unwrap_or(rest).trim())),
        None => (entry, None),
    };
    let selects = selection(tool, specifier.filter(|specifier| !["", "*"].contains(specifier)));
    Permission { effect, written: entry.to_owned(), selects }
}

fn selection(tool: &str, specifier: Option<&str>) -> Result<Selection, String> {
    let name = if tool == "Task" { AGENT } else { tool };
    if let Some(name) = tool.strip_prefix(OF_SERVER) {
        return of_server(name, specifier);
    }
    if name.is_empty() || name.contains(|letter: char| !(letter.is_alphanumeric() || letter == '_')) {
        return Err("it is about several tools, or about none".to_owned());
    }
    let Some(specifier) = specifier else { return Ok(Selection::Tool(name.to_owned())) };
    match name {
        BASH => Ok(Selection::Commands(command_pattern(specifier))),
        AGENT => Ok(Selection::Agent(specifier.to_owned())),
        "WebFetch" => match specifier.strip_prefix("domain:") {
            Some(host) => Ok(Selection::Host(host.to_owned())),
            None => Err("it names no `domain:`".to_owned()),
        },
        _ if CHANGE.contains(&name) || READ.contains(&name) => {
            let files = FilePattern { from: root_of(specifier), pattern: from_root(specifier).to_owned() };
            Ok(Selection::Files { changes: CHANGE.contains(&name), files })
        }
        _ => Err(format!("rules have no patterns for the arguments of `{name}`")),
    }
}

/// A tool of a server, or all of them.
fn of_server(name: &str, specifier: Option<&str>) -> Result<Selection, String> {
    if specifier.is_some() {
        return Err("the client has no patterns for the arguments of servers' tools".to_owned());
    }
    let (server, tool) = name.split_once("__").unwrap_or((name, "*"));
    if server.contains('*') || (tool != "*" && tool.contains('*')) {
        return Err("rules have no patterns for the names of servers and tools".to_owned());
    }
    let server = server.to_owned();
    Ok(if tool == "*" { Selection::Server(server) } else { Selection::ServerTool { server, tool: tool.to_owned() } })
}

/// The older form `PREFIX:*` means `PREFIX *`.
fn command_pattern(specifier: &str) -> String {
    specifier.strip_suffix(":*").map_or_else(|| specifier.to_owned(), |prefix| format!("{prefix} *"))
}

/// A pattern of files with no slash in it is about files in any folder, as in `.gitignore`.
fn root_of(pattern: &str) -> PatternRoot {
    if pattern.starts_with("//") {
        return PatternRoot::Root;
    }
    if pattern.starts_with("~/") {
        return PatternRoot::Home;
    }
    let inside = pattern.trim_end_matches('/');
    if inside.contains('/') && !inside.starts_with("**/") { PatternRoot::Project } else { PatternRoot::Anywhere }
}

fn from_root(pattern: &str) -> &str {
    let begins = ["//", "~/", "./", "/", "**/"].into_iter().find(|begins| pattern.starts_with(begins));
    begins.map_or(pattern, |begins| pattern.trim_start_matches(begins))
}
