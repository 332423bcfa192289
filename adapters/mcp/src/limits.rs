//! The ways to bypass the guard that no setting can close with this protocol.

use phasegate_adapter::{Limit, LimitRow};

/// The list.
const LIMITS: [LimitRow; 5] = [
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
        way: "over HTTP, a program that can reach the address (and has a token, if tokens are required) and that the \
           client did not start opens its own session; with `--handles`, an agent omits a handle",
        then: "a session has its own runs, and a new one has none while the principal's other sessions live; keep \
           the token where only the client can read it, and leave `--handles` off if one client serves one agent",
        shown: &[],
    },
    LimitRow {
        way: "a client starts relays for several servers through different wrapper programs, on a system other than \
           Linux, or over HTTP with a handshake for each",
        then: "each relay has a session of its own, so a skill over several servers holds only where it was \
           activated; list these servers behind one relay with `phasegate mcp proxy --config`",
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
