//! The ways to lose the guard that the client gives nobody the means to close. The one place where they are listed:
//! `phasegate doctor`, the README and `docs/platforms.md` show them, and each open row of a fault report is one of them.

use phasegate_adapter::Limit;

/// The list.
pub(crate) const LIMITS: [Limit; 7] = [
    Limit {
        way: "the extension is the project's, and the project is not trusted (0.87.1 and newer)",
        then: "the client does not load it and says nothing, in print and JSON mode always; install it for the user with \
               `phasegate init pi --user`, or start the client with `--approve` or `-e`",
        shown: &["no-approve"],
    },
    Limit {
        way: "the client is started with `--no-extensions`, or with another `PI_CODING_AGENT_DIR`",
        then: "the extension is not loaded and nothing says so; it is the choice of whoever starts the client",
        shown: &[],
    },
    Limit {
        way: "the extension's file is deleted while no client runs",
        then: "the client that starts then is not told of any guard; `phasegate doctor` says so, and a folder that is not the \
               agent's user's is the wall",
        shown: &["plugin-deleted"],
    },
    Limit {
        way: "the guard's program is replaced by another that speaks as the guard does",
        then: "the extension takes its answers; keep the program where the agent's user cannot write",
        shown: &[],
    },
    Limit {
        way: "another extension runs in the same process",
        then: "it can do whatever the client can, without a tool's call; the arguments of a decided call are frozen, so that \
               one that would change them makes the call fail",
        shown: &[],
    },
    Limit {
        way: "a user's own line (`!command`)",
        then: "it is the person's own, is not judged, and proves nothing",
        shown: &[],
    },
    Limit {
        way: "a shell's line that a signal ends, under 0.73.1",
        then: "the client tells it like one that ended well, so there no shell's line is known to be ok, and none proves \
               anything; update the client",
        shown: &[],
    },
];
