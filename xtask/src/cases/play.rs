//! Which program plays the cases of a file.

use std::path::Path;

use xtask::failure::Result;

use super::case::Case;
use super::lock;
use super::outcome::Outcome;
use super::phases;
use super::planner;
use super::plans;
use super::player::Player;
use super::protocols;
use super::registry;

/// Plays a case of a file, by the file's name.
pub(crate) fn play(path: &Path, file: &str, case: &Case) -> Result<Outcome> {
    match file.get(..3) {
        Some("000") => phases::play(path, case),
        Some("001") => planner::play(&Player::new("planned-feature", planner::form(case))?, case),
        Some("003") => protocols::play(case),
        Some("004") => lock::play(case),
        Some("002") => match case.calls.first().filter(|call| call.tool.contains('.')) {
            Some(call) => plans::play(case, call),
            None => registry::play(case),
        },
        _ if file.ends_with("registry") => registry::play_line(case),
        _ => Ok(Outcome::not_supported("the program has no skill for this file yet")),
    }
}
