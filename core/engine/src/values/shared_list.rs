//! Lists of shared values: a copy of a list copies no value, and a value is copied when it changes.

use alloc::sync::Arc;
use core::ops::Index;
use core::slice;

use serde::{Deserialize, Serialize};

use crate::prelude::*;

/// A list whose values are shared with its copies. It is stored as a list of the values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent, bound(serialize = "T: Serialize", deserialize = "T: Deserialize<'de>"))]
pub struct SharedList<T>(Vec<Arc<T>>);

impl<T> SharedList<T> {
    /// The values, in order.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self.0.iter())
    }

    /// The values as they are shared.
    pub(crate) fn shared(&self) -> &[Arc<T>] {
        &self.0
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a value at the end.
    pub fn push(&mut self, value: T) {
        self.0.push(Arc::new(value));
    }

    /// Takes out the value at a place, if there is one.
    pub fn remove(&mut self, place: usize) {
        if place < self.0.len() {
            self.0.remove(place);
        }
    }

    /// Keeps those values alone that `keeps` says.
    pub fn retain(&mut self, mut keeps: impl FnMut(&T) -> bool) {
        self.0.retain(|value| keeps(value));
    }
}

impl<T: Clone> SharedList<T> {
    /// The values, to change them; each is copied where another list has it too.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(Arc::make_mut)
    }

    /// The first value that `is_it` says, to change it; no other is copied.
    pub fn find_mut(&mut self, is_it: impl Fn(&T) -> bool) -> Option<&mut T> {
        self.0.iter_mut().find(|value| is_it(value)).map(Arc::make_mut)
    }
}

impl<T> Default for SharedList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> FromIterator<T> for SharedList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self(values.into_iter().map(Arc::new).collect())
    }
}

impl<T> From<Vec<T>> for SharedList<T> {
    fn from(values: Vec<T>) -> Self {
        values.into_iter().collect()
    }
}

impl<'a, T> IntoIterator for &'a SharedList<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> Index<usize> for SharedList<T> {
    type Output = T;

    #[expect(clippy::indexing_slicing, reason = "as an index of a list does")]
    fn index(&self, place: usize) -> &T {
        &self.0[place]
    }
}

/// The values of a list, in order.
#[derive(Debug)]
pub struct Iter<'a, T>(slice::Iter<'a, Arc<T>>);

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        self.0.next().map(|value| &**value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> DoubleEndedIterator for Iter<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|value| &**value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_shares_what_did_not_change() {
        let before = SharedList::from(Vec::from([1, 2, 3]));
        let mut after = before.clone();
        after.find_mut(|value| *value == 2).into_iter().for_each(|value| *value = 4);
        let shared: Vec<bool> =
            before.shared().iter().zip(after.shared()).map(|(one, two)| Arc::ptr_eq(one, two)).collect();
        assert_eq!(shared, [true, false, true]);
        assert_eq!((before[1], after[1]), (2, 4));
    }
}
