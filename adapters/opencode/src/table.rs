//! OpenCode as data. `phasegate doctor`, the README and `docs/platforms.md` show the limits, and each open row of a fault
//! report is one of them.

use phasegate_adapter::{Ability, Capabilities, LimitRow, PlaceTable, Table};

/// The plugin's file, in a project and in the user's home.
pub(crate) const PLUGIN: [&str; 2] = [".opencode/plugin/phasegate.ts", "~/.config/opencode/plugin/phasegate.ts"];
/// The other names under which the client finds a plugin of ours.
pub(crate) const ELSEWHERE: [&str; 2] = [".opencode/plugins/phasegate.ts", "~/.config/opencode/plugins/phasegate.ts"];

/// The platform.
pub(crate) static TABLE: Table = Table {
    id: "opencode",
    name: "OpenCode",
    versions: &["1.18.33"],
    version_command: &["opencode", "--version"],
    capabilities: Capabilities {
        deny: Ability::Yes,
        ask: Ability::no("a plugin cannot have the user asked; the call is denied, with the question as the reason"),
        rewrite: Ability::Yes,
        inject_context: Ability::Yes,
        hide_tools: Ability::no(
            "the list of tools holds for a whole turn, in which phases change; a forbidden call is denied when it comes",
        ),
        see_builtin_tools: Ability::Yes,
        see_subagents: Ability::Yes,
        fail_closed: Ability::partly(
            "a plugin whose guard is gone, hangs or answers nonsense denies; a plugin that the client could not load is silently absent",
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
            "~/.opencode/node_modules/",
            "~/.opencode/package.json",
            "~/.opencode/bin/",
            "~/.cache/opencode/",
            "~/.local/share/opencode/",
            "~/.local/state/opencode/",
        ],
        project_variables: &[],
        session_variables: &["PHASEGATE_SESSION"],
        installed: &[PLUGIN[0], PLUGIN[1]],
        signs: &[".opencode", "opencode.json", "opencode.jsonc", "~/.config/opencode"],
    },
    tools: &[],
    limits: &[
        LimitRow {
            way: "the plugin is deleted, or cannot be loaded, when the client starts",
            then: "the client starts without it and says nothing; `phasegate doctor` says so, and the plugin's heartbeat is missing; keep the \
               plugin in a folder that the agent's user cannot write",
            shown: &["plugin-deleted", "plugin-emptied", "plugin-syntax", "plugin-import", "plugin-throws"],
        },
        LimitRow {
            way: "the client is started with `--pure` or `OPENCODE_PURE=1`, or with `OPENCODE_DISABLE_PROJECT_CONFIG=1` where the plugin is the project's",
            then: "no plugin is loaded; it is the choice of whoever starts the client, and the user's plugin folder helps against the second",
            shown: &["pure"],
        },
        LimitRow {
            way: "the guard's program is replaced by another that speaks as the guard does",
            then: "the plugin takes its answers; keep the program where the agent's user cannot write",
            shown: &[],
        },
        LimitRow {
            way: "a line that the user gives the client with `!`, or in a command file between `!` and back-quotes",
            then: "the client runs it without asking any plugin; it is the user's own, and command files are protected",
            shown: &[],
        },
        LimitRow {
            way: "the client serves its interface on a port, and a program asks it for a shell or types a prompt",
            then: "the client asks no plugin about that shell; give the server a password that the agent's programs do not have, and serve on no \
               port where none is needed",
            shown: &[],
        },
        LimitRow {
            way: "another plugin runs programs by itself or takes this one out of the running client",
            then: "plugins share one process and are all trusted; install only what you would run yourself. A plugin that changes a call after it \
               was decided is noticed, and every later call is denied",
            shown: &[],
        },
        LimitRow {
            way: "a program that the user lets run with his own rights changes plugin, settings, state or program behind the guard's back",
            then: "the next start of the client may not be guarded; files of another user are the wall against that",
            shown: &[],
        },
    ],
};
