//! What a text does: it only reads, or it is in doubt.
//!
//! No value of a text that is not in doubt changes anything, whatever it is called with: what could has a name that is not
//! listed, or may stand in a call only whose arguments are judged here.

use super::doubt::{Doubt, Reads};
use super::modules::Use;
use super::names;
use super::scope::{Named, Scope};
use super::tree::{Argument, Block, Expr, Kind, Role, Statement};

pub(super) struct Judge<'s, 't> {
    pub(super) scope: &'s Scope<'t>,
    pub(super) reads: Reads,
}

/// Builtins whose result has nothing of what they are given.
const SHOWING: [&str; 4] = ["str", "repr", "len", "isinstance"];
/// Builtins whose result has the elements of what they are given.
const LISTING: [&str; 5] = ["list", "sorted", "set", "tuple", "enumerate"];

impl Judge<'_, '_> {
    pub(super) fn block(&mut self, block: &Block) -> Result<(), Doubt> {
        block.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Doubt> {
        match statement {
            Statement::Evaluate(all) => all.iter().try_for_each(|one| self.value(one)),
            Statement::Delete(all) => all.iter().try_for_each(|one| self.target(one)),
            Statement::Assign { targets, value } => {
                self.value(value)?;
                targets.iter().try_for_each(|target| self.target(target))
            }
            Statement::Annotated { target, annotation, value } => {
                self.target(target)?;
                self.annotation(annotation)?;
                value.iter().try_for_each(|value| self.value(value))
            }
            Statement::Augmented { target, value } => {
                self.target(target)?;
                self.value(value)
            }
            Statement::Nothing | Statement::Import(_) | Statement::From { .. } => Ok(()),
            Statement::Branches { branches, otherwise } => {
                for branch in branches {
                    self.value(&branch.test)?;
                    self.block(&branch.body)?;
                }
                self.block(otherwise)
            }
            Statement::For { target, iterated, body, otherwise } => {
                self.target(target)?;
                self.shown_path(iterated)?;
                self.block(body)?;
                self.block(otherwise)
            }
            Statement::Try { body, handlers, after } => {
                self.block(body)?;
                for handler in handlers {
                    handler.caught.iter().try_for_each(|caught| self.value(caught))?;
                    self.block(&handler.body)?;
                }
                after.iter().try_for_each(|block| self.block(block))
            }
            Statement::With { items, body } => {
                for item in items {
                    self.value(&item.value)?;
                    item.target.iter().try_for_each(|target| self.target(target))?;
                }
                self.block(body)
            }
            Statement::Function { parameters, body, .. } => {
                parameters.values.iter().try_for_each(|value| self.value(value))?;
                self.block(body)
            }
        }
    }

    /// What gets a value: a name, or an element of something.
    fn target(&mut self, target: &Expr) -> Result<(), Doubt> {
        match &target.kind {
            Kind::Name(_) => Ok(()),
            Kind::Display(_, all) => all.iter().try_for_each(|one| self.target(one)),
            Kind::Star(inner) => self.target(inner),
            Kind::Index(base, index) => {
                self.value(base)?;
                self.value(index)
            }
            _ => self.value(target),
        }
    }

    /// An annotation, which nothing of the text can get at.
    fn annotation(&mut self, annotation: &Expr) -> Result<(), Doubt> {
        match self.scope.named(annotation) {
            Some(Named::Thing(name)) if matches!(names::builtin(&name), Some(Use::Class)) => Ok(()),
            _ => self.value(annotation),
        }
    }

    /// A value that may go anywhere.
    pub(super) fn value(&mut self, expr: &Expr) -> Result<(), Doubt> {
        match self.scope.named(expr) {
            Some(Named::Module(name)) => return Err(Doubt::new(format!("`{name}` is used as a value"))),
            Some(Named::Thing(name)) => return self.thing(&name),
            None => {}
        }
        match &expr.kind {
            Kind::Call(function, arguments) => self.call(function, arguments),
            Kind::Attribute(base, name) => self.attribute(base, name),
            Kind::Index(base, index) => {
                self.shown_path(base)?;
                self.value(index)
            }
            Kind::Operation(operators, operands) if operators.iter().all(|operator| is_comparison(operator)) => {
                operands.iter().try_for_each(|operand| self.shown(operand))
            }
            Kind::Formatted(parts) => parts.iter().try_for_each(|part| self.shown(part)),
            Kind::Comprehension(elements, clauses) => {
                elements.iter().try_for_each(|element| self.value(element))?;
                for clause in clauses {
                    self.target(&clause.target)?;
                    self.shown_path(&clause.iterated)?;
                    clause.tests.iter().try_for_each(|test| self.value(test))?;
                }
                Ok(())
            }
            _ => expr.children().into_iter().try_for_each(|child| self.value(child)),
        }
    }

    /// A thing of a module or a builtin, as a value.
    fn thing(&mut self, name: &str) -> Result<(), Doubt> {
        match names::builtin(name) {
            Some(Use::Free) => Ok(()),
            Some(Use::Reads) => {
                self.reads.anything = true;
                Ok(())
            }
            Some(_) => Err(Doubt::new(format!("`{name}` is used in another way than to only read"))),
            None if name == "__name__" => Ok(()),
            None => Err(unknown(name)),
        }
    }

    /// A value that is only shown, compared or gone through, so that nothing else gets it.
    fn shown(&mut self, expr: &Expr) -> Result<(), Doubt> {
        if let Kind::Call(function, arguments) = &expr.kind
            && self.is_thing(function, Use::Type)
            && let [Argument { role: Role::Positional, value }] = arguments.as_slice()
        {
            return self.value(value);
        }
        if self.is_thing(expr, Use::Class) {
            return Ok(());
        }
        if let Kind::Display("tuple", all) = &expr.kind {
            return all.iter().try_for_each(|one| self.shown(one));
        }
        self.shown_path(expr)
    }

    /// A value, or the folders that `import` searches.
    fn shown_path(&mut self, expr: &Expr) -> Result<(), Doubt> {
        if self.is_thing(expr, Use::SearchPath) { Ok(()) } else { self.value(expr) }
    }

    fn is_thing(&self, expr: &Expr, wanted: Use) -> bool {
        matches!(self.scope.named(expr), Some(Named::Thing(name)) if names::builtin(&name) == Some(wanted))
    }

    fn call(&mut self, function: &Expr, arguments: &[Argument]) -> Result<(), Doubt> {
        match self.scope.named(function) {
            Some(Named::Thing(name)) => match names::builtin(&name) {
                Some(Use::Free) if SHOWING.contains(&name.as_str()) => self.all_shown(arguments),
                Some(Use::Free) if LISTING.contains(&name.as_str()) => self.all_listed(arguments),
                Some(Use::Free | Use::Class) => self.arguments(arguments),
                Some(Use::Reads) => {
                    self.reads_first(arguments);
                    self.arguments(arguments)
                }
                Some(guarded) => self.guarded(&name, guarded, arguments),
                None => Err(unknown(&name)),
            },
            Some(Named::Module(name)) => Err(Doubt::new(format!("`{name}` is used as a value"))),
            None => match &function.kind {
                Kind::Attribute(base, name) => self.method(base, name, arguments),
                _ => {
                    self.value(function)?;
                    self.arguments(arguments)
                }
            },
        }
    }

    pub(super) fn arguments(&mut self, arguments: &[Argument]) -> Result<(), Doubt> {
        arguments.iter().try_for_each(|argument| self.value(&argument.value))
    }

    pub(super) fn all_shown(&mut self, arguments: &[Argument]) -> Result<(), Doubt> {
        arguments.iter().try_for_each(|argument| match argument.role {
            Role::Positional => self.shown(&argument.value),
            _ => self.value(&argument.value),
        })
    }

    pub(super) fn all_listed(&mut self, arguments: &[Argument]) -> Result<(), Doubt> {
        arguments.iter().try_for_each(|argument| match argument.role {
            Role::Positional => self.shown_path(&argument.value),
            _ => self.value(&argument.value),
        })
    }

    /// An attribute that is not called.
    fn attribute(&mut self, base: &Expr, name: &str) -> Result<(), Doubt> {
        if !names::is_harmless(name) || name == "copy" {
            return Err(Doubt::new(format!("the attribute `{name}` is not known to only read")));
        }
        self.reads.anything |= names::is_reading(name);
        self.base(base, name)
    }

    /// What an attribute is taken of.
    pub(super) fn base(&mut self, base: &Expr, name: &str) -> Result<(), Doubt> {
        match &base.kind {
            _ if self.is_thing(base, Use::Class) => Ok(()),
            Kind::Call(..) if name == "__name__" => self.shown(base),
            _ => self.value(base),
        }
    }

    /// Takes note of the path that is a call's first argument, or the working folder.
    pub(super) fn reads_first(&mut self, arguments: &[Argument]) {
        match arguments.first() {
            None => self.reads.add(Some(vec![".".to_owned()])),
            Some(Argument { role: Role::Positional, value }) => self.reads.add(self.scope.paths(value)),
            Some(_) => self.reads.anything = true,
        }
    }
}

fn is_comparison(operator: &str) -> bool {
    matches!(operator, "==" | "!=" | "<" | ">" | "<=" | ">=" | "in" | "not in" | "is" | "is not")
}

fn unknown(name: &str) -> Doubt {
    Doubt::new(format!("`{name}` is not known to only read"))
}
