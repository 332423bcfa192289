//! What lists of tools have said, kept once for all sessions of the process: most servers tell each client the same.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::sync::lock;

/// Descriptions of tools that some session keeps.
static DESCRIPTIONS: Mutex<Option<HashSet<Arc<str>>>> = Mutex::new(None);
/// How many there are before those are looked for that no session keeps any more.
const MAX_UNUSED_TEXTS: usize = 1024;

/// The tools of one list, by name.
#[derive(Debug, Default)]
pub(super) struct ListedTools(HashMap<String, Arc<str>>);

impl ListedTools {
    /// Forgets what was listed.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Notes a tool. What was said of it before, if that was otherwise.
    pub(super) fn note(&mut self, name: &str, tool: &Value) -> Option<Value> {
        // Keys are in order, so equal descriptions are equal texts.
        let text = tool.to_string();
        match self.0.get(name) {
            Some(before) if **before != *text => serde_json::from_str(before).ok(),
            Some(_) => None,
            None => {
                self.0.insert(name.to_owned(), shared(text));
                None
            }
        }
    }
}

/// The text, as others keep it.
fn shared(text: String) -> Arc<str> {
    let mut all = lock(&DESCRIPTIONS);
    let all = all.get_or_insert_default();
    if let Some(known) = all.get(text.as_str()) {
        return Arc::clone(known);
    }
    if all.len() >= MAX_UNUSED_TEXTS && all.len() == all.capacity() {
        all.retain(|known| Arc::strong_count(known) > 1);
    }
    let text: Arc<str> = text.into();
    all.insert(Arc::clone(&text));
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_said_before_is_told_where_it_differs() {
        let (mut one, mut other) = (ListedTools::default(), ListedTools::default());
        let [first, second] = ["a", "b"].map(|text| json!({"name": "tool", "description": text}));
        assert_eq!(one.note("tool", &first), None);
        assert_eq!(other.note("tool", &first), None);
        assert!(Arc::ptr_eq(&one.0["tool"], &other.0["tool"]), "kept once");
        assert_eq!(one.note("tool", &first), None);
        assert_eq!(one.note("tool", &second), Some(first.clone()));
        assert_eq!(one.note("tool", &second), Some(first));
        one.clear();
        assert_eq!(one.note("tool", &second), None);
    }

    #[test]
    fn what_nobody_keeps_goes() {
        let keep = shared("kept for good".to_owned());
        (0..20 * MAX_UNUSED_TEXTS).for_each(|number| drop(shared(format!("tool number {number}"))));
        assert!(lock(&DESCRIPTIONS).as_ref().is_some_and(|all| all.len() < 5 * MAX_UNUSED_TEXTS));
        assert!(Arc::ptr_eq(&keep, &shared("kept for good".to_owned())));
    }
}
