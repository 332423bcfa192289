//! What the clients can do for the guard, side by side.

use phasegate_adapter::{Ability, Adapter};

/// What a client tells of the ends of calls, and whether its agent can be kept at the end of a turn: by the adapter's id.
/// The rest of a row is the adapter's own.
const MORE: &[(&str, Ability, Ability)] = &[
    ("claude-code", Ability::Yes, Ability::partly("once a prompt; three times where nobody sits at the session")),
    (
        "codex",
        Ability::partly("from the session's own file; where there is none, no shell line is evidence"),
        Ability::partly("once a prompt"),
    ),
    (
        "mcp",
        Ability::partly("of calls to the servers alone"),
        Ability::no("the protocol tells no end of a turn, so the agent ends it"),
    ),
    ("opencode", Ability::Yes, Ability::partly("once a prompt")),
    (
        "pi",
        Ability::Yes,
        Ability::partly("once a prompt, three times where nobody sits at the session; not before 0.87.1"),
    ),
];

/// The names of the columns.
pub const COLUMNS: [&str; 6] = ["deny", "ask", "outcome", "stop", "subagents", "failure"];

/// What a client can do, in the order of [`COLUMNS`]: a call is denied, a person is asked about it, its end is told, the agent
/// is kept at the end of its turn, calls of subagents are seen, calls are denied while the guard fails.
#[must_use]
pub fn row(adapter: &dyn Adapter) -> [Ability; 6] {
    let all = adapter.capabilities();
    let more = MORE.iter().find(|(id, ..)| *id == adapter.id());
    let unknown = || (Ability::no("not known"), Ability::no("not known"));
    let (outcome, stop) = more.map_or_else(unknown, |(_, outcome, stop)| (outcome.clone(), stop.clone()));
    [all.deny, all.ask, outcome, stop, all.see_subagents, all.fail_closed]
}

#[cfg(test)]
mod tests {
    use phasegate_adapter::Ability;

    #[test]
    fn each_client_has_a_whole_row_and_each_row_a_client() {
        let all = crate::all();
        for adapter in &all {
            let known = |ability: &Ability| !matches!(ability, Ability::No(why) if why == "not known");
            assert!(super::row(*adapter).iter().all(known), "{}", adapter.id());
        }
        assert_eq!(super::MORE.len(), all.len());
    }
}
