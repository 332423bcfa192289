//! The names of a text: modules, and what the text itself gives a value.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::doubt::Doubt;
use super::modules::{self, is_module};
use super::names;
use super::tree::{Block, Expr, Imported, Kind, Parameters, Statement};

/// The most dots in the name of a thing in a module.
const MAX_DOTS: usize = 4;

/// What is known of the value of a name.
#[derive(Clone, Copy)]
pub(super) enum Value<'t> {
    /// It is given this value and no other.
    Of(&'t Expr),
    /// It is each element of this value.
    Each(&'t Expr),
    Any,
}

/// All names of a text, of all its functions together.
#[derive(Default)]
pub(super) struct Scope<'t> {
    values: BTreeMap<&'t str, Value<'t>>,
    /// The dotted name of the module, or of the thing in one, that a name stands for.
    imports: BTreeMap<&'t str, String>,
    /// Whether Python 2 may run the text.
    old: bool,
    paths: bool,
    /// How much has been done to follow values.
    pub(super) steps: Cell<usize>,
}

/// What an expression stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Module(String),
    /// A thing in a module, or a builtin.
    Thing(String),
}

impl<'t> Scope<'t> {
    pub(super) fn of(block: &'t Block, old: bool) -> Result<Self, Doubt> {
        let mut scope = Self { old, ..Self::default() };
        scope.block(block)?;
        match scope.imports.keys().find(|name| scope.values.contains_key(*name)) {
            Some(name) => Err(Doubt::new(format!("the Python text gives `{name}` several values"))),
            None => {
                scope.paths = scope.imports.values().any(|imported| imported.split('.').next() == Some("pathlib"));
                Ok(scope)
            }
        }
    }

