//! What of the guard's own a call would change, or might: as far as its paths, its line or its arguments say.

use std::path::Path;

use phasegate_core::tool::{Access, Guarded, PathUse};
use serde_json::Value;

use super::absolute;
use crate::protect::{Change, Protected};

/// The longest text, in bytes, that may be a path.
const LONGEST: usize = 4096;

/// A folder that paths start from, and what is protected there.
pub(super) struct Place<'a> {
    pub(super) base: &'a Path,
    pub(super) protected: Protected<'a>,
}

impl Place<'_> {
    /// By the paths of a file tool.
    pub(super) fn by_paths(&self, paths: &[PathUse]) -> Vec<Guarded> {
        paths.iter().filter_map(|path| self.touched(&path.written, path.access)).collect()
    }

    /// By the arguments of a tool of which nobody said what it does: every text may be a path, and some a script.
    pub(super) fn by_arguments(&self, input: &Value) -> Vec<Guarded> {
        let mut found = Vec::new();
        each_text(input, &mut |text| {
            if !text.is_empty() && text.len() < LONGEST && !text.contains('\n') {
                found.extend(self.touched(text.strip_prefix("file://").unwrap_or(text), Access::Write));
            }
        });
        found
    }

    /// A known path.
    fn touched(&self, written: &str, access: Access) -> Option<Guarded> {
        let change = change(access)?;
        let found = self.protected.part(&absolute(self.base, written), change);
        let part = found.or_else(|| {
            // What is removed or made is the name itself, also where it is a link.
            let name = self.base.join(written);
            let folder = absolute(self.base, name.parent()?.to_str()?);
            self.protected.part(&folder.join(name.file_name()?), change)
        })?;
        Some(Guarded { part, path: written.to_string() })
    }
}

fn change(access: Access) -> Option<Change> {
    match access {
        Access::Write => Some(Change::Write),
        Access::Remove => Some(Change::Remove),
        Access::Read | Access::Execute => None,
    }
}

fn each_text<'v>(value: &'v Value, found: &mut dyn FnMut(&'v str)) {
    match value {
        Value::String(text) => found(text),
        Value::Array(items) => items.iter().for_each(|item| each_text(item, found)),
        Value::Object(fields) => fields.values().for_each(|item| each_text(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
