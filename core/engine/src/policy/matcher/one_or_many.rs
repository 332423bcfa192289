//! A list that is stored as its only item where it has just one.

use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

use crate::prelude::*;

#[derive(Deserialize)]
#[serde(untagged)]
enum Stored {
    One(String),
    Many(Vec<String>),
}

pub(super) fn serialize<S: Serializer>(texts: &Vec<String>, serializer: S) -> Result<S::Ok, S::Error> {
    match texts.as_slice() {
        [one] => one.serialize(serializer),
        many => many.serialize(serializer),
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(match Stored::deserialize(deserializer)? {
        Stored::One(one) => Vec::from([one]),
        Stored::Many(many) => many,
    })
}
