//! The rules of Cedar that a rule becomes.

use std::collections::BTreeMap;

use super::fold::{Fold, Folded, Stop, Unsaid};
use super::syntax::{Rule, What};
use crate::command::policies::rules::import::cedar::quoted;

/// A rule of Cedar.
pub(super) struct Statement {
    pub(super) id: String,
    pub(super) text: String,
}

/// Writes the statements of one rule.
struct Writer<'r> {
    rule: &'r Rule,
    action: &'r str,
    /// That no guard before holds.
    before: Vec<String>,
    forbids: usize,
    permits: usize,
    done: Vec<Statement>,
}

/// What a rule becomes: a `forbid` for each guard that rejects, a `permit` for each that admits, each where none before
/// holds.
pub(super) fn statements(
    rule: &Rule,
    variables: &BTreeMap<String, Folded>,
    action: &str,
) -> Result<Vec<Statement>, Unsaid> {
    let mut writer = Writer { rule, action, before: Vec::new(), forbids: 0, permits: 0, done: Vec::new() };
    let mut fold = Fold::new(variables);
    let broken = broken_effect(rule, &mut fold);
    for guard in &rule.guards {
        let holds = match guard.when.as_ref().map_or(Ok(Folded::Truth(true)), |when| fold.value(when, 0)) {
            Ok(Folded::Number(_)) => Err("type".to_owned()),
            Err(Stop::Fails(reason)) => Err(reason),
            Err(Stop::Unsaid(unsaid)) => return Err(unsaid),
            Ok(holds) => Ok(holds),
        };
        let (holds, rejects) = match holds {
            Ok(Folded::Truth(false)) => continue,
            // An effect that fails rejects what the guard would admit.
            Ok(holds) => (holds, guard.rejects.as_ref().or(broken.as_ref()).cloned()),
            Err(reason) => (Folded::Truth(true), Some(reason)),
        };
        let inputs: Vec<String> = fold.inputs.iter().map(|name| format!("context.input has {name}")).collect();
        writer.write(&holds, rejects.as_deref(), &inputs);
        match holds {
            Folded::Later(text) => writer.before.push(format!("!{text}")),
            _ => break,
        }
    }
    Ok(writer.done)
}

/// Why the effects surely fail. Else they are left out: the stage never applied them.
fn broken_effect(rule: &Rule, fold: &mut Fold<'_>) -> Option<String> {
    let arguments = rule.effects.iter().flat_map(|effect| &effect.arguments);
    let computed = arguments.filter(|argument| !matches!(argument.what, What::Text(_)));
    let broken = computed.filter_map(|argument| match fold.value(argument, 0) {
        Err(Stop::Fails(reason)) => Some(reason),
        Ok(_) | Err(Stop::Unsaid(_)) => None,
    });
    let broken = broken.into_iter().next();
    fold.inputs.clear();
    broken
}

impl Writer<'_> {
    fn write(&mut self, holds: &Folded, rejects: Option<&str>, inputs: &[String]) {
        let name = &self.rule.name;
        let (word, count, end) = match rejects {
            Some(_) => ("forbid", &mut self.forbids, ""),
            None => ("permit", &mut self.permits, "/admit"),
        };
        *count += 1;
        let id = if *count == 1 { format!("{name}{end}") } else { format!("{name}{end}/{count}") };
        let mut text = format!("@id({})\n", quoted(&id));
        if rejects.is_some() && id != *name {
            text.push_str(&format!("@kind({})\n", quoted(&format!("rule {name}"))));
        }
        if let Some(reason) = rejects {
            text.push_str(&format!("@reason({})\n", quoted(reason)));
        }
        text.push_str(&format!("{word}(principal, {}, resource)", self.action));
        let own = if let Folded::Later(text) = holds { Some(text.clone()) } else { None };
        let all: Vec<String> = self.before.iter().cloned().chain(own).collect();
        if !all.is_empty() {
            let condition = all.join(" && ");
            // A call without the argument is rejected, and never admitted.
            let condition = match inputs {
                [] => condition,
                _ => format!("if {} then {condition} else {}", inputs.join(" && "), rejects.is_some()),
            };
            text.push_str(&format!("\nwhen {{ {condition} }}"));
        }
        text.push_str(";\n");
        self.done.push(Statement { id, text });
    }
}
