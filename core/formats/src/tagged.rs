//! Enums of serde's default form, `{"tag": value}`, that share their tags among several types.
//!
//! With an untagged variant, serde would copy each value and then try the variants in turn. Here the tag is read first,
//! and the value then as what it is.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{CowStrDeserializer, MapAccessDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IntoDeserializer as _, MapAccess, Visitor};

/// An enum that reads some tags by itself, and hands every other one on.
pub trait Tagged: Sized {
    /// Reads the value of a tag: by `map.next_value()` for an own one, else by [`rest`].
    ///
    /// # Errors
    ///
    /// There is no such tag, or the value is not in its form.
    fn from_tag<'de, A: MapAccess<'de>>(tag: Cow<'de, str>, map: A) -> Result<Self, A::Error>;
}

/// Reads such an enum.
///
/// # Errors
///
/// As for [`Tagged::from_tag`].
pub fn deserialize<'de, T: Tagged, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_map(OneTag(PhantomData))
}

/// Reads a value of a tag that another enum has.
///
/// # Errors
///
/// That enum has no such variant, or the value is not in its form.
pub fn rest<'de, T: Deserialize<'de>, A: MapAccess<'de>>(tag: Cow<'de, str>, map: A) -> Result<T, A::Error> {
    T::deserialize(MapAccessDeserializer::new(PutBack { tag: Some(tag), map }))
}

struct OneTag<T>(PhantomData<T>);

impl<'de, T: Tagged> Visitor<'de> for OneTag<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with one tag")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        /// Text that is copied only where the input does not have it as it is.
        #[derive(Deserialize)]
        struct Tag<'a>(#[serde(borrow)] Cow<'a, str>);
        let Tag(tag) = map.next_key()?.ok_or_else(|| A::Error::custom("an object without a tag"))?;
        T::from_tag(tag, map)
    }
}

/// A map with the tag that was read put back.
struct PutBack<'de, A> {
    tag: Option<Cow<'de, str>>,
    map: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for PutBack<'de, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        let Some(tag) = self.tag.take() else { return self.map.next_key_seed(seed) };
        let tag: CowStrDeserializer<'de, A::Error> = tag.into_deserializer();
        seed.deserialize(tag).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}
