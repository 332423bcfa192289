//! OpenCode as data. `phasegate doctor` and `docs/platforms.md` show the limits, and each open row of a fault
//! report is one of them.

use phasegate_adapter::{
    Ability, Capabilities, ClientProgram, LimitRow, PlaceTable, SessionTable, SettingsShell, Table, ToolRow,
};
use phasegate_core::calls::analysis::Access;
use phasegate_core::calls::tool::{NETWORK, READ};

/// The plugin's file, in a project and in the user's home.
pub(crate) const PLUGIN: [&str; 2] = [".opencode/plugin/phasegate.ts", "~/.config/opencode/plugin/phasegate.ts"];
/// The other names under which the client finds a plugin of ours.
pub(crate) const ELSEWHERE: [&str; 2] = [".opencode/plugins/phasegate.ts", "~/.config/opencode/plugins/phasegate.ts"];

/// The tool that applies a patch, whose paths stand in its text.
pub(crate) const PATCH: &str = "apply_patch";
/// The arguments of file tools that hold paths.
pub(crate) const PATH_ARGUMENTS: [&str; 2] = ["filePath", "path"];

/// Where the client keeps its sessions.
pub(crate) const SESSIONS: SessionTable = SessionTable {
    database: "opencode/opencode.db",
    table: "session",
    folder: "directory",
    began: "time_created",
    last: "time_updated",
};

/// The client's shell. In the shells that are refused it runs no line of an agent.
pub(crate) static SHELL: SettingsShell = SettingsShell {
    client: "opencode",
    files: &[".config/opencode/opencode.jsonc", ".config/opencode/opencode.json", ".config/opencode/config.json"],
    key: "shell",
    // The client puts this there where it is missing, and the file would differ from then on.
    new: "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n",
    refused: &["fish", "nu"],
};

