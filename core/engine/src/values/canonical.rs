//! JSON text that is the same for the same value: the keys of each object are sorted. Whether a `serde_json` map keeps
//! them sorted depends on a feature that any crate of a build may turn on.

use core::fmt::{self, Display, Formatter, Write as _};

use serde_json::Value;

/// A value, displayed with sorted keys: compact, or in lines with `{:#}`.
///
/// ```
/// use phasegate_core::values::canonical::Sorted;
///
/// let value = serde_json::json!({"b": [{"d": 1, "c": "\n"}], "a": null});
/// assert_eq!(Sorted(&value).to_string(), r#"{"a":null,"b":[{"c":"\n","d":1}]}"#);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sorted<'a>(pub &'a Value);

impl Display for Sorted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            let mut value = self.0.clone();
            value.sort_all_objects();
            return write!(f, "{value:#}");
        }
        match self.0 {
            Value::Array(items) => {
                f.write_char('[')?;
                for (at, item) in items.iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { "," })?;
                    Sorted(item).fmt(f)?;
                }
                f.write_char(']')
            }
            Value::Object(fields) => {
                let mut fields: alloc::vec::Vec<_> = fields.iter().collect();
                fields.sort_unstable_by_key(|(key, _)| key.as_str());
                f.write_char('{')?;
                for (at, (key, value)) in fields.into_iter().enumerate() {
                    f.write_str(if at == 0 { "" } else { "," })?;
                    write!(f, "{}:", Value::from(key.as_str()))?;
                    Sorted(value).fmt(f)?;
                }
                f.write_char('}')
            }
            plain => write!(f, "{plain}"),
        }
    }
}
