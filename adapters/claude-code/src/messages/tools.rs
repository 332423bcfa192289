//! Tool names: the client's own, and the canonical ones that policies use.

use phasegate_adapter::patch;
use phasegate_core::calls::analysis::{CallAnalysis, PathUse};
use phasegate_core::calls::tool::Labels;
use serde_json::Value;

use crate::hosts::dialect::{Dialect, PatchTool};
use crate::messages::wire::McpServer;

/// A tool under its canonical name.
pub(crate) struct Named {
    pub(crate) tool: String,
    pub(crate) native: Option<String>,
    pub(crate) server: Option<String>,
}

impl Named {
    /// The name that the client gives to one of its own tools.
    pub(crate) fn own(&self) -> Option<&str> {
        let name = self.native.as_deref().unwrap_or(&self.tool);
        self.server.is_none().then_some(name)
    }
}

/// The canonical name of the tool that the client calls `native`.
pub(crate) fn canonical(dialect: &Dialect, native: String, server: Option<McpServer>) -> Named {
    if let Some(row) = dialect.tool(&native).filter(|row| row.canonical != native) {
        return Named { tool: row.canonical.into(), native: Some(native), server: None };
    }
    match split(&native, server) {
        Some((server, tool)) => Named { tool, server: Some(server), native: Some(native) },
        None => Named { tool: native, native: None, server: None },
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

/// What is known of a tool's doings that no other host's table says.
pub(crate) fn labels(dialect: &Dialect, named: &Named) -> Option<Labels> {
    let row = dialect.tool(named.own()?).filter(|row| !row.labels.is_empty())?;
    Some(row.labels.iter().map(|label| (*label).to_owned()).collect())
}

/// The paths that one of the client's own file tools would touch.
pub(crate) fn analysis(dialect: &Dialect, named: &Named, input: &Value) -> CallAnalysis {
    let own = named.own();
    let text = |argument: &str| input.get(argument).and_then(Value::as_str).unwrap_or_default();
    if let Some(PatchTool { argument, .. }) = dialect.patch_tool.filter(|patch| own == Some(patch.tool)) {
        return CallAnalysis { paths: patch::paths(text(argument)), ..CallAnalysis::default() };
    }
    let Some(access) = own.and_then(|own| dialect.tool(own)?.access) else { return CallAnalysis::default() };
    let paths = written(dialect, input).map(|path| PathUse::new(path.to_owned(), access)).collect();
    CallAnalysis { paths, ..CallAnalysis::default() }
}

/// The paths among the arguments: texts, lists of texts, and those in the objects of a list.
fn written<'a>(dialect: &'a Dialect, input: &'a Value) -> impl Iterator<Item = &'a str> {
    let lists = input.as_object().into_iter().flatten().filter_map(|(_, value)| value.as_array());
    let objects = std::iter::once(input).chain(lists.flatten());
    let values = objects.flat_map(|object| dialect.path_arguments.iter().filter_map(|name| object.get(name)));
    values.flat_map(|value| {
        value.as_str().into_iter().chain(value.as_array().into_iter().flatten().filter_map(Value::as_str))
    })
}

#[cfg(test)]
mod tests {
    use super::canonical;
    use crate::hosts::claude_code::HOST;
    use crate::messages::wire::McpServer;

    fn named(name: &str, server: Option<&str>) -> (String, Option<String>, Option<String>) {
        let named = canonical(HOST.own, name.into(), server.map(|name| McpServer { name: name.into() }));
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
}
