//! The ways to bypass the guard that no setting can close with this protocol.

use phasegate_adapter::{Limit, LimitRow};

/// The list.
const LIMITS: [LimitRow; 4] = [
    LimitRow {
        way: "a client starts with a list of servers that names the server without the relay",
        then: "it calls the server directly, and phasegate decides nothing; `phasegate doctor` checks the lists \
           that it knows, and a server that only the relay can start prevents it",
        shown: &[],
    },
    LimitRow {
        way: "a program with the user's rights starts the server itself, or does the server's work by other means",
        then: "the relay sees no message; the host's adapter in the same project sees the program start",
        shown: &[],
    },
    LimitRow {
        way: "over HTTP, a program that can reach the address (and has a token, if tokens are required) opens its \
           own session, or omits a handle",
        then: "each session and handle has its own runs, and a new one has none; keep the token where only the \
           client can read it, and use `--no-handles` if one client serves one agent",
        shown: &[],
    },
    LimitRow {
        way: "a server does more than its tool declares, or acts without a call",
        then: "phasegate decides calls by name and arguments; it does not see what the server runs",
        shown: &[],
    },
];

/// The list, owned.
pub(crate) fn limits() -> Vec<Limit> {
    LIMITS.iter().map(LimitRow::limit).collect()
}
