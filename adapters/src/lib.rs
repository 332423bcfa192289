//! Every adapter of this build. An adapter crate that no code names registers nothing, so each is named here.

pub mod drive;
pub mod drives;
pub mod matrix;

use phasegate_adapter::{Adapter, Registered};

#[cfg(feature = "claude-code")]
use phasegate_claude_code as _;
#[cfg(feature = "mcp")]
use phasegate_mcp as _;
#[cfg(feature = "opencode")]
use phasegate_opencode as _;
#[cfg(feature = "pi")]
use phasegate_pi as _;

/// The adapters of this build, sorted by id. Never empty in a useful build: callers treat an empty list as an error.
#[must_use]
pub fn all() -> Vec<&'static dyn Adapter> {
    let mut found: Vec<_> = inventory::iter::<Registered>.into_iter().map(|entry| entry.0).collect();
    found.sort_by_key(|adapter| adapter.id());
    found
}

/// The adapter with this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static dyn Adapter> {
    all().into_iter().find(|adapter| adapter.id() == id)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_crate_registers_its_adapters_under_ids_of_their_own() {
        let ids: Vec<_> = super::all().iter().map(|adapter| adapter.id()).collect();
        for id in ["claude-code", "codex", "mcp", "opencode", "pi"] {
            assert!(ids.contains(&id), "{id}");
        }
        assert!(ids.is_sorted_by(|one, next| one < next), "{ids:?}");
    }
}
