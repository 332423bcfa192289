//! Servers that are started as a child: a file of `cases/stdio` for each story.

mod case;
mod client;
mod server;

use libtest_mimic::Trial;

/// A test for each case.
pub(crate) fn trials() -> Vec<Trial> {
    super::cases("stdio").into_iter().map(|(name, path)| Trial::test(name, move || Ok(case::run(&path)?))).collect()
}

/// Plays a server if this program was started as one.
pub(crate) fn played(word: Option<&str>) -> bool {
    let is_server = word == Some(server::START);
    if is_server {
        server::run();
    }
    is_server
}