/// The platform.
pub(crate) static TABLE: Table = Table {
    id: "opencode",
    name: "OpenCode",
    versions: &["1.18.33"],
    version_command: &["opencode", "--version"],
    capabilities: Capabilities {
        deny: Ability::Yes,
        ask: Ability::no("a plugin cannot ask the user; the call is denied, with the question as the reason"),
        rewrite: Ability::Yes,
        inject_context: Ability::Yes,
        hide_tools: Ability::no(
            "the list of tools is fixed for a whole turn, in which phases change; a forbidden call is denied \
               when the agent makes it",
        ),
        see_builtin_tools: Ability::Yes,
        see_subagents: Ability::Yes,
        fail_closed: Ability::partly(
            "if the guard is missing, hangs or sends an invalid answer, the plugin denies; if the client \
               cannot load the plugin, it silently runs without it",
        ),
    },
    places: PlaceTable {
        skill_folders: &[
            ".opencode/skill",
            ".opencode/skills",
            ".claude/skills",
            ".agents/skills",
            "~/.config/opencode/skill",
            "~/.config/opencode/skills",
            "~/.claude/skills",
            "~/.agents/skills",
        ],
        settings: &[
            "opencode.json",
            "opencode.jsonc",
            ".opencode/opencode.json",
            ".opencode/opencode.jsonc",
            "~/.config/opencode/opencode.json",
            "~/.config/opencode/opencode.jsonc",
            "~/.config/opencode/config.json",
            "/etc/opencode/opencode.json",
            "/etc/opencode/opencode.jsonc",
            PLUGIN[0],
            PLUGIN[1],
            ELSEWHERE[0],
            ELSEWHERE[1],
        ],
        // Plugins and tools are programs that the client runs in its own process; lines between an exclamation mark and
        // back-quotes in a command file run without a hook; where a session belongs is kept in its data.
        unseen: &[
            ".opencode/plugin/",
            ".opencode/plugins/",
            ".opencode/tool/",
            ".opencode/tools/",
            ".opencode/command/",
            ".opencode/commands/",
            ".opencode/agent/",
            ".opencode/agents/",
            ".opencode/mode/",
            ".opencode/modes/",
            ".opencode/node_modules/",
            ".opencode/package.json",
            ".opencode/tui.json",
            "tui.json",
            "~/.config/opencode/",
            // A second folder of the user's that the client looks into, and where its own program may lie.
            "~/.opencode/opencode.json",
            "~/.opencode/opencode.jsonc",
            "~/.opencode/plugin/",
            "~/.opencode/plugins/",
            "~/.opencode/tool/",
            "~/.opencode/tools/",
            "~/.opencode/command/",
            "~/.opencode/commands/",
            "~/.opencode/agent/",
            "~/.opencode/agents/",
            "~/.opencode/node_modules/",
            "~/.opencode/package.json",
            "~/.opencode/bin/",
            "~/.cache/opencode/",
            "~/.local/share/opencode/",
            "~/.local/state/opencode/",
        ],
        changed_by_client: &[
            ".opencode/node_modules/",
            ".opencode/package.json",
            "~/.opencode/node_modules/",
            "~/.opencode/package.json",
            "~/.opencode/bin/",
            "~/.cache/opencode/",
            "~/.local/share/opencode/",
            "~/.local/state/opencode/",
        ],
        client_keys: &[],
        agent_folders: &[],
        command_folders: &[],
        agent_notes: &[],
        text_keys: &[],
        prompt_files: &[],
        project_variables: &[],
        session_variables: &["PHASEGATE_SESSION"],
        installed: &[PLUGIN[0], PLUGIN[1]],
        // Not the folder itself: the documents of workflows lie in it on other platforms too.
        signs: &[
            "opencode.json",
            "opencode.jsonc",
            ".opencode/opencode.json",
            ".opencode/opencode.jsonc",
            ".opencode/plugin",
            ".opencode/plugins",
            ".opencode/agent",
            ".opencode/agents",
            ".opencode/command",
            ".opencode/commands",
            ".opencode/package.json",
            "~/.config/opencode",
        ],
    },
    programs: &[ClientProgram::guarded(&["opencode", "opencode-ai"], "")],
    tools: &[
        tool("bash", "Bash", None),
        tool("read", "Read", Some(Access::Read)),
        tool("write", "Write", Some(Access::Write)),
        tool("edit", "Edit", Some(Access::Write)),
        tool(PATCH, "Edit", None),
        tool("patch", "Edit", Some(Access::Write)),
        tool("multiedit", "MultiEdit", Some(Access::Write)),
        tool("grep", "Grep", Some(Access::Read)),
        tool("glob", "Glob", Some(Access::Read)),
        tool("list", "LS", Some(Access::Read)),
        tool("webfetch", "WebFetch", None),
        tool("websearch", "WebSearch", None),
        tool("task", "Agent", None),
        tool("skill", "Skill", None),
        tool("todowrite", "TodoWrite", None),
        tool("question", "AskUserQuestion", None),
        reader("todoread", "TodoRead", &[READ]),
        reader("codesearch", "CodeSearch", &[READ, NETWORK]),
        ToolRow { access: Some(Access::Read), ..reader("lsp", "LSP", &[READ]) },
        reader("plan_enter", "EnterPlanMode", &[READ]),
        reader("plan_exit", "ExitPlanMode", &[READ]),
        // The answer to a call of a tool that does not exist.
        reader("invalid", "invalid", &[READ]),
        // A program of calls: it changes nothing by itself, each call is an event of its own.
        reader("execute", "execute", &["delegate", READ]),
    ],
    limits: &[
        LimitRow {
            way: "the agent ends its turn while a skill with `finish: required` is not done",
            then: "the plugin has it go on, once a prompt; then the turn ends and the user is told what is missing. \
               `opencode run` ends with its turn, and `phasegate status` shows the run as unfinished; a subagent \
               is not kept: if it does a phase (`done_by`), the main agent is told to start it again",
            shown: &[],
        },
        LimitRow {
            way: "the plugin is deleted, or cannot be loaded, when the client starts",
            then: "the client silently starts without it; `phasegate doctor` reports it, and the plugin's heartbeat \
               is missing; keep the plugin in a folder that the agent's user cannot write to",
            shown: &["plugin-deleted", "plugin-emptied", "plugin-syntax", "plugin-import", "plugin-throws"],
        },
        LimitRow {
            way: "the user starts the client with `--pure` or `OPENCODE_PURE=1`, or with \
               `OPENCODE_DISABLE_PROJECT_CONFIG=1` if the plugin is the project's",
            then: "the client loads no plugin; this is the user's choice, and a plugin in the user's folder \
               prevents the last case; `phasegate doctor` reports a session that ran so",
            shown: &["pure"],
        },
        LimitRow {
            way: "another program replaces the guard's program and answers in its place",
            then: "the plugin accepts its answers; keep the program in a folder that the agent's user cannot write \
               to",
            shown: &[],
        },
        LimitRow {
            way: "a shell command that the user enters with `!`, or writes in a command file between `!` and \
               back-quotes",
            then: "the client runs it without asking any plugin; it is the user's own command, and command files \
               are protected",
            shown: &[],
        },
        LimitRow {
            way: "the client serves its interface on a port, and a program requests a shell or sends a prompt",
            then: "the client asks no plugin about that shell; set a password that the agent's programs do not \
               have, and open no port without need",
            shown: &[],
        },
        LimitRow {
            way: "another plugin runs programs itself or removes this plugin from the running client",
            then: "plugins share one process and are all trusted; install only what you would run yourself. If a \
               plugin changes a call after its decision, phasegate detects it and denies every later call",
            shown: &[],
        },
        LimitRow {
            way: "a program with the user's rights changes plugin, settings, state or the guard's program",
            then: "the next session may be unguarded; files of another user prevent that",
            shown: &[],
        },
    ],
};

const fn tool(native: &'static str, canonical: &'static str, access: Option<Access>) -> ToolRow {
    ToolRow { native, canonical, access, labels: &[] }
}

/// A tool with labels of its own: no other platform has one of this canonical name that does the same.
const fn reader(native: &'static str, canonical: &'static str, labels: &'static [&'static str]) -> ToolRow {
    ToolRow { native, canonical, access: None, labels }
}
