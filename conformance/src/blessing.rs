//! Whether expectations are written instead of compared.

use std::sync::atomic::{AtomicBool, Ordering};

static BLESS: AtomicBool = AtomicBool::new(false);

/// From now on, decode, encode and session expectations are written from what happens instead of being compared.
/// `PHASEGATE_BLESS=1` does the same.
pub fn bless_from_now_on() {
    BLESS.store(true, Ordering::Relaxed);
}

/// Whether expectations are written.
pub(crate) fn blessing() -> bool {
    BLESS.load(Ordering::Relaxed) || std::env::var_os("PHASEGATE_BLESS").is_some_and(|value| value == "1")
}
