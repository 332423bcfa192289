//! VS Code's agent mode, made from its documentation and its source: no message of it was recorded.

use phasegate_adapter::ToolRow;
use phasegate_core::calls::analysis::Access;
use phasegate_core::calls::tool::{EXECUTE, NETWORK, READ, WRITE};

use crate::hosts::dialect::{Dialect, Ends, PatchTool, Skills};

const PATCH: &str = "apply_patch";

/// How its messages are read. No event says that a call failed, and an answer is a text.
pub(crate) static DIALECT: Dialect = Dialect {
    tools: &[
        file("read_file", "Read", Access::Read),
        file("list_dir", "LS", Access::Read),
        file("grep_search", "Grep", Access::Read),
        file("file_search", "Glob", Access::Read),
        file("create_file", "Write", Access::Write),
        file("createFile", "Write", Access::Write),
        file("replace_string_in_file", "Edit", Access::Write),
        file("insert_edit_into_file", "Edit", Access::Write),
        file("editFiles", "Edit", Access::Write),
        file("multi_replace_string_in_file", "MultiEdit", Access::Write),
        file("edit_notebook_file", "NotebookEdit", Access::Write),
        other(PATCH, "Edit", &[]),
        other("run_in_terminal", "Bash", &[]),
        other("runTerminalCommand", "Bash", &[]),
        other("fetch_webpage", "WebFetch", &[]),
        other("manage_todo_list", "TodoWrite", &[]),
        other("runSubagent", "Agent", &[]),
        own("semantic_search", &[READ]),
        own("list_code_usages", &[READ]),
        own("search_workspace_symbols", &[READ]),
        own("get_errors", &[READ]),
        own("get_changed_files", &[READ]),
        own("test_search", &[READ]),
        own("read_project_structure", &[READ]),
        own("get_terminal_output", &[READ]),
        own("read_notebook_cell_output", &[READ]),
        own("create_directory", &[WRITE]),
        own("create_new_jupyter_notebook", &[WRITE]),
        own("memory", &[WRITE]),
        own("create_and_run_task", &[WRITE, EXECUTE]),
        own("run_task", &[WRITE, EXECUTE]),
        own("runTests", &[WRITE, EXECUTE]),
        own("run_tests", &[WRITE, EXECUTE]),
        own("run_notebook_cell", &[WRITE, EXECUTE]),
        own("run_vscode_command", &[WRITE, EXECUTE]),
        own("github_repo", &[READ, NETWORK]),
        own("open_simple_browser", &[READ, NETWORK]),
    ],
    path_arguments: &["filePath", "path", "files"],
    patch_tool: Some(PatchTool { tool: PATCH, argument: "input" }),
    background: "isBackground",
    agent_kind: "subagent_type",
    any_agent: "general-purpose",
    skills: Skills::Tool,
    background_tool: None,
    ends: Ends::Text,
    honours_ask: true,
    denies_in_words: false,
    denies_by: 2,
};

const fn file(native: &'static str, canonical: &'static str, access: Access) -> ToolRow {
    ToolRow { native, canonical, access: Some(access), labels: &[] }
}

const fn other(native: &'static str, canonical: &'static str, labels: &'static [&'static str]) -> ToolRow {
    ToolRow { native, canonical, access: None, labels }
}

const fn own(name: &'static str, labels: &'static [&'static str]) -> ToolRow {
    other(name, name, labels)
}
