//! What comes out otherwise behind the proxy, on purpose, each with the reason.

use serde::Deserialize;

use xtask::failure::{Failure, Result};
use xtask::root::{read, root};

/// `conformance/official/departures.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Departures {
    /// The checks that differ.
    #[serde(default)]
    pub(super) departure: Vec<Departure>,
}

/// One check that comes out otherwise.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Departure {
    /// The server's word.
    pub(super) server: String,
    /// The scenario's name.
    pub(super) scenario: String,
    /// The check's id.
    pub(super) check: String,
    /// Its status without the proxy; `-` where the check is not made.
    pub(super) alone: String,
    /// Its status behind the proxy; `-` where the check is not made.
    pub(super) proxy: String,
    /// Why that is right.
    pub(super) reason: String,
}

impl Departures {
    /// Reads the file.
    pub(super) fn load() -> Result<Self> {
        let path = root().join("conformance/official/departures.toml");
        let departures: Self = toml::from_str(&read(&path)?).map_err(|error| Failure::file(&path, error))?;
        match departures.departure.iter().find(|entry| entry.reason.trim().is_empty()) {
            Some(entry) => Err(Failure::new(format!("the departure of `{}` has no reason", entry.check))),
            None => Ok(departures),
        }
    }
}
