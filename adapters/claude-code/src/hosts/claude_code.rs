//! Claude Code as data. `phasegate doctor` and `docs/platforms.md` show the limits, and each open row of a fault
//! report is one of them.

use phasegate_adapter::{Ability, Capabilities, ClientProgram, LimitRow, PlaceTable, Table, ToolRow};
use phasegate_core::calls::analysis::Access;

use crate::hosts::dialect::{Dialect, Ends, Skills};
use crate::hosts::host::{Failing, Host, RecordForm, Search};
use crate::hosts::others::OTHERS;
use crate::records::session_lines::Sessions;

const COMMAND_FILES: [&str; 2] = [".claude/commands/phasegate.md", "~/.claude/commands/phasegate.md"];

/// The tool whose shell lines always run in the background.
const MONITOR: &str = "Monitor";

const TOOLS: &[ToolRow] = &[
    tool("Read", "Read", Some(Access::Read)),
    tool("NotebookRead", "NotebookRead", Some(Access::Read)),
    tool("Grep", "Grep", Some(Access::Read)),
    tool("Glob", "Glob", Some(Access::Read)),
    tool("LS", "LS", Some(Access::Read)),
    tool("Edit", "Edit", Some(Access::Write)),
    tool("MultiEdit", "MultiEdit", Some(Access::Write)),
    tool("Write", "Write", Some(Access::Write)),
    tool("NotebookEdit", "NotebookEdit", Some(Access::Write)),
    tool("Bash", "Bash", None),
    // It runs a shell line in the background and tells the agent what it prints.
    tool(MONITOR, "Bash", None),
    tool("PowerShell", "PowerShell", None),
    tool("Agent", "Agent", None),
    // The name before 2.1.
    tool("Task", "Agent", None),
    tool("Skill", "Skill", None),
];

static DIALECT: Dialect = Dialect {
    tools: TOOLS,
    path_arguments: &["file_path", "notebook_path", "path"],
    patch_tool: None,
    background: "run_in_background",
    agent_kind: "subagent_type",
    any_agent: "general-purpose",
    skills: Skills::Tool,
    background_tool: Some(MONITOR),
    ends: Ends::Response,
    honours_ask: true,
    denies_in_words: false,
    denies_by: 2,
};

