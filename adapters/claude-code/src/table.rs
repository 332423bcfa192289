//! Claude Code as data. `phasegate doctor`, the README and `docs/platforms.md` show the limits, and each open row of a fault
//! report is one of them.

use phasegate_adapter::{Ability, Capabilities, LimitRow, PlaceTable, Table};

/// The file of the command `/phasegate`, in a project and in the user's home.
pub(crate) const COMMAND_FILES: [&str; 2] = [".claude/commands/phasegate.md", "~/.claude/commands/phasegate.md"];

/// The platform.
pub(crate) static TABLE: Table = Table {
    id: "claude-code",
    name: "Claude Code",
    versions: &["2.1.329", "2.1.197"],
    version_command: &["claude", "--version"],
    capabilities: Capabilities {
        deny: Ability::Yes,
        ask: Ability::partly("without a terminal the client refuses the call and shows the agent the question"),
        rewrite: Ability::Yes,
        inject_context: Ability::Yes,
        hide_tools: Ability::no(
            "a hook cannot shorten the agent's list of tools; a forbidden call is denied when it comes",
        ),
        see_builtin_tools: Ability::Yes,
        see_subagents: Ability::partly("the calls are seen with the subagent's id; which agent started it is not said"),
        fail_closed: Ability::partly(
            "a guard that crashes or is gone denies on every version; one that hangs past the hook's timeout lets the call \
                 through on versions that do not know `onFailure`",
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
        // Lines in a command file that begin with an exclamation mark run without a hook; snapshots are read by each shell
        // before its line; tasks become prompts.
        unseen: &[
            ".claude/commands/",
            "~/.claude/commands/",
            "~/.claude/shell-snapshots/",
            "~/.claude/session-env/",
            ".claude/scheduled_tasks.json",
        ],
        project_variables: &["CLAUDE_PROJECT_DIR"],
        session_variables: &["CLAUDE_CODE_SESSION_ID"],
        installed: &[COMMAND_FILES[0], COMMAND_FILES[1]],
        signs: &[".claude", "~/.claude"],
    },
    tools: &[],
    limits: &[
        LimitRow {
            way: "settings are deleted, switched off or given a comment while no client runs",
            then: "the client that starts then is not told of any guard; `phasegate doctor` says so, and managed settings are the wall",
            shown: &[
                "settings-deleted-at-start",
                "settings-deleted-between",
                "settings-comment-at-start",
                "settings-disable-at-start",
            ],
        },
        LimitRow {
            way: "the client is started with `--bare`, `--safe-mode`, or `--setting-sources` without the settings that hold the hooks",
            then: "no hook of the project runs and nothing says so; it is the choice of whoever starts the client",
            shown: &["bare", "safe-mode", "setting-sources-user"],
        },
        LimitRow {
            way: "the guard's program is replaced by another that answers in its place",
            then: "the client takes its answer; keep the program where the agent's user cannot write",
            shown: &["program-replaced", "wrong-event", "unknown-decision"],
        },
        LimitRow {
            way: "the guard hangs or is stopped past the hook's timeout under a client that does not know `onFailure` (2.1.197)",
            then: "the client runs the call; the guard's own deadline is far below the timeout, so a guard that runs at all answers; update the client",
            shown: &["hang", "stopped"],
        },
        LimitRow {
            way: "a program that the user lets run with his own rights changes settings, state or program behind the guard's back",
            then: "the next call may not be guarded; managed settings and files of another user are the wall against that",
            shown: &[],
        },
        LimitRow {
            way: "`CLAUDE_CONFIG_DIR` names another folder when the client starts",
            then: "hooks in the user's settings are not read; hooks in the project's settings still are",
            shown: &[],
        },
    ],
};
