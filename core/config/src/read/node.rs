//! A document as read: values with their places, mappings in the order of the file.

use serde_json::{Map, Number, Value};

/// A stretch of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    /// First byte.
    pub(crate) start: usize,
    /// One past the last byte.
    pub(crate) end: usize,
    /// Line, from 1.
    pub(crate) line: usize,
    /// Column in characters, from 1.
    pub(crate) column: usize,
}

/// A value with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) content: Content,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) node: Node,
}

impl Node {
    /// The value without its places.
    pub(crate) fn to_value(&self) -> Value {
        match &self.content {
            Content::Null => Value::Null,
            Content::Bool(truth) => Value::Bool(*truth),
            Content::Number(number) => Value::Number(number.clone()),
            Content::Text(text) => Value::String(text.clone()),
            Content::List(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Content::Map(entries) => Value::Object(
                entries.iter().map(|entry| (entry.key.clone(), entry.node.to_value())).collect::<Map<_, _>>(),
            ),
        }
    }

    /// The entries of a mapping; none for anything else.
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.content {
            Content::Map(entries) => entries,
            Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) | Content::List(_) => &[],
        }
    }

    /// The entry of a key.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The text, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Text(text) => Some(text),
            Content::Null | Content::Bool(_) | Content::Number(_) | Content::List(_) | Content::Map(_) => None,
        }
    }

    /// How many values it consists of, and how many levels they nest, both with itself.
    pub(crate) fn extent(&self) -> (usize, usize) {
        let add = |(size, depth): (usize, usize), (more, deep): (usize, usize)| (size + more, depth.max(deep));
        let (size, depth) = match &self.content {
            Content::List(items) => items.iter().map(Self::extent).fold((0, 0), add),
            Content::Map(entries) => entries.iter().map(|entry| entry.node.extent()).fold((0, 0), add),
            Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) => (0, 0),
        };
        (size + 1, depth + 1)
    }

    fn child(&self, part: &str) -> Option<&Node> {
        match &self.content {
            Content::Map(_) => self.entry(part).map(|entry| &entry.node),
            Content::List(items) => part.parse().ok().and_then(|at: usize| items.get(at)),
            Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) => None,
        }
    }

    /// The value of a key, or the item of a list.
    pub(crate) fn at<S: AsRef<str>>(&self, pointer: &[S]) -> Option<&Node> {
        pointer.iter().try_fold(self, |node, part| node.child(part.as_ref()))
    }

    /// The place of the value at a pointer; of this node, if there is none.
    pub(crate) fn span_at<S: AsRef<str>>(&self, pointer: &[S]) -> Span {
        self.at(pointer).map_or(self.span, |node| node.span)
    }

    /// The items of the list at a key.
    pub(crate) fn items_of(&self, key: &str) -> &[Node] {
        self.entry(key).map_or(&[], |entry| entry.node.items())
    }

    /// The items of a list; of a single value, that value.
    pub(crate) fn items(&self) -> &[Node] {
        match &self.content {
            Content::List(items) => items,
            Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) | Content::Map(_) => {
                std::slice::from_ref(self)
            }
        }
    }

    /// Adds a text that the file does not have, in the place of the whole.
    pub(crate) fn add_text(&mut self, key: &str, text: &str) {
        let span = self.span;
        if let Content::Map(entries) = &mut self.content {
            let node = Self { span, content: Content::Text(text.into()) };
            entries.push(Entry { key: key.into(), key_span: span, node });
        }
    }

    /// Removes the value at a pointer, and its key. Returns whether there was one.
    pub(crate) fn remove(&mut self, pointer: &[String]) -> bool {
        let Some((last, rest)) = pointer.split_last() else { return false };
        let mut node = self;
        for part in rest {
            let next = match &mut node.content {
                Content::Map(entries) => {
                    entries.iter_mut().find(|entry| entry.key == *part).map(|entry| &mut entry.node)
                }
                Content::List(items) => part.parse().ok().and_then(|at: usize| items.get_mut(at)),
                Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) => None,
            };
            let Some(next) = next else { return false };
            node = next;
        }
        match &mut node.content {
            Content::Map(entries) => {
                let before = entries.len();
                entries.retain(|entry| entry.key != *last);
                entries.len() < before
            }
            Content::List(items) => {
                let at = last.parse().ok().filter(|at: &usize| *at < items.len());
                at.map(|at| items.remove(at)).is_some()
            }
            Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) => false,
        }
    }
}
