//! Paths as rules see them.

use alloc::collections::BTreeMap;

use phasegate_rules::{Piece, Shape, Value};
use serde_json::Value as Json;

use super::secret;
use crate::calls::analysis::{Access, PathInPart, PathUse, UNKNOWN, UNNAMED};
use crate::prelude::*;

/// The most arguments that are taken for paths.
const MAX_ARGUMENTS: usize = 64;
/// The longest argument that is taken for a path, in bytes.
const MAX_BYTES: usize = 4096;

/// Where a part of a call stands in its analysis.
pub(super) struct Place<'a> {
    /// The place of the simple command.
    pub(super) command: Option<usize>,
    /// The path.
    pub(super) path: Option<Value<'a>>,
    /// The path as the call gives it.
    pub(super) written: Option<&'a str>,
}

/// A text as a file's name: what stands after its last slash.
fn last(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// What a path is called, and where it lies.
struct Named<'a> {
    name: Value<'a>,
    file: Value<'a>,
    inside: Value<'a>,
    named: bool,
    new: bool,
    /// The names that are surely parts of it.
    parts: Vec<&'a str>,
}

/// The names between the slashes of a text.
fn parts(text: &str) -> Vec<&str> {
    text.split('/').filter(|part| !part.is_empty()).collect()
}

impl<'a> Named<'a> {
    fn unknown(named: bool) -> Self {
        Self {
            name: Value::Unknown,
            file: Value::Unknown,
            inside: Value::Unknown,
            named,
            new: false,
            parts: Vec::new(),
        }
    }

    fn value(self, does: [(&'a str, Value<'a>); 4]) -> Value<'a> {
        let Self { name, file, inside, named, new, parts } = self;
        let secret = secret::is_secret(&name, &file);
        let names = Value::set(parts.into_iter().map(Value::Text));
        let named = Value::Bool(named);
        let own = [
            ("name", name),
            ("file", file),
            ("inside", inside),
            ("named", named),
            ("secret", secret),
            ("new", Value::Bool(new)),
            ("names", names),
        ];
        Value::record(own.into_iter().chain(does).collect())
    }
}

/// A path that a line names in part.
pub(super) fn in_part(path: &PathInPart, command: Option<usize>) -> Place<'_> {
    let shape = |pieces| Value::Shape(Shape { pieces, hidden: path.hidden, flat: true });
    let named = path.file.iter().any(|piece| *piece != Piece::Any(()));
    let file = shape(path.file.as_slice());
    let name = Value::Shape(Shape { pieces: &path.name, hidden: true, flat: path.flat });
    let texts =
        path.name.iter().filter_map(|piece| if let Piece::Text(text) = piece { Some(parts(text)) } else { None });
    let (inside, parts) = (inside(&path.name), texts.flatten().collect());
    let own = Named { inside, name, file, named, new: false, parts };
    let written = if let [Piece::Text(text)] = path.name.as_slice() { Some(text.as_str()) } else { None };
    Place { command, path: Some(own.value(does(path.access))), written }
}

/// Whether a path lies in the project, as far as its words tell.
fn inside<'a>(name: &[Piece]) -> Value<'a> {
    let [Piece::Text(text)] = name else { return Value::Unknown };
    match text.starts_with(['/', '~']) || text.split('/').any(|part| part == "..") {
        true => Value::Unknown,
        false => Value::Bool(true),
    }
}

/// What is done to a path.
fn does<'a>(own: Access) -> [(&'a str, Value<'a>); 4] {
    let access = |wanted: &[Access]| Value::Bool(wanted.contains(&own));
    [
        ("reads", access(&[Access::Read])),
        ("writes", access(&[Access::Write, Access::Remove])),
        ("removes", access(&[Access::Remove])),
        ("runs", access(&[Access::Execute])),
    ]
}

/// A path of a call: under the name that it has, and under the one that the call gives, where a link leads to another.
pub(super) fn values(path: &PathUse, command: Option<usize>) -> Vec<Place<'_>> {
    let place = |path_value| Place { command, path: Some(path_value), written: Some(path.written.as_str()) };
    let does = || does(path.access);
    let named = path.written != UNNAMED && path.written != UNKNOWN;
    let Some(resolved) = path.resolved.as_deref().filter(|_| named) else {
        return vec![place(Named::unknown(named).value(does()))];
    };
    let is_around = matches!(resolved, "" | "." | "/");
    if is_around && path.access != Access::Read {
        // A folder stands here also for what lies in it and is not named.
        return vec![place(Named::unknown(false).value(does()))];
    }
    // Of what is changed below a folder, only the folder is known.
    let named = path.below.is_empty();
    let name = if named { Value::Text(resolved) } else { Value::Unknown };
    let inside = Value::Bool(!resolved.starts_with('/'));
    let (file, written) = (last(resolved), last(&path.written));
    let new = path.new;
    let own = Named { name, file: Value::Text(file), inside: inside.clone(), named, new, parts: parts(resolved) };
    let mut values = vec![place(own.value(does()))];
    if file != written && !matches!(written, "" | "." | "..") {
        let name = path.written.strip_prefix("./").unwrap_or(&path.written);
        let link =
            Named { name: Value::Text(name), file: Value::Text(written), inside, named, new, parts: parts(name) };
        values.push(place(link.value(does())));
    }
    // Tools take a name with blanks around it for the one without.
    let plain = path.written.trim();
    if plain != path.written && !plain.is_empty() {
        let (name, file) = (Value::Text(plain), Value::Text(last(plain)));
        let own = Named { name, file, named, new, parts: parts(plain), ..Named::unknown(named) };
        values.push(place(own.value(does())));
    }
    values
}

/// The texts among the arguments of a tool that says nothing of paths: each may be a path, and what is done there is not
/// known. The call gives none of them as its path, so all are guesses about one thing.
pub(super) fn of_arguments<'a>(input: &'a Json, in_project: &'a BTreeMap<String, String>) -> Vec<Place<'a>> {
    let mut texts = Vec::new();
    collect(input, &mut texts);
    let does = || ["reads", "writes", "removes", "runs"].map(|name| (name, Value::Unknown));
    let mut values: Vec<_> = texts
        .iter()
        .take(MAX_ARGUMENTS)
        .map(|text| {
            let name = in_project.get(*text).map_or(*text, String::as_str);
            let name = name.strip_prefix("file://").unwrap_or(name);
            let name = name.strip_prefix("./").unwrap_or(name);
            let own = Named {
                name: Value::Text(name),
                file: Value::Text(last(name)),
                parts: parts(name),
                ..Named::unknown(true)
            };
            Place { command: None, path: Some(own.value(does())), written: None }
        })
        .collect();
    if texts.len() > MAX_ARGUMENTS {
        values.push(Place { command: None, path: Some(Named::unknown(true).value(does())), written: None });
    }
    values
}

/// One text more than are looked at says that there are more.
fn collect<'a>(value: &'a Json, texts: &mut Vec<&'a str>) {
    match value {
        Json::String(text) if texts.len() <= MAX_ARGUMENTS => {
            let may_be = !text.is_empty() && text.len() <= MAX_BYTES && !text.contains('\n');
            texts.extend(Some(text.as_str()).filter(|_| may_be));
        }
        Json::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Json::Object(fields) => fields.values().for_each(|item| collect(item, texts)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}
