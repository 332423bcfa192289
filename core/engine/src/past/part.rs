//! A part of a call, as an event and as what a condition reads of the call.

use alloc::string::String;
use alloc::vec::Vec;

use phasegate_history::leaf::{Param, Root};
use phasegate_history::{Field, Fields, Request as Decided, Value as Kept};
use phasegate_rules::{ANY_TOOL, OTHER_TOOL, Request, Truth, Value, Var, is_builtin};

use crate::part_snapshot::PartSnapshot;
use crate::tool::{Call, EXECUTE, READ, SHELL, WRITE};

/// The field that says whether a part changes files of the project.
pub(super) const CHANGES: &str = "changes";
/// The field that says whether a part is, or may be, a migration of a database.
const MIGRATES: &str = "migrates";
/// A part of a call, as an event.
pub(super) struct OfPart<'r, 'a> {
    pub(super) request: &'r Request<'a>,
    pub(super) part: usize,
    pub(super) recorded: Option<&'r PartSnapshot>,
}

impl Fields for OfPart<'_, '_> {
    fn field(&self, path: &[String]) -> Field {
        let of_call = path
            .first()
            .is_some_and(|first| matches!(first.as_str(), "input" | "command" | "path" | CHANGES | MIGRATES));
        if let Some(recorded) = self.recorded.filter(|_| of_call) {
            return recorded.field(path);
        }
        match path.first().map(String::as_str) {
            Some("first") => Field::Is(Kept::Bool(self.part == 0)),
            Some("session") => Field::Is(Kept::text(self.request.principal.session)),
            Some("agent") => Field::Is(Kept::text(self.request.principal.id)),
            Some(CHANGES) => Field::Is(Kept::Bool(self.changes())),
            Some(MIGRATES) => Field::Is(Kept::Bool(self.migrates())),
            Some("input" | "command" | "path") => found(self.request.at(Var::Context, path, self.part)),
            _ => Field::Absent,
        }
    }

    fn is(&self, path: &[String], value: &Kept) -> Option<bool> {
        let wanted = if let Kept::Text(text) = value { Some(&**text) } else { None };
        if self.recorded.is_none()
            && let (Some(wanted), Some(own)) = (wanted, self.request.at(Var::Context, path, self.part))
            && own.equals(&Value::Text(wanted)) == Truth::No
        {
            return Some(false);
        }
        match self.field(path) {
            Field::Unclear => None,
            Field::Is(found) => Some(found == *value),
            Field::Absent => Some(false),
        }
    }
}

impl OfPart<'_, '_> {
    /// Whether the part changes files of the project, or may: it does not say which, or nobody knows what it does.
    fn changes(&self) -> bool {
        let labels = &self.request.action.labels;
        if labels.contains(&READ) && ![WRITE, EXECUTE, SHELL].iter().any(|label| labels.contains(label)) {
            return false;
        }
        let at = |path: &[&str]| self.at(path);
        let is_repository = |name: &str| name == ".git" || name.starts_with(".git/");
        let elsewhere = at(&["path", "inside"]) == Some(Value::Bool(false))
            || matches!(at(&["path", "name"]), Some(Value::Text(name)) if is_repository(name));
        let writes = at(&["path", "writes"]).is_some_and(|writes| writes != Value::Bool(false));
        // What is sent to another machine, without a file that is named, changes that one.
        let sends = at(&["command", "verdict"]) == Some(Value::Text("send"))
            && at(&["path", "named"]) == Some(Value::Bool(false));
        let unheard = match at(&["command", "verdict"]) {
            Some(Value::Text(verdict)) => verdict == "unknown",
            verdict => verdict.is_some(),
        };
        (writes && !elsewhere && !sends) || unheard
    }

    /// Whether the part is a migration of a database, or may be one. The same of a part when it begins and when it ends.
    fn migrates(&self) -> bool {
        match self.at(&["command", "does"]) {
            Some(Value::Set(does)) => does.iter().any(|word| word.equals(&Value::Text("migrate")) != Truth::No),
            does => does.is_some(),
        }
    }

    fn at(&self, path: &[&str]) -> Option<Value<'_>> {
        let path: Vec<String> = path.iter().map(|name| String::from(*name)).collect();
        self.request.at(Var::Context, &path, self.part)
    }

    pub(super) fn value(&self, param: &Param) -> Field {
        let var = match param.root {
            Root::Context => Var::Context,
            Root::Principal => Var::Principal,
            Root::Resource => Var::Resource,
        };
        match self.recorded.filter(|_| var == Var::Context) {
            Some(recorded) if recorded.has(&param.path) => recorded.field(&param.path),
            _ => found(self.request.at(var, &param.path, self.part)),
        }
    }
}

impl Decided for OfPart<'_, '_> {
    fn param(&self, param: &Param) -> Option<Kept> {
        if let Field::Is(value) = self.value(param) { Some(value) } else { None }
    }
}

/// A value of a request, as a history keeps it.
fn found(value: Option<Value<'_>>) -> Field {
    value.map_or(Field::Absent, |value| kept(&value).map_or(Field::Unclear, Field::Is))
}

/// The same; `None`: some of it cannot be told.
fn kept(value: &Value<'_>) -> Option<Kept> {
    Some(match value {
        Value::Bool(flag) => Kept::Bool(*flag),
        Value::Long(number) => Kept::Int(*number),
        Value::Text(text) => Kept::text(text),
        Value::Entity(entity) => Kept::entity(entity.kind, entity.id),
        Value::Set(items) => {
            let mut items = items.iter().map(kept).collect::<Option<Vec<_>>>()?;
            items.sort();
            items.dedup();
            Kept::List(items)
        }
        Value::Record(fields) => {
            let each = fields.iter().map(|(name, value)| Some((String::from(*name), kept(value)?)));
            Kept::Record(each.collect::<Option<_>>()?)
        }
        Value::Maybe(_) | Value::Among(_) | Value::Shape(_) | Value::Unknown => return None,
    })
}

/// What a record that leaves arguments out says of the parts of the call.
pub(super) fn recorded(call: &Call) -> &[PartSnapshot] {
    let seen = call.analysis.redacted.as_ref().and_then(|before| before.rules.as_ref());
    seen.map_or(&[], |seen| seen.past.as_slice())
}

/// What patterns name the action by beside its own id.
pub(super) fn also(action: &str) -> &'static [&'static str] {
    if is_builtin(action) { &[ANY_TOOL] } else { &[ANY_TOOL, OTHER_TOOL] }
}
