//! How the messages of a host name tools, arguments and the ends of calls.

use phasegate_adapter::ToolRow;

/// The words of one host's messages.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// The host's own tools.
    pub(crate) tools: &'static [ToolRow],
    /// The arguments of file tools that hold paths: a text, a list of texts, or in the objects of a list.
    pub(crate) path_arguments: &'static [&'static str],
    /// The tool that takes a patch in its argument `input`.
    pub(crate) patch_tool: Option<&'static str>,
    /// The argument that has a shell line run in the background.
    pub(crate) background: &'static str,
    /// The tool whose shell lines always run in the background.
    pub(crate) background_tool: Option<&'static str>,
    /// What a call answers, and what that says of its end.
    pub(crate) ends: Ends,
    /// Whether it asks its user about a call where a reply says so. If not, such a call is denied.
    pub(crate) honours_ask: bool,
    /// The exit status of a denial of a call.
    pub(crate) denies_by: u8,
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
}

impl Dialect {
    /// The row of the tool that the host calls `native`.
    pub(crate) fn tool(&self, native: &str) -> Option<&'static ToolRow> {
        self.tools.iter().find(|row| row.native == native)
    }
}
