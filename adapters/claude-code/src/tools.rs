//! Tool names: the client's own, and the canonical ones that policies use.

use phasegate_core::analysis::{CallAnalysis, PathUse};
use serde_json::Value;

use crate::host::Host;
use crate::wire::McpServer;

/// A tool under its canonical name.
pub(crate) struct Named {
    pub(crate) tool: String,
    pub(crate) native: Option<String>,
    pub(crate) server: Option<String>,
}

/// The canonical name of the tool that the client calls `native`.
pub(crate) fn canonical(host: &Host, native: String, server: Option<McpServer>) -> Named {
    if let Some(row) = host.table.tool(&native).filter(|row| row.canonical != native) {
        return Named { tool: row.canonical.into(), native: Some(native), server: None };
    }
    match split(&native, server) {
        Some((server, tool)) => Named { tool, server: Some(server), native: Some(native) },
        None => Named { tool: native, native: None, server: None },
    }
}

/// The name by which the client's agent calls a tool of a server, or the client's own tool.
pub(crate) fn native(tool: &str, server: Option<&str>) -> String {
    match server {
        Some(server) => format!("mcp__{}__{tool}", normalised(server)),
        None => tool.to_owned(),
    }
}

/// Server and tool of a name like `mcp__server__tool`.
///
/// The client writes a server's name with `_` for every character that is not allowed in a tool's name, and so the server
/// is called here: older clients say nothing else. Where a newer one also gives the name as configured, it shows where
/// the server ends; a server's own `__` is then no riddle.
fn split(native: &str, server: Option<McpServer>) -> Option<(String, String)> {
    let rest = native.strip_prefix("mcp__")?;
    if let Some(McpServer { name }) = server {
        let server = normalised(&name);
        let tool = rest.strip_prefix(server.as_str()).and_then(|rest| rest.strip_prefix("__"));
        if let Some(tool) = tool {
            return Some((server, tool.to_owned()));
        }
    }
    let (server, tool) = rest.split_once("__")?;
    Some((server.to_owned(), tool.to_owned()))
}

fn normalised(server: &str) -> String {
    server.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect()
}

/// The paths that one of the client's own file tools would touch.
pub(crate) fn analysis(host: &Host, tool: &Named, input: &Value) -> CallAnalysis {
    let row = host.table.tool(&tool.tool).filter(|_| tool.server.is_none());
    let Some(access) = row.and_then(|row| row.access) else { return CallAnalysis::default() };
    let paths = host
        .path_arguments
        .iter()
        .filter_map(|name| input.get(name)?.as_str())
        .map(|written| PathUse::new(written.to_owned(), access))
        .collect();
    CallAnalysis { paths, ..CallAnalysis::default() }
}

#[cfg(test)]
mod tests {
    use super::{canonical, native};
    use crate::hosts::claude_code::HOST;
    use crate::wire::McpServer;

    fn named(name: &str, server: Option<&str>) -> (String, Option<String>, Option<String>) {
        let named = canonical(&HOST, name.into(), server.map(|name| McpServer { name: name.into() }));
        (named.tool, named.server, named.native)
    }

    #[test]
    fn names_are_split_at_the_server() {
        let some = |text: &str| Some(text.to_string());
        assert_eq!(named("Edit", None), ("Edit".into(), None, None));
        assert_eq!(named("Task", None), ("Agent".into(), None, some("Task")));
        assert_eq!(
            named("mcp__lsp__apply_edit", None),
            ("apply_edit".into(), some("lsp"), some("mcp__lsp__apply_edit"))
        );
        assert_eq!(named("mcp__my__lsp__go", None), ("lsp__go".into(), some("my"), some("mcp__my__lsp__go")));
        assert_eq!(
            named("mcp__my__lsp__go", Some("my__lsp")),
            ("go".into(), some("my__lsp"), some("mcp__my__lsp__go"))
        );
        for server in [None, Some("my lsp"), Some("my.lsp"), Some("my_lsp")] {
            assert_eq!(named("mcp__my_lsp__go", server), ("go".into(), some("my_lsp"), some("mcp__my_lsp__go")));
        }
        assert_eq!(named("mcp__lsp__go", Some("other")), ("go".into(), some("lsp"), some("mcp__lsp__go")));
        assert_eq!(named("mcp__broken", None), ("mcp__broken".into(), None, None));
    }

    #[test]
    fn native_names_come_back() {
        assert_eq!(native("apply_edit", Some("my lsp")), "mcp__my_lsp__apply_edit");
        assert_eq!(native("Edit", None), "Edit");
    }
}
