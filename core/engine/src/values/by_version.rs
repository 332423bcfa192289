//! Lists of what has a version, and is found by it without a walk through the list.

use core::slice;

use serde::{Deserialize, Serialize};

use crate::prelude::*;

/// What has a version.
pub trait Versioned {
    /// Its version.
    fn version(&self) -> &str;
}

/// Values in the order in which they came, to be found by their versions. They are stored as a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<T>", into = "Vec<T>")]
#[serde(bound(serialize = "T: Clone + Serialize", deserialize = "T: Versioned + Deserialize<'de>"))]
pub struct ByVersion<T> {
    values: Vec<T>,
    /// Their places, by the key of the version, then by the version; of the same version the first stands before the
    /// others. The keys lie side by side, so that a search reads few lines of memory.
    order: Vec<(u64, usize)>,
}

/// The first eight bytes of a version, by which versions are in the same order as by themselves.
fn key(version: &str) -> u64 {
    let mut first = [0; 8];
    first.iter_mut().zip(version.bytes()).for_each(|(to, byte)| *to = byte);
    u64::from_be_bytes(first)
}

impl<T> ByVersion<T> {
    /// The values, in the order in which they came.
    pub fn iter(&self) -> slice::Iter<'_, T> {
        self.values.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl<T: Versioned> ByVersion<T> {
    /// The first value of this version.
    pub fn of_version(&self, version: &str) -> Option<&T> {
        let key = key(version);
        let before = |at: &(u64, usize)| at.0 < key || (at.0 == key && self.version(at.1) < Some(version));
        let found = self.order.get(self.order.partition_point(before)).and_then(|(_, place)| self.values.get(*place));
        found.filter(|value| value.version() == version)
    }

    /// Adds a value.
    pub fn push(&mut self, value: T) {
        let key = key(value.version());
        let before = |at: &(u64, usize)| at.0 < key || (at.0 == key && self.version(at.1) <= Some(value.version()));
        let place = self.order.partition_point(before);
        self.order.insert(place, (key, self.values.len()));
        self.values.push(value);
    }

    /// Keeps those alone that `keeps` says.
    pub fn retain(&mut self, keeps: impl FnMut(&T) -> bool) {
        let mut values = core::mem::take(&mut self.values);
        values.retain(keeps);
        *self = Self::from(values);
    }

    fn version(&self, place: usize) -> Option<&str> {
        self.values.get(place).map(T::version)
    }
}

impl<T> Default for ByVersion<T> {
    fn default() -> Self {
        Self { values: Vec::new(), order: Vec::new() }
    }
}

impl<T: Versioned> Extend<T> for ByVersion<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.push(value));
    }
}

impl<T: Versioned> From<Vec<T>> for ByVersion<T> {
    fn from(values: Vec<T>) -> Self {
        let mut all = Self::default();
        all.extend(values);
        all
    }
}

impl<T> From<ByVersion<T>> for Vec<T> {
    fn from(all: ByVersion<T>) -> Self {
        all.values
    }
}

impl<'a, T> IntoIterator for &'a ByVersion<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct One(&'static str, &'static str);

    impl Versioned for One {
        fn version(&self) -> &str {
            self.1
        }
    }

    #[test]
    fn a_value_is_found_by_its_version_whatever_came_and_went() {
        let mut all = ByVersion::from(Vec::from([One("c", "3"), One("a", "1"), One("b", "2"), One("again", "1")]));
        let found = |all: &ByVersion<One>, version| all.of_version(version).map(|one| one.0);
        assert_eq!(["1", "2", "3", "4"].map(|version| found(&all, version)), [Some("a"), Some("b"), Some("c"), None]);
        all.retain(|one| one.0 != "b" && one.0 != "a");
        assert_eq!(["1", "2", "3"].map(|version| found(&all, version)), [Some("again"), None, Some("c")]);
        let names: Vec<&str> = all.iter().map(|one| one.0).collect();
        assert_eq!(names, ["c", "again"], "in the order in which they came");
        // Versions that begin alike, and one that is the beginning of another.
        let all = ByVersion::from(Vec::from([One("b", "12345678b"), One("a", "12345678a"), One("short", "1234")]));
        let names = ["1234", "12345678a", "12345678b", "12345678"].map(|version| found(&all, version));
        assert_eq!(names, [Some("short"), Some("a"), Some("b"), None]);
    }
}
