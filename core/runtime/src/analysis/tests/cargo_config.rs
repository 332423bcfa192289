//! Settings of cargo that put another program in the place of its own, or of the tests.

use std::path::Path;

use crate::bounds::{self, MAX_FILE_BYTES};

/// Where cargo looks for settings, in the folder where it starts and in each around it.
const PLACES: [&str; 2] = [".cargo/config.toml", ".cargo/config"];
/// Keys of settings by which `cargo test` runs something else, or loads it: other commands, what starts tests, what
/// compiles, further files, and libraries that are loaded first.
const KEYS: [&str; 7] = ["alias", "runner", "rustc", "rustdoc", "wrapper", "include", "LD_"];

/// Where rustup, which is `cargo` by name, looks for the toolchain that it runs, and the key that names a folder of one.
const TOOLCHAINS: [&str; 2] = ["rust-toolchain.toml", "rust-toolchain"];
const TOOLCHAIN_FOLDER: &str = "path";

/// Whether settings that are new have one of these keys. `is_new`: whether a file was written since the session began.
pub(in crate::analysis) fn replaces(folder: &Path, is_new: &dyn Fn(&Path) -> bool) -> bool {
    let any = |places: [&str; 2], keys: &[&str]| {
        let mut all = folder.ancestors().flat_map(|folder| places.map(|place| folder.join(place)));
        all.any(|place| {
            is_new(&place)
                && match bounds::read(&place, MAX_FILE_BYTES) {
                    Ok(text) => keys.iter().any(|key| text.contains(key)) || text.contains('\\'),
                    Err(_) => true,
                }
        })
    };
    any(PLACES, &KEYS) || any(TOOLCHAINS, &[TOOLCHAIN_FOLDER])
}
