//! `conformance/proofs/attacks.md`: the result of each attack on the guard, from the table that a test plays.

use std::fmt::Write as _;

use serde::Deserialize;

use super::generated::{Generated, cell};
use xtask::failure::{Failure, Result};
use xtask::root::{read, root};

/// The table.
const TABLE: &str = "conformance/attacks/attacks.toml";

#[derive(Deserialize)]
struct File {
    attack: Vec<Attack>,
}

#[derive(Deserialize)]
struct Attack {
    what: String,
    outcome: String,
    why: String,
}

/// The page.
pub(super) fn page() -> Result<Generated> {
    let path = root().join(TABLE);
    let file: File = toml::from_str(&read(&path)?).map_err(|error| Failure::file(&path, error))?;
    let count = |outcome: &str| file.attack.iter().filter(|attack| attack.outcome == outcome).count();
    let mut text = format!(
        "# Attacks on the guard\n\n\
         Made by `cargo xtask gen` from `{TABLE}`, which `cli/tests/it/attacks.rs` plays through the real binary in block mode.\n\n\
         `denied`: phasegate denies the call. `stands`: the call runs and changes nothing that is protected.\n\
         `waits`: the configs are changed, and neither this session nor the next goes by that until a person accepts it.\n\
         `noticed`: what starts the guard is changed, which is found and named when the call ends, and no call of any session \
         that does more than read passes until that is undone or accepted.\n\
         `through`: the attack defeats the guard or changes another protected file.\n\
         Programs with the user's rights can defeat the guard; another user account or managed settings prevent that.\n\n\
         {} attacks: {} denied, {} stand, {} wait, {} are noticed, {} get through.\n\n| attack | what happened | why |\n|---|---|---|\n",
        file.attack.len(),
        count("denied"),
        count("stands"),
        count("waits"),
        count("noticed"),
        count("through"),
    );
    for attack in &file.attack {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} | {} | {} |", cell(&attack.what), attack.outcome, cell(&attack.why));
    }
    Ok(Generated { path: "conformance/proofs/attacks.md".into(), text })
}
