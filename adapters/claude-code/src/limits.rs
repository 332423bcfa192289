//! The ways to lose the guard that the client gives nobody the means to close. The one place where they are listed:
//! `phasegate doctor` and `docs/platforms.md` show them.

use phasegate_adapter::Limit;

/// The list.
pub(crate) const LIMITS: [Limit; 7] = [
    Limit {
        way: "the client is started with `--bare`, `--safe-mode`, or `--setting-sources` without the settings that hold the hooks",
        then: "no hook runs and nothing says so; hooks in managed settings withstand `disableAllHooks`, not these",
    },
    Limit {
        way: "the guard's program is replaced by another that answers in its place",
        then: "the client takes its answer; keep the program where the agent's user cannot write",
    },
    Limit {
        way: "the guard hangs past the hook's timeout under a client that does not know `onFailure` (2.1.197)",
        then: "the client runs the call; the guard's own deadline is far below the timeout, so only a stopped process gets there",
    },
    Limit {
        way: "a program that the user lets run with his own rights changes settings, state or program",
        then: "the next call is not guarded; managed settings and files of another user are the wall against that",
    },
    Limit {
        way: "settings are emptied, deleted or made unreadable while the client runs",
        then: "the client reloads hooks within seconds; the hook on `ConfigChange` refuses that, and cannot before a session that is started afterwards",
    },
    Limit {
        way: "`CLAUDE_CONFIG_DIR` names another folder when the client starts",
        then: "hooks in the user's settings are not read; hooks in the project's settings still are",
    },
    Limit {
        way: "a call to a tool that the client does not know, or with arguments that it rejects",
        then: "no hook hears of it; the client refuses such calls by itself",
    },
];