/// Claude Code.
pub(crate) static HOST: Host = Host {
    table: Table {
        id: "claude-code",
        name: "Claude Code",
        versions: &["2.1.330", "2.1.197"],
        version_command: &["claude", "--version"],
        capabilities: Capabilities {
            deny: Ability::Yes,
            ask: Ability::partly("without a terminal the client refuses the call and shows the agent the question"),
            rewrite: Ability::Yes,
            inject_context: Ability::Yes,
            hide_tools: Ability::no(
                "a hook cannot change the agent's list of tools; a forbidden call is denied when the agent makes \
               it",
            ),
            see_builtin_tools: Ability::Yes,
            see_subagents: Ability::partly("calls carry the subagent's id, but not which agent started it"),
            fail_closed: Ability::partly(
                "if the guard crashes or is missing, the call is denied on every version; if it hangs past the \
               hook's timeout, versions without `onFailure` run the call",
            ),
        },
        places: PlaceTable {
            skill_folders: &[".claude/skills", "~/.claude/skills"],
            settings: &[
                ".claude/settings.json",
                ".claude/settings.local.json",
                "~/.claude/settings.json",
                "/etc/claude-code/managed-settings.json",
            ],
            // Lines in a command file that begin with an exclamation mark run without a hook, and so do the programs that
            // agents, plugins and hooks name; servers give evidence; snapshots are read by each shell before its line; tasks
            // become prompts.
            unseen: &[
                ".claude/commands/",
                "~/.claude/commands/",
                ".claude/agents/",
                "~/.claude/agents/",
                ".claude/hooks/",
                "~/.claude/hooks/",
                ".claude/plugins/",
                "~/.claude/plugins/",
                // Mods: programs that the client loads into itself.
                ".claude/skills/*/hooks/",
                ".claude/skills/*/.claude-plugin/",
                "~/.claude/skills/*/hooks/",
                "~/.claude/skills/*/.claude-plugin/",
                "~/.claude/dev-mods/",
                "~/.claude.json",
                "~/.claude/.claude.json",
                ".mcp.json",
                "/etc/claude-code/",
                "~/.claude/dev-mods/",
                "~/.claude/keybindings.json",
                "~/.claude/local/",
                "~/.local/bin/claude",
                "~/.local/share/claude/",
                "~/.claude/shell-snapshots/",
                "~/.claude/session-env/",
                ".claude/scheduled_tasks.json",
                ".claude/loop.md",
                "~/.claude/loop.md",
                ".claude/routines/",
                "~/.claude/routines/",
            ],
            changed_by_client: &[
                "~/.claude.json",
                "~/.claude/.claude.json",
                "~/.claude/plugins/",
                "~/.claude/shell-snapshots/",
                "~/.claude/session-env/",
                ".claude/scheduled_tasks.json",
            ],
            // What a person answers to the client's own questions, and chooses in its menus.
            client_keys: &[
                "permissions",
                "model",
                "theme",
                "outputStyle",
                "effortLevel",
                "alwaysThinkingEnabled",
                "feedbackSurveyState",
                "enabledMcpjsonServers",
                "disabledMcpjsonServers",
            ],
            // The client starts the hooks and the servers that a skill, an agent or a command names when it loads the text.
            agent_folders: &[".claude/agents", "~/.claude/agents"],
            command_folders: &[".claude/commands", "~/.claude/commands"],
            agent_notes: &["~/.claude/projects/*/memory", "~/.claude/plans"],
            text_keys: &[
                "agent",
                "allowed-tools",
                "argument-hint",
                "arguments",
                "author",
                "background",
                "category",
                "color",
                "compatibility",
                "context",
                "description",
                "disable-model-invocation",
                "disallowed-tools",
                "disallowedTools",
                "effort",
                "examples",
                "hide-from-slash-command-tool",
                "initialPrompt",
                "isolation",
                "keywords",
                "license",
                "maxTurns",
                "memory",
                "metadata",
                "model",
                "name",
                "paths",
                "permissionMode",
                "skills",
                "tags",
                "title",
                "tool_permissions",
                "tools",
                "user-invocable",
                "version",
                "when_to_use",
            ],
            prompt_files: &[".claude/scheduled_tasks.json"],
            project_variables: &["CLAUDE_PROJECT_DIR"],
            session_variables: &["CLAUDE_CODE_SESSION_ID"],
            installed: &[COMMAND_FILES[0], COMMAND_FILES[1]],
            signs: &[".claude", "~/.claude"],
        },
        programs: &[ClientProgram::guarded(&["claude", "@anthropic-ai/claude-code"], "CLAUDE_CODE_EXECPATH")],
        tools: TOOLS,
        limits: &[
            LimitRow {
                way: "the agent ends its turn while a skill with `finish: required` is not done",
                then: "it is kept once a prompt, or three times where nobody sits at the session; then the turn ends and the user is told what is missing; a subagent that does a phase (`done_by`) is kept three times",
                shown: &[],
            },
            LimitRow {
                way: "settings are deleted, disabled or given a comment while no client runs",
                then: "the next client starts without the guard, unless the user's settings have the hooks too and none \
               disables them; `phasegate doctor` reports it, and managed settings prevent it",
                shown: &[
                    "settings-deleted-at-start",
                    "settings-deleted-between",
                    "settings-comment-at-start",
                    "settings-disable-at-start",
                ],
            },
            LimitRow {
                way: "the user starts the client with `--bare`, `--safe-mode`, or `--setting-sources` without the \
               settings that hold the hooks",
                then: "no hook of the project runs, and the client does not report it; this is the user's choice",
                shown: &["bare", "safe-mode", "setting-sources-user"],
            },
            LimitRow {
                way: "the client is started outside of the project's root, and the hooks are in the project's settings \
               alone (`init --no-user`)",
                then: "the client loads no hook; `phasegate doctor` reports it for the folder that it stands in",
                shown: &["started-below-without-user"],
            },
            LimitRow {
                way: "another program replaces the guard's program and answers in its place",
                then: "the client accepts its answer; keep the program in a folder that the agent's user cannot write \
               to",
                shown: &["program-replaced", "wrong-event", "unknown-decision"],
            },
            LimitRow {
                way: "the guard hangs or is stopped past the hook's timeout under a client without `onFailure` \
               (2.1.197)",
                then: "the client runs the call; the guard's own deadline is half of the timeout, so a running guard \
               always answers; update the client",
                shown: &["hang", "stopped"],
            },
            LimitRow {
                way: "configs and state are both removed during a session, and only the user's settings have the hooks",
                then: "nothing is left that tells the project from an unguarded one, so the next call runs; let the \
               project's settings have the hooks too, as `init` writes them",
                shown: &["config-and-state-deleted-user-only"],
            },
            LimitRow {
                way: "configs, the project's settings and the guard's program are all removed during a session",
                then: "the hook's line finds nothing that asks for block mode, so the call runs and the user is told; \
                       keep the program in a folder that the agent's user cannot write to",
                shown: &[],
            },
            LimitRow {
                way: "VS Code reads the same settings and starts the hooks",
                then: "its messages are read and answered as its documentation and source describe them; no version of it \
               was tried. It does not say how a program ended, so a shell command there is no evidence. If the guard hangs, \
               the call goes on, and `chat.hookFilesLocations` switches the hooks off",
                shown: &[],
            },
            LimitRow {
                way: "Copilot CLI reads the same settings and starts the hooks",
                then: "its messages are read, and a denial is answered in the form that it shows to the agent; recorded from \
               1.0.102. A call that a rule would ask about is denied, and nothing holds the agent at the end of its turn. If \
               the guard hangs past the hook's timeout, the call goes on. Hooks of its own format are not installed",
                shown: &[],
            },
            LimitRow {
                way: "another host starts the hooks: Codex CLI, Cursor, Goose or one that is not known",
                then: "it is told that its messages are not read here; in block mode each call is denied so, in warn mode it \
               goes on",
                shown: &[],
            },
            LimitRow {
                way: "a program of the agent sends the guard messages in the client's name, on another system than Linux, \
               or where the hook's line hands its messages on through a pipe",
                then: "the guard cannot tell them from the client's and takes them; `phasegate doctor` says where that is so",
                shown: &[],
            },
            LimitRow {
                way: "a program with the user's rights changes settings, state or the guard's program",
                then: "the next call may be unguarded; managed settings and files of another user prevent that",
                shown: &[],
            },
            LimitRow {
                way: "a mod that the client loads into itself lets calls run, or answers them",
                then: "hooks are asked and not obeyed, or not asked; the guard compares what it decided with its messages and the \
                       transcript, raises an alarm and stops the runs. A mod that also hides the call from both is not seen. \
                       `allowManagedModsOnly` in managed settings keeps such mods from loading",
                shown: &["mod-allows-all", "mod-empties-pre-tool-use", "mod-answers-calls"],
            },
            LimitRow {
                way: "`CLAUDE_CONFIG_DIR` names another folder when the client starts",
                then: "the client does not read hooks in the user's settings; it still reads hooks in the project's \
               settings",
                shown: &[],
            },
        ],
    },
    own: &DIALECT,
    others: &OTHERS,
    sessions: Some(&Sessions),
    settings: ".claude/settings.json",
    holds_all: true,
    kinds: &["command", "http", "mcp_tool", "prompt", "agent"],
    local_settings: Some(".claude/settings.local.json"),
    managed: "/etc/claude-code",
    command_file: Some(COMMAND_FILES[0]),
    search: Search {
        folder: "${CLAUDE_PROJECT_DIR:-$PWD}",
        settings: ".claude/settings*.json",
        denial: [r#"echo "{\"decision\":\"block\",\"reason\":\"$m "#, r#"\"}""#],
    },
    shorter: &[],
    once: true,
    trust_file: None,
    record: RecordForm::Messages,
    events: &[
        ("PreToolUse", Failing::Closed),
        ("PostToolUse", Failing::Open),
        ("PostToolUseFailure", Failing::Open),
        ("PostToolBatch", Failing::Open),
        ("UserPromptSubmit", Failing::Open),
        ("UserPromptExpansion", Failing::Closed),
        ("SessionStart", Failing::Open),
        ("SessionEnd", Failing::Open),
        ("SubagentStart", Failing::Open),
        ("SubagentStop", Failing::Open),
        ("Stop", Failing::Open),
        ("PreCompact", Failing::Open),
        ("PermissionRequest", Failing::Open),
        ("PermissionDenied", Failing::Open),
        ("ConfigChange", Failing::Closed),
    ],
    never_denied: &[],
    ignores_on_failure: &["2.1.197"],
    config_variable: "CLAUDE_CONFIG_DIR",
    entrypoint_variable: "CLAUDE_CODE_ENTRYPOINT",
    attended_variable: "CLAUDE_CODE_SESSION_ATTENDED",
};

const fn tool(native: &'static str, canonical: &'static str, access: Option<Access>) -> ToolRow {
    ToolRow { native, canonical, access, labels: &[] }
}
