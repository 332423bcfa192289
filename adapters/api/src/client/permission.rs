//! Permissions that a platform's settings give, as data that rules over calls can be made of.

/// What becomes of the calls that a permission selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionEffect {
    /// They run without anybody being asked.
    Allow,
    /// A person is asked.
    Ask,
    /// They do not run.
    Deny,
}

impl PermissionEffect {
    /// The effect's word: `allow`, `ask` or `deny`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// One entry of a platform's permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    /// What becomes of the calls.
    pub effect: PermissionEffect,
    /// The entry as its file has it.
    pub written: String,
    /// The calls that it selects; the text says why nobody can tell, as a fragment without a full stop.
    pub selects: Result<Selection, String>,
}

/// The calls that a permission selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Those of one tool of the host, by its name.
    Tool(String),
    /// Those of one tool of a server.
    ServerTool {
        /// The server's name.
        server: String,
        /// The tool's name.
        tool: String,
    },
    /// Those of all tools of a server.
    Server(String),
    /// Shell lines with a command of which this is the text; `*` stands for any text.
    Commands(String),
    /// Those that read files, or that change them.
    Files {
        /// Whether it is about calls that change them; else it is about calls that read them.
        changes: bool,
        /// Which files.
        files: FilePattern,
    },
    /// Those of the tool that fetches pages, from this host; `*.` before the name stands for the hosts below it.
    Host(String),
    /// Those that start a subagent of this type.
    Agent(String),
}

/// Files, by a pattern as in `.gitignore`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePattern {
    /// Where the pattern begins.
    pub from: PatternRoot,
    /// The pattern, without a slash at its beginning.
    pub pattern: String,
}

/// Where a pattern of files begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternRoot {
    /// In any folder.
    Anywhere,
    /// In the project's folder.
    Project,
    /// In the user's home folder.
    Home,
    /// At the root of all files.
    Root,
}
