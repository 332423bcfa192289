//! An example of a tool's arguments, which is read only when a denial shows it.

use alloc::boxed::Box;
use alloc::string::ToString as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::canonical::Sorted;

/// The arguments of a useful call, as JSON text. Most events end without a look at them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Example(Box<RawValue>);

impl Example {
    /// Keeps these arguments. `None` if they cannot be written as JSON.
    #[must_use]
    pub fn new(arguments: &Value) -> Option<Self> {
        RawValue::from_string(Sorted(arguments).to_string()).ok().map(Self)
    }

    /// The arguments; `null` if the text is not JSON.
    #[must_use]
    pub fn arguments(&self) -> Value {
        serde_json::from_str(self.0.get()).unwrap_or_default()
    }
}

impl PartialEq for Example {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get() || self.arguments() == other.arguments()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_example_keeps_its_stored_form() {
        let arguments = json!({"file": "{file}", "depth": [1, {"of": null}]});
        let example = Example::new(&arguments).unwrap();
        let stored = serde_json::to_string(&example).unwrap();
        assert_eq!(stored, Sorted(&arguments).to_string());
        let read: Example = serde_json::from_str(&stored).unwrap();
        assert_eq!((read.arguments(), &read), (arguments.clone(), &example));
        let read: Example = serde_json::from_value(arguments).unwrap();
        assert_eq!(read, example);
        let spaced: Example = serde_json::from_str("{ \"depth\": [1, {\"of\": null}], \"file\": \"{file}\" }").unwrap();
        assert_eq!(spaced, example);
    }
}
