//! Pi as data. `phasegate doctor`, the README and `docs/platforms.md` show the limits, and each open row of a fault
//! report is one of them.

use phasegate_adapter::{Ability, Capabilities, LimitRow, PlaceTable, Table};

/// The extension's file in a project.
pub(crate) const EXTENSION: &str = ".pi/extensions/phasegate.ts";
/// The extension's file in the user's home.
pub(crate) const USER_EXTENSION: &str = "~/.pi/agent/extensions/phasegate.ts";

/// The platform.
pub(crate) static TABLE: Table = Table {
    id: "pi",
    name: "Pi",
    versions: &["0.87.1", "0.73.1"],
    version_command: &["pi", "--version"],
    capabilities: Capabilities {
        deny: Ability::Yes,
        ask: Ability::partly("where nobody can be asked (print and JSON mode), it is a denial that says so"),
        rewrite: Ability::Yes,
        inject_context: Ability::Yes,
        hide_tools: Ability::partly(
            "where the client is started with `PHASEGATE_HIDE_FORBIDDEN=1`, and not in 0.73.1, which takes a change up \
                 with the next prompt only; else a forbidden call is denied when it comes",
        ),
        see_builtin_tools: Ability::Yes,
        see_subagents: Ability::partly(
            "a subagent is a client of its own: it is guarded where the extension is the user's, as a session that joins \
                 its parent's runs, and what it does proves nothing for its parent",
        ),
        fail_closed: Ability::partly(
            "an extension that cannot be loaded ends the client, and one that fails denies; a project's extension is not \
                 loaded until the project is trusted, and nothing says so",
        ),
    },
    places: PlaceTable {
        skill_folders: &[".pi/skills", ".agents/skills", "~/.pi/agent/skills", "~/.agents/skills"],
        settings: &[".pi/settings.json", EXTENSION, "~/.pi/agent/settings.json", USER_EXTENSION],
        // Extensions run in the client's own process; packages hold extensions; keys and models may be lines that the
        // client runs; trust decides which extensions are loaded.
        unseen: &[
            ".pi/extensions/",
            ".pi/npm/",
            ".pi/git/",
            "~/.pi/agent/extensions/",
            "~/.pi/agent/npm/",
            "~/.pi/agent/git/",
            "~/.pi/agent/auth.json",
            "~/.pi/agent/models.json",
            "~/.pi/agent/trust.json",
        ],
        signs: &[".pi", "~/.pi"],
        project_variables: &[],
        session_variables: &["PHASEGATE_SESSION", "PI_SESSION_ID"],
        installed: &[],
    },
    tools: &[],
    limits: &[
        LimitRow {
            way: "the extension is the project's, and the project is not trusted (0.87.1 and newer)",
            then: "the client does not load it and says nothing, in print and JSON mode always; install it for the user with \
               `phasegate init pi --user`, or start the client with `--approve` or `-e`",
            shown: &["no-approve"],
        },
        LimitRow {
            way: "the client is started with `--no-extensions`, or with another `PI_CODING_AGENT_DIR`",
            then: "the extension is not loaded and nothing says so; it is the choice of whoever starts the client",
            shown: &[],
        },
        LimitRow {
            way: "the extension's file is deleted while no client runs",
            then: "the client that starts then is not told of any guard; `phasegate doctor` says so, and a folder that is not the \
               agent's user's is the wall",
            shown: &["plugin-deleted"],
        },
        LimitRow {
            way: "the guard's program is replaced by another that speaks as the guard does",
            then: "the extension takes its answers; keep the program where the agent's user cannot write",
            shown: &[],
        },
        LimitRow {
            way: "another extension runs in the same process",
            then: "it can do whatever the client can, without a tool's call; the arguments of a decided call are frozen, so that \
               one that would change them makes the call fail",
            shown: &[],
        },
        LimitRow {
            way: "a user's own line (`!command`)",
            then: "it is the person's own, is not judged, and proves nothing",
            shown: &[],
        },
        LimitRow {
            way: "a shell's line that a signal ends, under 0.73.1",
            then: "the client tells it like one that ended well, so there no shell's line is known to be ok, and none proves \
               anything; update the client",
            shown: &[],
        },
    ],
};
