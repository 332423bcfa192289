//! Pi as data. `phasegate doctor` and `docs/platforms.md` show the limits, and each open row of a fault
//! report is one of them.

use phasegate_adapter::{Ability, Capabilities, ClientProgram, LimitRow, PlaceTable, SettingsShell, Table, ToolRow};
use phasegate_core::calls::analysis::Access;
use phasegate_core::calls::tool::READ;

/// The extension's file in a project.
pub(crate) const EXTENSION: &str = ".pi/extensions/phasegate.ts";
/// The extension's file in the user's home.
pub(crate) const USER_EXTENSION: &str = "~/.pi/agent/extensions/phasegate.ts";

/// The tool that starts subagents.
pub(crate) const SUBAGENT: &str = "subagent";
/// The tools that run lines of a shell.
pub(crate) const SHELLS: [&str; 2] = ["bash", "powershell"];
/// The tools that search the session's folder where they are given no path.
pub(crate) const SEARCHES: [&str; 3] = ["grep", "find", "ls"];

/// The client's shell.
pub(crate) static SHELL: SettingsShell =
    SettingsShell { client: "pi", files: &[".pi/agent/settings.json"], key: "shellPath", new: "{\n}\n", refused: &[] };

/// The platform.
pub(crate) static TABLE: Table = Table {
    id: "pi",
    name: "Pi",
    versions: &["1.5.2", "0.73.1"],
    version_command: &["pi", "--version"],
    capabilities: Capabilities {
        deny: Ability::Yes,
        ask: Ability::partly(
            "if no person can be asked (print and JSON mode), the call is denied, and the text says so",
        ),
        rewrite: Ability::Yes,
        inject_context: Ability::Yes,
        hide_tools: Ability::partly(
            "with `PHASEGATE_HIDE_FORBIDDEN=1`, except in 0.73.1, which applies a change only at the next \
               prompt; otherwise a forbidden call is denied when the agent makes it",
        ),
        see_builtin_tools: Ability::Yes,
        see_subagents: Ability::partly(
            "a subagent is a separate client: if the extension is the user's, the subagent is guarded and \
               inherits its parent's runs; its calls are no evidence for its parent",
        ),
        fail_closed: Ability::partly(
            "if the extension cannot be loaded, the client ends, and if it fails, it denies; the client \
               silently skips a project's extension until the project is trusted",
        ),
    },
    places: PlaceTable {
        skill_folders: &[".pi/skills", ".agents/skills", "~/.pi/agent/skills", "~/.agents/skills"],
        settings: &[".pi/settings.json", EXTENSION, "~/.pi/agent/settings.json", USER_EXTENSION],
        // Extensions run in the client's own process; packages hold extensions; servers give evidence; keys and models may be lines that the
        // client runs; trust decides which extensions are loaded.
        unseen: &[
            ".pi/extensions/",
            ".pi/npm/",
            ".pi/git/",
            ".pi/agents/",
            ".pi/mcp.json",
            "~/.pi/agent/agents/",
            "~/.pi/agent/mcp.json",
            "~/.pi/agent/mcp-auth.json",
            "~/.pi/agent/extensions/",
            "~/.pi/agent/npm/",
            "~/.pi/agent/git/",
            "~/.pi/agent/auth.json",
            "~/.pi/agent/models.json",
            "~/.pi/agent/trust.json",
        ],
        changed_by_client: &[
            ".pi/npm/",
            ".pi/git/",
            "~/.pi/agent/npm/",
            "~/.pi/agent/git/",
            "~/.pi/agent/auth.json",
            "~/.pi/agent/mcp-auth.json",
            "~/.pi/agent/trust.json",
        ],
        // What a person chooses in its menus.
        agent_folders: &[],
        command_folders: &[],
        agent_notes: &[],
        text_keys: &[],
        prompt_files: &[],
        client_keys: &["defaultProvider", "defaultModel", "defaultThinkingLevel", "theme", "lastChangelogVersion"],
        signs: &[".pi", "~/.pi"],
        project_variables: &[],
        session_variables: &["PHASEGATE_SESSION", "PI_SESSION_ID"],
        installed: &[],
    },
    programs: &[ClientProgram::guarded(
        &["pi", "@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"],
        "",
    )],
    tools: &[
        tool("bash", "Bash", None),
        tool("edit", "Edit", Some(Access::Write)),
        tool("find", "Glob", Some(Access::Read)),
        tool("grep", "Grep", Some(Access::Read)),
        tool("ls", "LS", Some(Access::Read)),
        tool("powershell", "PowerShell", None),
        tool("read", "Read", Some(Access::Read)),
        tool("write", "Write", Some(Access::Write)),
        // The tool of the client's example that starts subagents.
        tool(SUBAGENT, "Agent", None),
        // A script that calls tools: it changes nothing by itself, each call is an event of its own.
        reader("codemode", &["delegate", READ]),
        reader("tool_search", &[READ]),
    ],
    limits: &[
        LimitRow {
            way: "the agent ends its turn while a skill with `finish: required` is not done",
            then: "with 0.87.1 and newer the extension has it go on, once a prompt, or three times in print and JSON \
               mode; then the turn ends and the user is told what is missing. Under 0.73.1 the turn ends, and \
               `phasegate status` shows the run as unfinished",
            shown: &[],
        },
        LimitRow {
            way: "a subagent is to do a phase (`done_by`)",
            then: "a subagent is a client of its own, and none of its calls counts in the run: the phase is never done",
            shown: &[],
        },
        LimitRow {
            way: "the extension is the project's, and the project is not trusted (0.87.1 and newer)",
            then: "the client silently skips it, in print and JSON mode always; install it with `phasegate init pi \
               --user`, or start the client with `--approve` or `-e`",
            shown: &["no-approve"],
        },
        LimitRow {
            way: "the user starts the client with `--no-extensions`, or with another `PI_CODING_AGENT_DIR`",
            then: "the client silently runs without the extension; this is the user's choice",
            shown: &[],
        },
        LimitRow {
            way: "the extension's file is deleted while no client runs",
            then: "the next client starts without the guard; `phasegate doctor` reports it, and a folder of another \
               user prevents it",
            shown: &["plugin-deleted"],
        },
        LimitRow {
            way: "another program replaces the guard's program and answers in its place",
            then: "the extension accepts its answers; keep the program in a folder that the agent's user cannot \
               write to",
            shown: &[],
        },
        LimitRow {
            way: "another extension runs in the same process",
            then: "it can do everything that the client can, without a tool call; the arguments of a decided call \
               are frozen, so an extension that changes them makes the call fail",
            shown: &[],
        },
        LimitRow {
            way: "a user's own shell command (`!command`)",
            then: "it is the user's own, phasegate does not judge it, and it is no evidence",
            shown: &[],
        },
        LimitRow {
            way: "a signal ends a shell command, under 0.73.1",
            then: "the client reports it as a success, so with this version no shell command counts as `ok` or as \
               evidence; update the client",
            shown: &[],
        },
    ],
};

const fn tool(native: &'static str, canonical: &'static str, access: Option<Access>) -> ToolRow {
    ToolRow { native, canonical, access, labels: &[] }
}

/// A tool with labels of its own: no other platform has one of this name that does the same.
const fn reader(name: &'static str, labels: &'static [&'static str]) -> ToolRow {
    ToolRow { native: name, canonical: name, access: None, labels }
}