    /// What is known of the value of a name that the text gives one.
    pub(super) fn value(&self, name: &str) -> Option<Value<'t>> {
        self.values.get(name).copied()
    }

    /// Whether paths have methods in the text, of which some change files.
    pub(super) fn has_paths(&self) -> bool {
        self.paths
    }

    /// What a name, or a name in a module, stands for.
    pub(super) fn named(&self, expr: &Expr) -> Option<Named> {
        self.named_within(expr, MAX_DOTS)
    }

    fn named_within(&self, expr: &Expr, dots: usize) -> Option<Named> {
        match &expr.kind {
            Kind::Name(name) => match self.imports.get(name.as_str()) {
                Some(dotted) if is_module(dotted) => Some(Named::Module(dotted.clone())),
                Some(dotted) => Some(Named::Thing(dotted.clone())),
                None if self.values.contains_key(name.as_str()) => None,
                None => Some(Named::Thing(name.clone())),
            },
            Kind::Attribute(base, name) => {
                let Named::Module(module) = self.named_within(base, dots.checked_sub(1)?)? else { return None };
                let dotted = format!("{module}.{name}");
                Some(if is_module(&dotted) { Named::Module(dotted) } else { Named::Thing(dotted) })
            }
            _ => None,
        }
    }

    fn give(&mut self, name: &'t str, value: Value<'t>) -> Result<(), Doubt> {
        if names::is_reserved(name) || (self.old && names::is_old(name)) {
            return Err(Doubt::new(format!("the Python text gives `{name}` another meaning")));
        }
        self.values.entry(name).and_modify(|known| *known = Value::Any).or_insert(value);
        Ok(())
    }

    fn target(&mut self, target: &'t Expr, value: Value<'t>) -> Result<(), Doubt> {
        match &target.kind {
            Kind::Name(name) => self.give(name, value),
            Kind::Display("tuple" | "list", all) => all.iter().try_for_each(|one| self.target(one, Value::Any)),
            Kind::Star(inner) => self.target(inner, Value::Any),
            // What is changed is judged as a value.
            Kind::Index(..) => Ok(()),
            Kind::Attribute(_, name) => Err(Doubt::new(format!("the Python text sets the attribute `{name}`"))),
            _ => Err(Doubt::new("the Python text has a form that is not read")),
        }
    }

    fn block(&mut self, block: &'t Block) -> Result<(), Doubt> {
        block.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &'t Statement) -> Result<(), Doubt> {
        match statement {
            Statement::Evaluate(values) => values.iter().try_for_each(|value| self.expr(value))?,
            Statement::Delete(targets) => targets.iter().try_for_each(|target| self.target(target, Value::Any))?,
            Statement::Assign { targets, value } => {
                self.expr(value)?;
                targets.iter().try_for_each(|target| self.target(target, Value::Of(value)))?;
            }
            Statement::Annotated { target, annotation, value } => {
                self.expr(annotation)?;
                self.target(target, value.as_ref().map_or(Value::Any, Value::Of))?;
                value.iter().try_for_each(|value| self.expr(value))?;
            }
            Statement::Augmented { target, value } => {
                self.expr(value)?;
                // It has at least one other value, so that none is known.
                self.target(target, Value::Any)?;
            }
            Statement::Nothing => {}
            Statement::Import(modules) => modules.iter().try_for_each(|module| self.import(module))?,
            Statement::From { module, names } => {
                for name in names {
                    self.import_thing(module, name)?;
                }
            }
            Statement::Branches { branches, otherwise } => {
                for branch in branches {
                    self.expr(&branch.test)?;
                    self.block(&branch.body)?;
                }
                self.block(otherwise)?;
            }
            Statement::For { target, iterated, body, otherwise } => {
                self.expr(iterated)?;
                self.target(target, Value::Each(iterated))?;
                self.block(body)?;
                self.block(otherwise)?;
            }
            Statement::Try { body, handlers, after } => {
                self.block(body)?;
                for handler in handlers {
                    handler.caught.iter().try_for_each(|caught| self.expr(caught))?;
                    handler.name.iter().try_for_each(|name| self.give(name, Value::Any))?;
                    self.block(&handler.body)?;
                }
                after.iter().try_for_each(|block| self.block(block))?;
            }
            Statement::With { items, body } => {
                for item in items {
                    self.expr(&item.value)?;
                    item.target.iter().try_for_each(|target| self.target(target, Value::Any))?;
                }
                self.block(body)?;
            }
            Statement::Function { name, parameters, body } => {
                self.give(name, Value::Any)?;
                self.parameters(parameters)?;
                self.block(body)?;
            }
        }
        Ok(())
    }

    fn parameters(&mut self, parameters: &'t Parameters) -> Result<(), Doubt> {
        parameters.names.iter().try_for_each(|name| self.give(name, Value::Any))?;
        parameters.values.iter().try_for_each(|value| self.expr(value))
    }

    /// The names that are given a value within an expression.
    fn expr(&mut self, expr: &'t Expr) -> Result<(), Doubt> {
        match &expr.kind {
            Kind::Bind(name, value) => self.give(name, Value::Of(value))?,
            Kind::Lambda(parameters, _) => {
                parameters.names.iter().try_for_each(|name| self.give(name, Value::Any))?;
            }
            Kind::Comprehension(_, clauses) => {
                for clause in clauses {
                    self.target(&clause.target, Value::Each(&clause.iterated))?;
                }
            }
            _ => {}
        }
        expr.children().into_iter().try_for_each(|child| self.expr(child))
    }

    fn import(&mut self, imported: &'t Imported) -> Result<(), Doubt> {
        if !is_module(&imported.name) {
            return Err(foreign(&imported.name));
        }
        match &imported.alias {
            Some(alias) => self.import_as(alias, imported.name.clone()),
            None => {
                let first = imported.name.split('.').next().unwrap_or(&imported.name);
                self.import_as(first, first.to_owned())
            }
        }
    }

    fn import_thing(&mut self, module: &str, imported: &'t Imported) -> Result<(), Doubt> {
        let dotted = format!("{module}.{}", imported.name);
        if !is_module(module) && module != "__future__" {
            return Err(foreign(module));
        }
        if !is_module(&dotted) && modules::usage(&dotted).is_none() && module != "__future__" {
            return Err(Doubt::new(format!("`{dotted}` is not known to only read")));
        }
        self.import_as(imported.alias.as_ref().unwrap_or(&imported.name), dotted)
    }

    fn import_as(&mut self, name: &'t str, dotted: String) -> Result<(), Doubt> {
        if names::is_reserved(name) && dotted.rsplit('.').next() != Some(name) {
            return Err(Doubt::new(format!("the Python text gives `{name}` another meaning")));
        }
        match self.imports.insert(name, dotted.clone()) {
            Some(before) if before != dotted => {
                Err(Doubt::new(format!("the Python text gives `{name}` several values")))
            }
            _ => Ok(()),
        }
    }
}

fn foreign(module: &str) -> Doubt {
    Doubt::new(format!("importing `{module}` runs its code, which is not known to only read"))
}
