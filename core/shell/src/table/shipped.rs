//! The shipped table: made from `core/shell/programs` by `cargo xtask gen`.

/// Entries by name, in order.
pub(super) const RULES: &[(&str, &str)] = &[];
