//! What earlier versions wrote and this one does not use.

use serde::de::{Deserialize, Deserializer, IgnoredAny};

/// A value of an earlier version: it is read, and forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Older;

impl<'de> Deserialize<'de> for Older {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}
