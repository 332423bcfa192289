//! Marks the conditions that read arguments: their truth is kept where a record leaves the arguments out.

use std::boxed::Box;

use crate::expr::{Branches, Expr, Var};

/// The fields of `context` that are about what a call was given.
const OF_CALL: [&str; 3] = ["input", "command", "path"];
/// The fields of `context` that the state says.
const OF_STATE: [&str; 4] = ["skills", "phases", "access", "facts"];
/// The attributes of the principal that the state says.
const OF_AGENT: [&str; 2] = ["kind", "main"];

/// The condition with its tests of arguments numbered: the largest that read nothing of the state.
pub(super) fn mark(condition: Expr) -> Expr {
    let mut number = 0;
    marked(condition, &mut number)
}

fn marked(expr: Expr, number: &mut u16) -> Expr {
    let (of_call, of_state) = reads(&expr);
    if !of_call {
        return expr;
    }
    if !of_state {
        let test = Expr::Test(*number, Box::new(expr));
        *number = number.saturating_add(1);
        return test;
    }
    match expr {
        Expr::And(all) => Expr::And(all.into_iter().map(|one| marked(one, number)).collect()),
        Expr::Or(all) => Expr::Or(all.into_iter().map(|one| marked(one, number)).collect()),
        Expr::Not(of) => Expr::Not(Box::new(marked(*of, number))),
        Expr::If(branches) => {
            let Branches { test, then, otherwise } = *branches;
            let [test, then, otherwise] = [test, then, otherwise].map(|one| marked(one, number));
            Expr::If(Box::new(Branches { test, then, otherwise }))
        }
        other => other,
    }
}

/// Whether it reads what the call was given, and whether it reads the state.
fn reads(expr: &Expr) -> (bool, bool) {
    let (mut of_call, mut of_state, mut context, mut named) = (false, false, 0_usize, 0_usize);
    expr.each(&mut |one| match one {
        Expr::Var(Var::Context) => context += 1,
        Expr::Attr(of, name) | Expr::Has(of, name) => match **of {
            Expr::Var(Var::Context) => {
                named += 1;
                of_call |= OF_CALL.contains(&name.as_str());
                of_state |= OF_STATE.contains(&name.as_str());
            }
            Expr::Var(Var::Principal) => of_state |= OF_AGENT.contains(&name.as_str()),
            _ => {}
        },
        _ => {}
    });
    // The whole of it is both.
    let whole = context > named;
    (of_call || whole, of_state || whole)
}
