//! The ways to lose the guard that the protocol gives nobody the means to close.

use phasegate_adapter::{Limit, LimitRow};

/// The list.
const LIMITS: [LimitRow; 4] = [
    LimitRow {
        way: "a client is started with a list of servers in which the server stands without the relay",
        then: "it speaks to the server directly, and nothing is decided; `phasegate doctor` looks at the lists that it knows, and \
               a server that only the relay can start is the wall",
        shown: &[],
    },
    LimitRow {
        way: "a program that the user lets run starts the server itself, or does by other means what the server does",
        then: "no message passes the relay; the host's adapter in the same project sees the program start",
        shown: &[],
    },
    LimitRow {
        way: "over HTTP, a program that can reach the address (and has a token, where they are asked for) opens a session of \
              its own, or leaves a handle out",
        then: "each session and handle is judged by its own runs, and a new one has none; keep the token where only the client \
               reads it, and use `--no-handles` where one client serves one agent",
        shown: &[],
    },
    LimitRow {
        way: "a server does more than its tool says, or something when no tool is called",
        then: "calls are decided by name and arguments; what runs behind them is the server's",
        shown: &[],
    },
];

/// The list, owned.
pub(crate) fn limits() -> Vec<Limit> {
    LIMITS.iter().map(LimitRow::limit).collect()
}
