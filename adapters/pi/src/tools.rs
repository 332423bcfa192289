//! Tool names: the client's own, and the canonical ones that policies use.

use phasegate_core::calls::analysis::{CallAnalysis, PathUse};
use phasegate_core::calls::tool::Labels;
use phasegate_core::events::event::builtin_labels;
use phasegate_core::shell::safety::REGISTER;
use phasegate_core::state::pins::OWN_SERVER;
use serde_json::Value;

use crate::table::{SEARCHES, SHELLS, SUBAGENT, TABLE};

/// A tool under its canonical name.
pub(crate) struct Named {
    pub(crate) tool: String,
    pub(crate) native: Option<String>,
    pub(crate) server: Option<String>,
    /// What it can do, where its name must not say so.
    pub(crate) labels: Option<Labels>,
}

/// The canonical name of the tool that the client calls `native`.
///
/// A tool that an extension brings along under the canonical name of another host's tool is not that tool, and is taken to
/// be able to do anything. So is the one that starts other clients, unless they are guarded `everywhere`: it is the client's
/// own example of subagents, each of which is a process and a session of its own.
///
/// `configured` is a server's name as its owner wrote it: the client gives its tools names with `_` for `-`.
pub(crate) fn canonical(native: String, everywhere: bool, configured: Option<&str>) -> Named {
    if let Some(row) = TABLE.tool(&native) {
        let unguarded = native == SUBAGENT && !everywhere;
        let own = || {
            Some(row.labels.iter().map(|label| (*label).to_owned()).collect()).filter(|own: &Labels| !own.is_empty())
        };
        let labels = if unguarded { Some(Labels::from(["delegate".to_owned()])) } else { own() };
        return Named { tool: row.canonical.to_owned(), native: Some(native), server: None, labels };
    }
    // The extension's own tool, whose call it hands on as a command.
    if native == REGISTER {
        let server = Some(OWN_SERVER.to_owned());
        return Named { tool: native.clone(), native: Some(native), server, labels: None };
    }
    let split = native.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
    if let Some((server, tool)) = split.filter(|(server, tool)| !server.is_empty() && !tool.is_empty()) {
        let configured = configured.filter(|name| in_tool(name) == in_tool(server));
        let (server, tool) = (configured.unwrap_or(server).to_owned(), tool.to_owned());
        return Named { tool, native: Some(native), server: Some(server), labels: None };
    }
    let labels = (!builtin_labels(&native).is_empty()).then(Labels::new);
    Named { tool: native, native: None, server: None, labels }
}

/// A server's name as it stands in the names of its tools.
fn in_tool(server: &str) -> String {
    server.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Whether the tool is the client's own and runs programs.
pub(crate) fn is_shell(native: &str) -> bool {
    SHELLS.contains(&native)
}

/// The paths that one of the client's own file tools would touch.
pub(crate) fn analysis(native: &str, input: &Value) -> CallAnalysis {
    let Some(access) = TABLE.tool(native).and_then(|row| row.access) else { return CallAnalysis::default() };
    // Without one, those that search begin in the session's folder.
    let given = input.get("path").and_then(Value::as_str);
    let written = given.map(written).or_else(|| SEARCHES.contains(&native).then(|| ".".to_owned()));
    let paths = written.into_iter().map(|written| PathUse::new(written, access)).collect();
    CallAnalysis { paths, ..CallAnalysis::default() }
}

/// A path as the client reads it: any blank of Unicode is a space, and a mark that mentions a file is taken off.
pub(crate) fn written(path: &str) -> String {
    let blank = |c: char| matches!(c, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}');
    let path: String = path.chars().map(|c| if blank(c) { ' ' } else { c }).collect();
    path.strip_prefix('@').map(str::to_owned).unwrap_or(path)
}

/// The skill whose text a `read` of this file gives the agent: skills are read here, not called.
pub(crate) fn skill_of(native: &str, input: &Value) -> Option<String> {
    let path = written(input.get("path").filter(|_| native == "read")?.as_str()?);
    let path = path.strip_prefix("file://").unwrap_or(&path);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    match parts.as_slice() {
        [.., folder, "SKILL.md"] => Some((*folder).to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{analysis, canonical, skill_of};
    use crate::table::TABLE;
    use phasegate_adapter::ToolRow;

    #[test]
    fn names_become_canonical() {
        for ToolRow { native: own, canonical: tool, .. } in TABLE.tools {
            let (own, tool) = (*own, *tool);
            let named = canonical(own.into(), false, None);
            assert_eq!((named.tool.as_str(), named.native.as_deref(), named.server), (tool, Some(own), None));
        }
        let named = canonical("mcp__lsp__apply_edit".into(), false, None);
        assert_eq!((named.tool.as_str(), named.server.as_deref()), ("apply_edit", Some("lsp")));
    }

    #[test]
    fn the_name_of_another_hosts_tool_gives_an_extensions_tool_no_rights() {
        assert!(canonical("Read".into(), true, None).labels.unwrap().is_empty());
        assert!(canonical("Agent".into(), true, None).labels.unwrap().is_empty());
        assert!(canonical("read".into(), true, None).labels.is_none());
    }

    #[test]
    fn a_server_is_called_as_it_is_configured() {
        let server = |configured| canonical("mcp__my_lsp__go".into(), false, configured).server.unwrap();
        assert_eq!((server(Some("my-lsp")).as_str(), server(None).as_str()), ("my-lsp", "my_lsp"));
        assert_eq!(server(Some("other")), "my_lsp", "the name is not this tool's");
    }

    #[test]
    fn what_only_calls_other_tools_is_judged_by_these() {
        for (tool, words) in [("codemode", vec!["delegate", "read"]), ("tool_search", vec!["read"])] {
            let labels = canonical(tool.into(), false, None).labels.unwrap();
            assert_eq!(labels.iter().map(String::as_str).collect::<Vec<_>>(), words);
        }
    }

    #[test]
    fn a_subagent_only_delegates_where_it_is_guarded_too() {
        let labels = |everywhere| canonical("subagent".into(), everywhere, None).labels;
        assert_eq!((labels(true), labels(false).unwrap().contains("read")), (None, false));
    }

    #[test]
    fn paths_are_read_as_the_client_reads_them() {
        let paths =
            |tool: &str, input| analysis(tool, &input).paths.into_iter().map(|path| path.written).collect::<Vec<_>>();
        assert_eq!(paths("write", json!({"path": "@.pi/settings.json"})), [".pi/settings.json"]);
        assert_eq!(paths("edit", json!({"path": "a\u{202f}b"})), ["a b"]);
        assert_eq!(paths("grep", json!({"pattern": "x"})), ["."]);
        assert!(paths("read", json!({})).is_empty() && paths("subagent", json!({"path": "x"})).is_empty());
    }

    #[test]
    fn a_read_skill_is_known_by_its_folder() {
        let skill = |path: &str| skill_of("read", &json!({"path": path}));
        assert_eq!(skill(".pi/skills/alpha/SKILL.md").as_deref(), Some("alpha"));
        assert_eq!(skill("@/h/.agents/skills/a/./SKILL.md").as_deref(), Some("a"));
        assert_eq!((skill("SKILL.md"), skill("a/SKILL.md/x"), skill("a/skill.md")), (None, None, None));
        assert_eq!(skill_of("edit", &json!({"path": "a/SKILL.md"})), None);
    }
}
