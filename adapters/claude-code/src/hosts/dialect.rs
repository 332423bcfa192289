//! How the messages of a host name tools, arguments and the ends of calls.

use phasegate_adapter::ToolRow;

/// The words of one host's messages.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// The host's own tools.
    pub(crate) tools: &'static [ToolRow],
    /// The arguments of file tools that hold paths: a text, a list of texts, or in the objects of a list.
    pub(crate) path_arguments: &'static [&'static str],
    /// The tool that takes a patch.
    pub(crate) patch_tool: Option<PatchTool>,
    /// The argument that has a shell line run in the background.
    pub(crate) background: &'static str,
    /// The argument that names the kind of subagent to start.
    pub(crate) agent_kind: &'static str,
    /// The kind of subagent that is started where a call names none.
    pub(crate) any_agent: &'static str,
    /// Where the client has skills: how it writes that one is read, and that a prompt invokes one.
    pub(crate) skills: Skills,
    /// The tool whose shell lines always run in the background.
    pub(crate) background_tool: Option<&'static str>,
    /// What a call answers, and what that says of its end.
    pub(crate) ends: Ends,
    /// Whether it asks its user about a call where a reply says so. If not, such a call is denied.
    pub(crate) honours_ask: bool,
    /// Whether a denial by exit status is read from standard error alone, and not from standard output.
    pub(crate) denies_in_words: bool,
    /// The exit status of a denial of a call.
    pub(crate) denies_by: u8,
}

/// A tool that takes a patch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PatchTool {
    /// The host's name for it.
    pub(crate) tool: &'static str,
    /// The argument that holds the patch.
    pub(crate) argument: &'static str,
}

/// How skills begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Skills {
    /// By a tool of their own, and by commands.
    Tool,
    /// By a shell line that reads a `SKILL.md`, and by `$NAME` in a prompt.
    Text,
}

/// What a call answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// A structure that says how a program ended.
    Response,
    /// A text. Only the ends of file tools are known.
    Text,
    /// A text that ends with the exit status of a program, beside a word for the end of other tools.
    TextWithStatus,
    /// A text; the session's file says how the call ended.
    Recorded,
}

impl Dialect {
    /// The row of the tool that the host calls `native`.
    pub(crate) fn tool(&self, native: &str) -> Option<&'static ToolRow> {
        self.tools.iter().find(|row| row.native == native)
    }
}
