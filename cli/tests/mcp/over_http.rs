//! Clients and servers that speak HTTP: a file of `cases/http` for each story. Servers are a child, or at an address.

mod address;
mod case;
mod clients;
mod http;
mod program;
mod server;

use libtest_mimic::Trial;

/// A test for each case.
pub(crate) fn trials() -> Vec<Trial> {
    super::cases("http").into_iter().map(|(name, path)| Trial::test(name, move || Ok(case::run(&path)?))).collect()
}

/// Plays a server or a client if this program was started as one.
pub(crate) fn played(word: Option<&str>) -> bool {
    match word {
        Some(server::START) => server::run(),
        Some(clients::START | clients::DETACHED) => clients::run(),
        _ => return false,
    }
    true
}
