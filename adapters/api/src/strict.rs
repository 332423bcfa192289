//! JSON that can be read in one way only: no key twice in an object, whatever depth.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads a value.
///
/// # Errors
///
/// It is no JSON, nested deeper than 127 levels, a text in it is no Unicode, or a key is given twice in one object.
pub fn read(json: &str) -> Result<Value, String> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let value = Strict.deserialize(&mut reader).map_err(|error| error.to_string())?;
    reader.end().map_err(|error| error.to_string())?;
    Ok(value)
}

struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(Error::custom(format_args!("the key `{key}` is given twice")));
            }
            let value = fields.next_value_seed(Self)?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::read;

    #[test]
    fn values_are_read_as_they_are() {
        for json in ["null", "true", "-3", "18446744073709551615", "1.5", r#""\u00e9\n""#, r#"[1,{"a":[{}],"b":null}]"#]
        {
            assert_eq!(read(json), Ok(serde_json::from_str::<Value>(json).unwrap()), "{json}");
        }
    }

    #[test]
    fn what_has_two_readings_is_refused() {
        for json in
            [r#"{"a":1,"a":2}"#, r#"[{"x":{"a":1,"\u0061":2}}]"#, r#""\ud800""#, r#"{"a":1}}"#, "", &"[".repeat(200)]
        {
            assert!(read(json).is_err(), "{json}");
        }
    }
}
