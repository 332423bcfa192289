//! Codex CLI as data, recorded from 0.171.0. It speaks Claude Code's hook format, and keeps its hooks in a file of their own.

use phasegate_adapter::{Ability, Capabilities, ClientProgram, LimitRow, PlaceTable, Table, ToolRow};

use crate::hosts::dialect::{Dialect, Ends, PatchTool, Skills};
use crate::hosts::host::{Failing, Host, RecordForm, Search};
use crate::records::rollout_lines::Rollouts;

/// The file of its hooks.
const HOOKS: &str = ".codex/hooks.json";
/// The file of its other settings, in which it keeps what a person trusts.
const CONFIG: &str = "~/.codex/config.toml";
/// The tool that takes patches.
const PATCH: &str = "apply_patch";

const TOOLS: &[ToolRow] = &[
    // The agent calls it `exec_command`; hooks are told this name.
    tool("Bash", "Bash"),
    tool(PATCH, "Edit"),
    tool("spawn_agent", "Agent"),
];

static DIALECT: Dialect = Dialect {
    tools: TOOLS,
    path_arguments: &["path"],
    patch_tool: Some(PatchTool { tool: PATCH, argument: "command" }),
    // A line that takes long goes on in the background by itself, and its hook waits for its end.
    background: "",
    agent_kind: "agent_type",
    any_agent: "default",
    skills: Skills::Text,
    background_tool: None,
    ends: Ends::Recorded,
    honours_ask: false,
    denies_in_words: true,
    denies_by: 2,
};

