//! Which program plays the cases of a file.

use xtask::failure::Result;

use super::case::Case;
use super::lock;
use super::outcome::Outcome;
use super::planner;
use super::player::Player;
use super::protocols;
use super::registry;

/// Plays a case of the file of this name.
pub(crate) fn play(file: &str, case: &Case) -> Result<Outcome> {
    match file.get(..3) {
        Some("001") => planner::play(&Player::new("planned-feature", planner::form(case))?, case),
        Some("003") => protocols::play(case),
        Some("004") => lock::play(case),
        Some("002") => registry::play(case),
        _ if file.ends_with("registry") => registry::play_line(case),
        _ => Ok(Outcome::not_supported("the program has no skill for this file yet")),
    }
}
