//! What lists of tools say, kept once for all sessions of the process: most servers tell each client the same.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use phasegate_core::calls::tool::Labels;
use serde_json::Value;

use crate::message::tool_call::labels;
use crate::sync::lock;

/// The descriptions that some session keeps, by their text.
static DESCRIPTIONS: Mutex<Option<HashMap<Arc<str>, Arc<ListedTool>>>> = Mutex::new(None);
/// How many descriptions there are before those go that no session keeps any more.
const MAX_UNUSED_TEXTS: usize = 1024;

/// A tool as a list describes it.
#[derive(Debug)]
pub(super) struct ListedTool {
    name: String,
    /// The description. Its keys are in order, so equal descriptions are equal texts.
    text: Arc<str>,
    /// What it can do, as its annotations say.
    pub(super) labels: Option<Labels>,
    /// Whether it declares the form of `structuredContent`.
    pub(super) declared: bool,
}

impl ListedTool {
    /// The tool that this describes, as other sessions keep it; `None` if it has no name.
    pub(super) fn of(tool: &Value) -> Option<Arc<Self>> {
        let name = tool.get("name")?.as_str()?;
        let text = tool.to_string();
        let mut all = lock(&DESCRIPTIONS);
        let all = all.get_or_insert_default();
        if let Some(known) = all.get(text.as_str()) {
            return Some(Arc::clone(known));
        }
        if all.len() >= MAX_UNUSED_TEXTS && all.len() == all.capacity() {
            all.retain(|_, known| Arc::strong_count(known) > 1);
        }
        let text: Arc<str> = text.into();
        let declared = tool.get("outputSchema").is_some_and(Value::is_object);
        let listed = Self { name: name.to_owned(), text: Arc::clone(&text), labels: labels(tool), declared };
        let listed = Arc::new(listed);
        all.insert(text, Arc::clone(&listed));
        Some(listed)
    }
}

/// Tools by name. Hundreds of sessions hold one each, so it is a list in order of names.
#[derive(Debug, Default)]
pub(super) struct ListedTools(Vec<Arc<ListedTool>>);

impl ListedTools {
    /// Forgets all tools.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The tool of this name.
    pub(super) fn get(&self, name: &str) -> Option<&Arc<ListedTool>> {
        self.0.get(self.place(name).ok()?)
    }

    /// Notes a tool in place of one with the same name.
    pub(super) fn put(&mut self, tool: Arc<ListedTool>) {
        match self.place(&tool.name) {
            Ok(place) => {
                if let Some(known) = self.0.get_mut(place) {
                    *known = tool;
                }
            }
            Err(place) => self.0.insert(place, tool),
        }
    }

    /// Notes a tool, unless one with the same name is known. The known description, if it differs.
    pub(super) fn put_first(&mut self, tool: Arc<ListedTool>) -> Option<Value> {
        match self.get(&tool.name) {
            Some(known) if known.text != tool.text => serde_json::from_str(&known.text).ok(),
            Some(_) => None,
            None => {
                self.put(tool);
                None
            }
        }
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|known| known.name.as_str().cmp(name))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, text: &str) -> Arc<ListedTool> {
        ListedTool::of(&json!({"name": name, "description": text})).unwrap()
    }

    #[test]
    fn what_was_said_before_is_told_where_it_differs() {
        let (mut one, mut other) = (ListedTools::default(), ListedTools::default());
        let first = json!({"name": "tool", "description": "a"});
        assert_eq!(one.put_first(tool("tool", "a")), None);
        assert_eq!(other.put_first(tool("tool", "a")), None);
        assert!(Arc::ptr_eq(one.get("tool").unwrap(), other.get("tool").unwrap()), "kept once");
        assert_eq!(one.put_first(tool("tool", "a")), None);
        assert_eq!(one.put_first(tool("tool", "b")), Some(first.clone()));
        assert_eq!(one.put_first(tool("tool", "b")), Some(first));
        one.clear();
        assert_eq!(one.put_first(tool("tool", "b")), None);
    }

    #[test]
    fn the_latest_description_takes_the_place_of_another() {
        let mut tools = ListedTools::default();
        for (name, text) in [("b", "1"), ("a", "1"), ("c", "1"), ("a", "2")] {
            tools.put(tool(name, text));
        }
        assert!(Arc::ptr_eq(tools.get("a").unwrap(), &tool("a", "2")));
        assert!(Arc::ptr_eq(tools.get("c").unwrap(), &tool("c", "1")));
        assert!(tools.get("d").is_none());
        assert!(ListedTool::of(&json!({"description": "no name"})).is_none());
    }

    #[test]
    fn what_no_session_keeps_goes() {
        let keep = tool("kept for good", "");
        (0..20 * MAX_UNUSED_TEXTS).for_each(|number| drop(tool(&format!("tool number {number}"), "")));
        assert!(lock(&DESCRIPTIONS).as_ref().is_some_and(|all| all.len() < 5 * MAX_UNUSED_TEXTS));
        assert!(Arc::ptr_eq(&keep, &tool("kept for good", "")));
    }
}
