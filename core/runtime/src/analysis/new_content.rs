//! What a file tool makes of a file, by its arguments (rules 3.3).

use std::borrow::Cow;
use std::path::Path;

use phasegate_core::calls::analysis::NewContent;
use phasegate_store::digest::sha256_hex;
use serde_json::Value;

use super::added_code;
use crate::bounds::{self, MAX_FILE_BYTES};

/// The argument that holds the whole new text of a file.
pub(crate) const CONTENT: &str = "content";
/// The largest file, in bytes, of which it is looked up what an edit makes of it.
const MAX_BYTES: u64 = 1024 * 1024;
/// The arguments that hold the text to replace, and what takes its place, as clients name them.
const REPLACEMENTS: [(&str, &str); 4] =
    [("old_string", "new_string"), ("oldString", "newString"), ("oldText", "newText"), ("old_str", "new_str")];
/// The argument that holds several replacements.
const EDITS: &str = "edits";
/// The arguments by which each place is replaced.
const ALL: [&str; 2] = ["replace_all", "replaceAll"];

/// What a call makes of a file, whose text is looked up where that is asked for; `None`: its arguments say nothing of that.
pub(crate) fn of(path: &str, input: &Value, before: impl FnOnce() -> Option<String>) -> Option<NewContent> {
    if let Some(text) = input.get(CONTENT).and_then(Value::as_str) {
        let adds_none = text.trim().is_empty() || before().is_some_and(|before| added_code::none(path, &before, text));
        return Some(NewContent { sha256: sha256_hex(text.as_bytes()), made_from: None, adds_none });
    }
    let edits = input.get(EDITS).and_then(Value::as_array);
    let edits = edits.map_or_else(|| std::slice::from_ref(input), Vec::as_slice);
    if !edits.iter().any(|edit| replacement(edit).is_some()) {
        return None;
    }
    let unknown = NewContent { sha256: String::new(), made_from: Some(String::new()), adds_none: false };
    Some(before().and_then(|before| made(path, edits, &before)).unwrap_or(unknown))
}

/// The text of a file, unless it is too large.
pub(super) fn text(file: &Path) -> Option<String> {
    let data = std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    if data.len() > MAX_BYTES { None } else { bounds::read(file, MAX_FILE_BYTES).ok() }
}

fn made(path: &str, edits: &[Value], before: &str) -> Option<NewContent> {
    let mut edits = edits.iter();
    let after = edits.try_fold(Cow::Borrowed(before), |text, edit| replaced(&text, edit).map(Cow::Owned))?;
    let made_from = Some(sha256_hex(before.as_bytes()));
    let adds_none = added_code::none(path, before, &after);
    Some(NewContent { sha256: sha256_hex(after.as_bytes()), made_from, adds_none })
}

/// The text that is replaced, and what takes its place.
fn replacement(edit: &Value) -> Option<(&str, &str)> {
    let given = |name| edit.get(name).and_then(Value::as_str);
    REPLACEMENTS.iter().find_map(|(old, new)| Some((given(old)?, given(new)?)))
}

/// The text after a replacement; `None` where its place is not certain.
fn replaced(text: &str, edit: &Value) -> Option<String> {
    let (old, new) = replacement(edit)?;
    let all = ALL.iter().any(|name| edit.get(name).and_then(Value::as_bool) == Some(true));
    let places = if old.is_empty() { 0 } else { text.matches(old).count() };
    (places == 1 || (all && places > 1)).then(|| text.replace(old, new))
}

#[cfg(test)]
mod tests {
    use phasegate_store::digest::sha256_hex;
    use serde_json::{Value, json};

    /// What the call makes of a file that holds `before`.
    fn made(before: &str, input: &Value) -> Option<String> {
        super::of("a.txt", input, || Some(before.to_owned())).map(|new| new.sha256)
    }

    #[test]
    fn what_a_file_tool_writes_is_known_by_its_arguments() {
        let known = [
            (json!({"content": "new"}), "new"),
            (json!({"old_string": "b", "new_string": "x"}), "axc c"),
            (json!({"oldString": "c", "newString": "x", "replaceAll": true}), "abx x"),
            (json!({"edits": [{"oldText": "a", "newText": "b"}, {"oldText": "bb", "newText": "x"}]}), "xc c"),
        ];
        for (input, wanted) in known {
            assert_eq!(made("abc c", &input), Some(sha256_hex(wanted.as_bytes())), "{input}");
        }
    }

    #[test]
    fn what_is_not_certain_is_not_known() {
        let unknown = [
            json!({"old_string": "c", "new_string": "x"}),
            json!({"old_string": "", "new_string": "x"}),
            json!({"old_string": "z", "new_string": "x", "replace_all": true}),
            json!({"edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "a"}]}),
        ];
        for input in &unknown {
            assert_eq!(made("abc c", input).as_deref(), Some(""), "{input}");
        }
        for input in &[json!({"edits": [{"old_string": "a"}]}), json!({"patchText": "*** Update File: a.md"})] {
            assert_eq!(made("abc c", input), None, "{input}");
        }
    }
}