/// Codex CLI.
pub(crate) static HOST: Host = Host {
    table: Table {
        id: "codex",
        name: "Codex CLI",
        versions: &["0.171.0"],
        version_command: &["codex", "--version"],
        capabilities: CAPABILITIES,
        places: PLACES,
        programs: &[ClientProgram::guarded(&["codex", "@openai/codex"], "")],
        tools: TOOLS,
        limits: LIMITS,
    },
    own: &DIALECT,
    others: &[],
    sessions: Some(&Rollouts),
    settings: HOOKS,
    holds_all: false,
    kinds: &["command", "mcp_tool", "prompt", "agent"],
    local_settings: None,
    managed: "/etc/codex",
    command_file: None,
    search: Search {
        folder: "$PWD",
        settings: HOOKS,
        // A denial without a word on standard error lets the call run.
        denial: [r#"echo "$m "#, r#"" >&2"#],
    },
    // The client gives this hook no more, and complains where it asks for more.
    shorter: &[("SessionEnd", 3)],
    once: false,
    trust_file: Some(CONFIG),
    record: RecordForm::Rollout,
    events: &[
        ("PreToolUse", Failing::Closed),
        ("PostToolUse", Failing::Open),
        ("UserPromptSubmit", Failing::Open),
        ("SessionStart", Failing::Open),
        ("SessionEnd", Failing::Open),
        ("SubagentStart", Failing::Open),
        ("SubagentStop", Failing::Open),
        ("Stop", Failing::Open),
        ("PreCompact", Failing::Open),
    ],
    never_denied: &["Stop", "SubagentStop"],
    ignores_on_failure: &["0.171.0"],
    config_variable: "CODEX_HOME",
    entrypoint_variable: "",
    attended_variable: "",
};

const CAPABILITIES: Capabilities = Capabilities {
    deny: Ability::Yes,
    ask: Ability::no("a call that a rule would ask about is denied, with the reason"),
    rewrite: Ability::partly("the client takes other arguments from a hook; the guard gives none"),
    inject_context: Ability::Yes,
    hide_tools: Ability::no(
        "a hook cannot change the agent's list of tools; a forbidden call is denied when the agent makes it",
    ),
    see_builtin_tools: Ability::partly(
        "shell lines, patches, servers' tools and subagents are seen, also from scripts of the tool `exec`; what the agent \
         types into a program that runs (`write_stdin`) is not",
    ),
    see_subagents: Ability::partly("calls carry the subagent's id and kind, but not which agent started it"),
    fail_closed: Ability::partly(
        "if the guard crashes or is missing, the hook's line denies the call; if it hangs past the hook's timeout, the client \
         runs the call; hooks that nobody trusts are not run",
    ),
};

const PLACES: PlaceTable = PlaceTable {
    skill_folders: &[".agents/skills", ".codex/skills", "~/.agents/skills", "~/.codex/skills"],
    settings: &[HOOKS, "~/.codex/hooks.json", ".codex/config.toml", CONFIG, "/etc/codex/config.toml"],
    // Rules let lines run without a question; prompts and agents are what the client obeys; plugins have hooks and servers.
    unseen: &[
        ".codex/rules/",
        "~/.codex/rules/",
        ".codex/agents/",
        "~/.codex/agents/",
        "~/.codex/prompts/",
        "~/.codex/plugins/",
        ".agents/plugins/",
        "~/.codex/packages/",
        "~/.codex/tmp/",
        "/etc/codex/",
    ],
    changed_by_client: &[CONFIG, "~/.codex/plugins/", "~/.codex/tmp/", "~/.codex/packages/"],
    client_keys: &[],
    agent_folders: &[],
    command_folders: &[],
    agent_notes: &["~/.codex/memories"],
    text_keys: &[],
    prompt_files: &[],
    // The client sets none; the shell of a hook's line says where the client was started.
    project_variables: &["PWD"],
    session_variables: &["CODEX_SESSION_ID"],
    installed: &[],
    signs: &[".codex", "~/.codex"],
};

const LIMITS: &[LimitRow] = &[
    LimitRow {
        way: "nobody has trusted the hooks as they are, or the project",
        then: "the client runs no hook, and says so only in its terminal; `phasegate doctor` reports it. A hook is trusted \
               by its place and text, so `phasegate init` with another line, or a project in another folder, needs it again",
        shown: &["hooks-changed-between", "trust-deleted-between"],
    },
    LimitRow {
        way: "the agent types into a program that runs, with `write_stdin`",
        then: "no hook is started, so that a shell or an interpreter which a line opened takes more lines unseen. The session's \
               file shows it: at the next pause an alarm is raised, and runs in block mode only read until a person looks. What a \
               script of the tool `exec` types is not seen at all. Let phases list no line that opens a shell",
        shown: &[],
    },
    LimitRow {
        way: "a script of the tool `exec` catches the denial of a call that it makes",
        then: "the call does not run; the agent reads the reason only if the script shows it",
        shown: &[],
    },
    LimitRow {
        way: "the guard hangs or is stopped past the hook's timeout",
        then: "the client runs the call; the guard's own deadline is half of the timeout, so a running guard always answers",
        shown: &["hang", "stopped"],
    },
    LimitRow {
        way: "the answer of the guard is lost on its way, and its exit status is not",
        then: "the client takes a denial only with a reason on standard error, and runs the call",
        shown: &["answer-lost"],
    },
    LimitRow {
        way: "a person types `/phasegate ...` into the client",
        then: "its terminal knows no such command, and a prompt of `codex exec` may be anybody's, so that it is refused; the person \
               gives the command in a shell, without the slash",
        shown: &[],
    },
    LimitRow {
        way: "the session is not kept in a file (`--ephemeral`)",
        then: "how a shell line ended is not known, so that none is evidence",
        shown: &[],
    },
    LimitRow {
        way: "a patch is a shell line (`apply_patch` in `exec_command`), or cannot be applied",
        then: "the call is judged by the files that it names; the client tells no end of it, so that it is no evidence",
        shown: &[],
    },
    LimitRow {
        way: "the agent ends its turn while a skill with `finish: required` is not done",
        then: "it is kept once a prompt, as the client does not say whether somebody sits at the session; then the turn ends and \
               the user is told what is missing",
        shown: &[],
    },
    LimitRow {
        way: "settings are deleted, or the feature `hooks` is switched off, while no client runs",
        then: "the next client starts without the guard; `phasegate doctor` reports it, and hooks in the machine's \
               `/etc/codex/requirements.toml` prevent it",
        shown: &["hooks-deleted-at-start", "hooks-deleted-between", "feature-off-between"],
    },
    LimitRow {
        way: "`CODEX_HOME` names another folder when the client starts",
        then: "the client reads the user's hooks, and what is trusted, from there",
        shown: &[],
    },
    LimitRow {
        way: "another program replaces the guard's program and answers in its place",
        then: "the client accepts its answer; keep the program in a folder that the agent's user cannot write to",
        shown: &["program-replaced"],
    },
    LimitRow {
        way: "a program with the user's rights changes settings, state or the guard's program",
        then: "the next call may be unguarded; hooks of the machine and files of another user prevent that",
        shown: &[],
    },
];

const fn tool(native: &'static str, canonical: &'static str) -> ToolRow {
    ToolRow { native, canonical, access: None, labels: &[] }
}
