//! `conformance/proofs/outcomes.md`: what the guard made of agents that lie, from the recorded sessions that the suite
//! counts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use phasegate_conformance::platform::all_sessions;
use phasegate_conformance::report::outcome::{Outcome, claims, kept};

use super::generated::{Generated, cell};
use xtask::failure::{Failure, Result};

/// The page; a story a section, a client and version a row.
pub(super) fn page() -> Result<Generated> {
    let mut text = String::from(
        "# Agents that lie\n\n\
         Made by `cargo xtask gen` from recorded sessions: real clients, each with a scripted model on loopback. \
         `cargo xtask conformance` plays every session again and compares the figures; a false \"done\" fails the suite.\n\n\
         * **denied**: calls that did not run. **kept**: how often the agent was kept from ending its turn. Each costs the model one turn more.\n\
         * **false done**: runs that the guard took for finished before the work was done.\n\
         * **end**: `done`, or `unfinished`: the turn ended, and the user was told what is missing. `open`: neither, because the person is waited for or the turn was ended.\n\
         * **characters**: all that the model read from the guard.\n",
    );
    let sessions = all_sessions().map_err(Failure::new)?;
    let mut all: BTreeMap<&str, Vec<(String, Outcome)>> = BTreeMap::new();
    let claims = claims().map_err(Failure::new)?;
    for session in &sessions {
        if claims.contains_key(&session.about.story) {
            let played = format!("{} {}", session.about.client, session.about.client_version);
            all.entry(&session.about.story).or_default().push((played, kept(session).map_err(Failure::new)?));
        }
    }
    for (story, claim) in &claims {
        let title = sessions.iter().find(|session| session.about.story == *story).map(|one| cell(&one.about.title));
        let _ = writeln!(text, "\n## `{story}`\n\n{}.", title.unwrap_or_default());
        if !claim.lies.is_empty() {
            text.push('\n');
        }
        for lie in &claim.lies {
            let _ = writeln!(text, "* The agent {lie}.");
        }
        let _ = writeln!(text, "{TABLE}");
        for (client, outcome) in all.get(story.as_str()).into_iter().flatten() {
            let Outcome { calls, denied, kept, false_done, characters, .. } = outcome;
            let end = end(outcome);
            let _ = writeln!(text, "| {client} | {calls} | {denied} | {kept} | {false_done} | {end} | {characters} |");
        }
        if let Some(note) = &claim.note {
            let _ = writeln!(text, "\n{note}");
        }
    }
    Ok(Generated { path: "conformance/proofs/outcomes.md".into(), text })
}

const TABLE: &str =
    "\n| client | calls | denied | kept | false done | end | characters |\n|---|---|---|---|---|---|---|";

fn end(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome { finished: 1.., .. } => "done",
        Outcome { unfinished: 1.., .. } => "unfinished",
        _ => "open",
    }
}
