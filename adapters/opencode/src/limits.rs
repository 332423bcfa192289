//! The ways to lose the guard that the client gives nobody the means to close. The one place where they are listed:
//! `phasegate doctor`, the README and `docs/platforms.md` show them, and each open row of a fault report is one of them.

use phasegate_adapter::Limit;

/// The list.
pub(crate) const LIMITS: [Limit; 7] = [
    Limit {
        way: "the plugin is deleted, or cannot be loaded, when the client starts",
        then: "the client starts without it and says nothing; `phasegate doctor` says so, and the plugin's heartbeat is missing; keep the \
               plugin in a folder that the agent's user cannot write",
        shown: &["plugin-deleted", "plugin-emptied", "plugin-syntax", "plugin-import", "plugin-throws"],
    },
    Limit {
        way: "the client is started with `--pure` or `OPENCODE_PURE=1`, or with `OPENCODE_DISABLE_PROJECT_CONFIG=1` where the plugin is the project's",
        then: "no plugin is loaded; it is the choice of whoever starts the client, and the user's plugin folder helps against the second",
        shown: &["pure"],
    },
    Limit {
        way: "the guard's program is replaced by another that speaks as the guard does",
        then: "the plugin takes its answers; keep the program where the agent's user cannot write",
        shown: &[],
    },
    Limit {
        way: "a line that the user gives the client with `!`, or in a command file between `!` and back-quotes",
        then: "the client runs it without asking any plugin; it is the user's own, and command files are protected",
        shown: &[],
    },
    Limit {
        way: "the client serves its interface on a port, and a program asks it for a shell or types a prompt",
        then: "the client asks no plugin about that shell; give the server a password that the agent's programs do not have, and serve on no \
               port where none is needed",
        shown: &[],
    },
    Limit {
        way: "another plugin runs programs by itself or takes this one out of the running client",
        then: "plugins share one process and are all trusted; install only what you would run yourself. A plugin that changes a call after it \
               was decided is noticed, and every later call is denied",
        shown: &[],
    },
    Limit {
        way: "a program that the user lets run with his own rights changes plugin, settings, state or program behind the guard's back",
        then: "the next start of the client may not be guarded; files of another user are the wall against that",
        shown: &[],
    },
];
