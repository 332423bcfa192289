//! The ways to lose the guard that the client gives nobody the means to close. The one place where they are listed:
//! `phasegate doctor`, the README and `docs/platforms.md` show them, and each open row of a fault report is one of them.

use phasegate_adapter::Limit;

/// The list.
pub(crate) const LIMITS: [Limit; 6] = [
    Limit {
        way: "settings are deleted, switched off or given a comment while no client runs",
        then: "the client that starts then is not told of any guard; `phasegate doctor` says so, and managed settings are the wall",
        shown: &[
            "settings-deleted-at-start",
            "settings-deleted-between",
            "settings-comment-at-start",
            "settings-disable-at-start",
        ],
    },
    Limit {
        way: "the client is started with `--bare`, `--safe-mode`, or `--setting-sources` without the settings that hold the hooks",
        then: "no hook of the project runs and nothing says so; it is the choice of whoever starts the client",
        shown: &["bare", "safe-mode", "setting-sources-user"],
    },
    Limit {
        way: "the guard's program is replaced by another that answers in its place",
        then: "the client takes its answer; keep the program where the agent's user cannot write",
        shown: &["program-replaced", "wrong-event", "unknown-decision"],
    },
    Limit {
        way: "the guard hangs or is stopped past the hook's timeout under a client that does not know `onFailure` (2.1.197)",
        then: "the client runs the call; the guard's own deadline is far below the timeout, so a guard that runs at all answers; update the client",
        shown: &["hang", "stopped"],
    },
    Limit {
        way: "a program that the user lets run with his own rights changes settings, state or program behind the guard's back",
        then: "the next call may not be guarded; managed settings and files of another user are the wall against that",
        shown: &[],
    },
    Limit {
        way: "`CLAUDE_CONFIG_DIR` names another folder when the client starts",
        then: "hooks in the user's settings are not read; hooks in the project's settings still are",
        shown: &[],
    },
];
