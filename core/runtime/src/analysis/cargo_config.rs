//! Settings of cargo that put another program in the place of its own, or of the tests.

use std::path::Path;

/// Where cargo looks for settings, in the folder where it starts and in each around it.
const PLACES: [&str; 2] = [".cargo/config.toml", ".cargo/config"];
/// Keys of settings by which `cargo test` runs something else, or loads it: other commands, what starts tests, what
/// compiles, further files, and libraries that are loaded first.
const KEYS: [&str; 7] = ["alias", "runner", "rustc", "rustdoc", "wrapper", "include", "LD_"];

/// Whether settings that are new have one of these keys. `is_new`: whether a file was written since the session began.
pub(super) fn replaces(folder: &Path, is_new: &dyn Fn(&Path) -> bool) -> bool {
    let places = folder.ancestors().flat_map(|folder| PLACES.map(|place| folder.join(place)));
    places.filter(|place| is_new(place)).any(|place| match std::fs::read_to_string(&place) {
        Ok(text) => KEYS.iter().any(|key| text.contains(key)) || text.contains('\\'),
        Err(_) => true,
    })
}
