//! The paths that values name, as far as they are known.

use super::scope::{Named, Scope, Value};
use super::tree::{Argument, Expr, Kind, Role};

/// How many values lead to one another at most.
const MAX_STEPS: usize = 12;
/// How much is done for all values of a text together.
const MAX_WORK: usize = 2_000;
/// The longest path that is followed.
const MAX_PATH: usize = 4096;
/// The most paths that one value may name.
const MAX_PATHS: usize = 32;

impl Scope<'_> {
    /// The paths that a value may name; `None` for any.
    pub(super) fn paths(&self, expr: &Expr) -> Option<Vec<String>> {
        self.paths_within(expr, MAX_STEPS)
    }

    fn paths_within(&self, expr: &Expr, steps: usize) -> Option<Vec<String>> {
        let steps = steps.checked_sub(1)?;
        self.steps.set(self.steps.get().saturating_add(1));
        if self.steps.get() > MAX_WORK {
            return None;
        }
        match &expr.kind {
            Kind::Text(text) => Some(vec![text.clone().filter(|text| text.len() < MAX_PATH)?]),
            // A descriptor.
            Kind::Constant => Some(Vec::new()),
            Kind::Name(name) => match self.value(name)? {
                Value::Of(value) => self.paths_within(value, steps),
                Value::Each(value) => self.each(value, steps),
                Value::Any => None,
            },
            Kind::Operation(operators, operands) if operators.iter().all(|operator| *operator == "/") => {
                self.joined(&operands.iter().collect::<Vec<_>>(), steps)
            }
            Kind::Call(function, arguments) => {
                let Named::Thing(name) = self.named(function)? else { return None };
                let plain = |argument: &Argument| argument.role == Role::Positional;
                let of_paths = matches!(name.as_str(), "pathlib.Path" | "pathlib.PurePath" | "os.path.join");
                if !of_paths || !arguments.iter().all(plain) {
                    return None;
                }
                self.joined(&arguments.iter().map(|argument| &argument.value).collect::<Vec<_>>(), steps)
            }
            _ => None,
        }
    }

    fn each(&self, expr: &Expr, steps: usize) -> Option<Vec<String>> {
        match &expr.kind {
            Kind::Display("list" | "tuple", all) => {
                let mut found = Vec::new();
                for one in all {
                    found.extend(self.paths_within(one, steps)?);
                }
                (found.len() <= MAX_PATHS).then_some(found)
            }
            // What has a name can change, unless it is a tuple.
            Kind::Name(name) => match self.value(name)? {
                Value::Of(value @ Expr { kind: Kind::Display("tuple", _), .. }) => {
                    self.each(value, steps.checked_sub(1)?)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Parts of a path, each of which is known.
    fn joined(&self, parts: &[&Expr], steps: usize) -> Option<Vec<String>> {
        let mut whole = String::new();
        for part in parts {
            let mut known = self.paths_within(part, steps)?;
            let (Some(part), true) = (known.pop(), known.is_empty()) else { return None };
            if part.starts_with('/') || whole.is_empty() {
                whole = part;
            } else {
                whole = format!("{whole}/{part}");
            }
        }
        if whole.len() > MAX_PATH {
            return None;
        }
        Some(vec![if whole.is_empty() { ".".to_owned() } else { whole }])
    }
}
