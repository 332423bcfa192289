//! An object read one level deep: its fields are pieces of the text that it was read from.
//!
//! What is decided must be what the server reads. A key that is given twice is one for the first reader and another for
//! the second, and some readers do not tell `name` from `Name`. Both are found here.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The fields of an object, in their order.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    fields: Vec<(Cow<'a, str>, &'a str)>,
}

impl<'a> Object<'a> {
    /// Reads an object and nothing after it.
    ///
    /// # Errors
    ///
    /// The text is no JSON, or no object, with the parser's words.
    pub fn read(json: &'a [u8]) -> Result<Self, String> {
        let mut reader = serde_json::Deserializer::from_slice(json);
        let object = reader.deserialize_map(Fields).map_err(|error| error.to_string())?;
        reader.end().map_err(|error| error.to_string())?;
        Ok(object)
    }

    /// The JSON text of a field; of several with this key, the last.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.fields.iter().rev().find(|(name, _)| name == key).map(|(_, json)| *json)
    }

    /// A field that is a text.
    pub fn text(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?).ok()
    }

    /// The fields, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.fields.iter().map(|(name, json)| (name.as_ref(), *json))
    }

    /// A key that another one repeats, or that a reader which does not look at case takes for one of `known`.
    pub fn doubtful(&self, known: &[&str]) -> Option<&str> {
        let names = || self.fields.iter().map(|(name, _)| name.as_ref());
        names().enumerate().find_map(|(place, name)| {
            let twice = names().take(place).any(|before| before == name);
            let alike = known.iter().any(|known| *known != name && is_alike(known, name));
            (twice || alike).then_some(name)
        })
    }
}

/// The object with another value under a key, which is added at the end where the object has no such key; the rest stays
/// as it is. `None` if the text is no object.
pub fn replaced(json: &[u8], key: &str, value: &str) -> Option<Vec<u8>> {
    let object = Object::read(json).ok()?;
    let (at, value) = match object.get(key) {
        Some(old) => (span(json, old)?, value.to_owned()),
        None => {
            let end = json.iter().rposition(|byte| *byte == b'}')?;
            let comma = if object.fields.is_empty() { "" } else { "," };
            (end..end, format!("{comma}{}:{value}", serde_json::Value::from(key)))
        }
    };
    Some([json.get(..at.start)?, value.as_bytes(), json.get(at.end..)?].concat())
}

/// The key as the most forgiving readers compare it: without case, and with the two letters outside ASCII that fold into
/// it.
pub(crate) fn folded(key: &str) -> impl Iterator<Item = char> + '_ {
    key.chars().map(|letter| match letter {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        letter => letter.to_ascii_lowercase(),
    })
}

/// Whether the most forgiving readers take two keys for one.
pub(crate) fn is_alike(one: &str, other: &str) -> bool {
    folded(one).eq(folded(other))
}

/// Where a piece lies in the text that it was read from; `None` if it is no piece of it.
pub(crate) fn span(whole: &[u8], piece: &str) -> Option<Range<usize>> {
    let start = (piece.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let end = start.checked_add(piece.len())?;
    (end <= whole.len()).then_some(start..end)
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
            fields.push((key, value.get()));
        }
        Ok(Object { fields })
    }
}

/// A key, borrowed where it holds no escape.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Cow<'de, str>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(text))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(text.to_owned()))
            }
        }
        deserializer.deserialize_str(Text).map(Key)
    }
}

#[cfg(test)]
mod tests {
    use super::{Object, replaced, span};

    #[test]
    fn fields_are_pieces_of_the_text() {
        let json = br#" {"a" : [1, {"b":2}] ,"\u0062":"x"} "#;
        let object = Object::read(json).unwrap();
        assert_eq!((object.get("a"), object.text("b").as_deref()), (Some(r#"[1, {"b":2}]"#), Some("x")));
        let piece = object.get("a").unwrap();
        assert_eq!(span(json, piece), Some(8..20));
        assert_eq!(span(json, "elsewhere"), None);
    }

    #[test]
    fn one_value_is_replaced_and_the_rest_stays() {
        for (json, expected) in [
            (r#"{"a": 1, "b" :[2] }"#, r#"{"a": 1, "b" :7 }"#),
            (r#"{"a":1}"#, r#"{"a":1,"b":7}"#),
            ("{ }", r#"{ "b":7}"#),
        ] {
            assert_eq!(replaced(json.as_bytes(), "b", "7").unwrap(), expected.as_bytes());
        }
        assert_eq!(replaced(b"[]", "b", "7"), None);
    }

    #[test]
    fn keys_in_doubt_are_found() {
        for (json, doubtful) in [
            (r#"{"name":1,"arguments":2}"#, None),
            (r#"{"name":1,"x":0,"name":2}"#, Some("name")),
            (r#"{"name":1,"\u006eame":2}"#, Some("name")),
            (r#"{"name":1,"Name":2}"#, Some("Name")),
            (r#"{"argumentſ":1}"#, Some("argumentſ")),
            (r#"{"other":1,"Other":2}"#, None),
            (r#"{"isError":false,"iserror":true}"#, Some("iserror")),
        ] {
            let object = Object::read(json.as_bytes()).unwrap();
            assert_eq!(object.doubtful(&["name", "arguments", "isError"]), doubtful, "{json}");
        }
    }

    #[test]
    fn only_an_object_is_one() {
        for json in ["", "[]", "1", "{", r#"{"a":1}x"#, "{\"a\":\"\u{1}\"}", r#"{"a":1,}"#] {
            assert!(Object::read(json.as_bytes()).is_err(), "{json}");
        }
        assert!(Object::read(b"{\"a\":\"\xff\"}").is_err());
    }
}
