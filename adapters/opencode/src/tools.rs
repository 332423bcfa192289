//! Tool names: the client's own, and the canonical ones that policies use.

use phasegate_adapter::{Problem, patch};
use phasegate_core::calls::analysis::{CallAnalysis, PathUse};
use phasegate_core::calls::tool::Labels;
use phasegate_core::shell::safety::REGISTER;
use phasegate_core::state::pins::OWN_SERVER;
use serde_json::Value;

use crate::table::{PATCH, PATH_ARGUMENTS, TABLE};
use crate::wire::bad;

/// A tool under its canonical name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) tool: String,
    pub(crate) native: Option<String>,
    pub(crate) server: Option<String>,
}

/// The canonical name of the tool that the client calls `native`, where it knows these MCP servers.
///
/// The client gives a server's tool the name `SERVER_TOOL`, both with `_` for every character that is not allowed in a
/// tool's name; the server is called so here, too.
///
/// # Errors
///
/// More than one server may offer a tool of this name: whose it is cannot be told.
pub(crate) fn canonical(native: &str, servers: &[String], input: &Value) -> Result<Named, Problem> {
    let own = |tool: &str| Named { tool: tool.to_owned(), native: Some(native.to_owned()), server: None };
    if native == PATCH && only_adds(input) {
        return Ok(own("Write"));
    }
    if let Some(row) = TABLE.tool(native) {
        return Ok(own(row.canonical));
    }
    let mut found = servers.iter().filter_map(|server| {
        let server = normalised(server);
        let tool = native.strip_prefix(server.as_str())?.strip_prefix('_')?;
        (!tool.is_empty()).then(|| (tool.to_owned(), server))
    });
    match (found.next(), found.next()) {
        // The plugin's own tool, whose call it hands on as a command.
        (None, _) if native == REGISTER => Ok(Named { server: Some(OWN_SERVER.to_owned()), ..own(native) }),
        (None, _) => Ok(Named { tool: native.to_owned(), native: None, server: None }),
        (Some((tool, server)), None) => Ok(Named { tool, native: Some(native.to_owned()), server: Some(server) }),
        (Some((_, one)), Some((_, other))) => Err(bad(format!(
            "the tool `{native}` may be one of the server `{one}` or of `{other}`, so nothing can be decided about it; give one of the \
             servers another name"
        ))),
    }
}

fn normalised(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect()
}

/// What is known of a tool's doings that no other platform's table says.
pub(crate) fn labels(named: &Named) -> Option<Labels> {
    let native = named.native.as_deref().filter(|_| named.server.is_none())?;
    let labels = TABLE.tool(native).filter(|row| !row.labels.is_empty())?.labels;
    Some(labels.iter().map(|label| (*label).to_owned()).collect())
}

fn only_adds(input: &Value) -> bool {
    let lines = || input.get("patchText").and_then(Value::as_str).into_iter().flat_map(str::lines).map(str::trim);
    let any = |head: &str| lines().any(|line| line.starts_with(head));
    any("*** Add File:") && !any("*** Update File:") && !any("*** Delete File:") && !any("*** Move to:")
}

/// The paths that one of the client's own file tools would touch.
pub(crate) fn analysis(named: &Named, input: &Value) -> CallAnalysis {
    let native = named.native.as_deref().filter(|_| named.server.is_none());
    if native == Some(PATCH) {
        let text = input.get("patchText").and_then(Value::as_str).unwrap_or_default();
        return CallAnalysis { paths: patch::paths(text), ..CallAnalysis::default() };
    }
    let row = native.and_then(|native| TABLE.tool(native));
    let Some(access) = row.and_then(|row| row.access) else { return CallAnalysis::default() };
    let paths = PATH_ARGUMENTS
        .into_iter()
        .filter_map(|name| input.get(name)?.as_str())
        .map(|written| PathUse::new(written.to_owned(), access))
        .collect();
    CallAnalysis { paths, ..CallAnalysis::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Named, canonical, labels};

    fn named(name: &str, servers: &[&str]) -> Option<(String, Option<String>)> {
        let servers: Vec<String> = servers.iter().map(|name| (*name).to_owned()).collect();
        canonical(name, &servers, &Value::Null).ok().map(|named| (named.tool, named.server))
    }

    #[test]
    fn names_are_split_at_the_server() {
        let some = |tool: &str, server: Option<&str>| Some((tool.to_owned(), server.map(str::to_owned)));
        assert_eq!(named("bash", &["bash"]), some("Bash", None));
        assert_eq!(named("lsp_apply_edit", &["e2e", "lsp"]), some("apply_edit", Some("lsp")));
        assert_eq!(named("my_lsp_go", &["my lsp"]), some("go", Some("my_lsp")));
        assert_eq!(named("lsp_apply_edit", &[]), some("lsp_apply_edit", None));
        assert_eq!(named("lsp_", &["lsp"]), some("lsp_", None));
        assert_eq!(named("plan_skill_safety", &["lsp"]), some("plan_skill_safety", Some("phasegate")));
        assert_eq!(
            named("plan_skill_safety", &["plan"]),
            some("skill_safety", Some("plan")),
            "a server's, not the guard's"
        );
        assert_eq!(named("a_b_c", &["a", "a_b"]), None, "whose tool it is cannot be told");
    }

    #[test]
    fn a_patch_that_only_adds_files_writes() {
        let tool = |text: &str| canonical("apply_patch", &[], &json!({"patchText": text})).unwrap().tool;
        assert_eq!(tool("*** Begin Patch\n*** Add File: a\n+x"), "Write");
        assert_eq!(tool("*** Add File: a\n*** Update File: b"), "Edit");
        assert_eq!(tool("nothing"), "Edit");
    }

    #[test]
    fn only_the_clients_own_readers_have_labels() {
        let own = Named { tool: "invalid".into(), native: Some("invalid".into()), server: None };
        assert!(labels(&own).is_some_and(|labels| labels.contains("read")));
        assert_eq!(labels(&Named { server: Some("s".into()), ..own }), None);
    }
}
