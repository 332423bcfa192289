//! The source `pointer`: whether a place in each of these files, which are JSON or have front matter, holds what is wanted
//! there. No value is told.

use phasegate_config::front_matter;
use phasegate_core::FactValue;
use phasegate_core::policy::matcher::ArgIs;
use serde::Deserialize;
use serde_json::{Value, json};

use super::named_files::{NamedFiles, bytes, each};
use super::source::{FactSource, World};

/// The source.
pub(super) struct Pointer;

/// What is asked of the files.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The JSON pointer to the place.
    at: String,
    /// What has to be there.
    is: ArgIs,
    /// The files.
    pub(crate) files: NamedFiles,
}

impl FactSource for Pointer {
    const NAME: &'static str = "pointer";
    type Arguments = Arguments;

    fn gather(world: World<'_>, arguments: &Arguments) -> FactValue {
        each(&arguments.files, &|path| bytes(world.root, path), &|bytes| arguments.of(bytes))
    }
}

impl Arguments {
    /// Whether the place in a file, or in its front matter, holds what is wanted; not known if the file is not JSON and has
    /// no front matter.
    pub(crate) fn of(&self, bytes: &[u8]) -> Value {
        let text = std::str::from_utf8(bytes).ok();
        // No JSON begins as front matter does.
        let document = match text.and_then(|text| front_matter(text.strip_prefix('\u{feff}').unwrap_or(text))) {
            Some(matter) => matter.fields.ok_or_else(|| "its front matter is not YAML that can be read".to_owned()),
            None => serde_json::from_slice::<Value>(bytes)
                .map_err(|error| format!("it is not JSON (line {}) and has no front matter", error.line())),
        };
        match document {
            Ok(document) => json!(self.is.holds(document.pointer(&self.at))),
            Err(unknown) => json!({"unknown": unknown}),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_holds_a_value_or_a_part_of_it() {
        let text = br#"{"state": "passed", "count": 2, "tags": ["a", "b"], "of": {"x/y": null}}"#;
        let of = |at: &str, is: Value| {
            let is = serde_json::from_value(is).unwrap();
            Arguments { at: at.into(), is, files: NamedFiles::new() }.of(text)
        };
        for (at, is, holds) in [
            ("/state", json!({"equal": "passed"}), true),
            ("/state", json!({"equal": "Passed"}), false),
            ("/count", json!({"equal": 2}), true),
            ("/count", json!({"equal": "2"}), false),
            ("/count", json!({"one_of": [1, 2]}), true),
            ("/state", json!({"begins": "pass"}), true),
            ("/count", json!({"begins": ""}), false),
            ("/tags", json!({"contains": "b"}), true),
            ("/state", json!({"contains": "ass"}), true),
            ("/of/x~1y", json!({"present": true}), true),
            ("/of/z", json!({"present": true}), false),
            ("/of/z", json!({"present": false}), true),
            ("/of/z", json!({"equal": null}), false),
            ("", json!({"present": true}), true),
        ] {
            assert_eq!(of(at, is.clone()), json!(holds), "{at} {is}");
        }
        let of_markdown = |text: &str| {
            let is = ArgIs::Equal("passed".into());
            Arguments { at: "/verdict".into(), is, files: NamedFiles::new() }.of(text.as_bytes())
        };
        assert_eq!(of_markdown("---\nverdict: passed\n---\n# A\n"), json!(true));
        assert_eq!(of_markdown("---\nverdict: failed\n---\n# A\n\nverdict: passed\n"), json!(false));
        for text in ["# A\nverdict: passed\n", "---\nverdict: passed\n", "---\nverdict: passed\nverdict: failed\n---\n"]
        {
            assert!(of_markdown(text).is_object(), "{text}");
        }
        let damaged = Arguments { at: "/a".into(), is: ArgIs::Present(false), files: NamedFiles::new() };
        assert!(damaged.of(b"{\n").is_object(), "what is not JSON holds nothing, and lacks nothing");
    }
}
