//! Budgets: a call passes that uses up no more than is left (rules 4.8).

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::budget::{Budget, Per, Tally};
use crate::change::Change;
use crate::decision::Effect;
use crate::denial::{Denial, DenialKind};
use crate::draft::Draft;
use crate::eval::World;
use crate::gate::Context;
use crate::permitting::skips_budgets;
use crate::policy::Scope;
use crate::reason::{DenialReason, Resets};
use crate::run_verdict::RunVerdict;
use crate::spending::Amount;
use crate::state::State;

pub(super) fn judge(world: &mut World<'_>, context: &Context<'_>) -> Option<Denial> {
    if context.policy.budgets.is_empty() || context.is_own || skips_budgets(context.state, context.asked) {
        return None;
    }
    let mut strictest: Option<(&Budget, Tally)> = None;
    for budget in &context.policy.budgets {
        let Some(amount) = budget.amount(context.call, context.caller) else { continue };
        if strictest.as_ref().is_some_and(|(so_far, _)| budget.mode <= so_far.mode) {
            continue;
        }
        let time = context.asked.time;
        let tallies = places(world, context.state, context.verdicts, budget);
        let with = tallies.into_iter().map(|tally| tally.at(budget, time).with(budget, &amount, time));
        if let Some(over) = with.into_iter().find(|tally| tally.spent > budget.limit) {
            strictest = Some((budget, over));
        }
    }
    let (budget, tally) = strictest?;
    let tool = context.call.tool.name.clone();
    let reason = DenialReason::Budget {
        which: budget.name.clone(),
        limit: budget.limit,
        observed: tally.spent,
        resets: resets(budget, &tally),
    };
    let kind = DenialKind::Admission(Box::new(reason));
    Some(Denial { tool, ..Denial::new(kind, Effect::of_violation(budget.mode)) })
}

/// When it is counted anew; `None` where the time is not known.
fn resets(budget: &Budget, tally: &Tally) -> Option<Resets> {
    match (budget.within, budget.per) {
        (Some(within), _) => {
            // A budget that one call alone is too much for begins with that call.
            let end = tally.since?.saturating_add(within);
            u64::try_from(end).ok().map(Resets::At)
        }
        (None, Per::Phase) => Some(Resets::Phase),
        (None, Per::Session) => Some(Resets::Session),
        (None, Per::Project) => Some(Resets::Never),
    }
}

/// Where the call counts, as it stands there.
fn places(world: &mut World<'_>, state: &State, verdicts: &[RunVerdict<'_>], budget: &Budget) -> Vec<Tally> {
    let fresh = |run: Option<String>, visit| Tally { budget: budget.name.clone(), run, visit, ..Tally::default() };
    let known = |tallies: &[Tally], place: Option<(&String, u32)>| {
        let is_here = |tally: &&Tally| tally.run.as_ref().map(|run| (run, tally.visit)) == place;
        tallies.iter().filter(|tally| tally.budget == budget.name).find(is_here).cloned()
    };
    match budget.per {
        Per::Project => [known(&state.project.tallies, None).unwrap_or_else(|| fresh(None, 0))].into(),
        Per::Session => [known(&state.session.tallies, None).unwrap_or_else(|| fresh(None, 0))].into(),
        Per::Phase => {
            let mut places = Vec::new();
            for verdict in verdicts.iter().filter(|verdict| verdict.judges) {
                let Some(run) = state.run(&verdict.run) else { continue };
                // A call that enters a phase counts there, and one that ends the run nowhere.
                let visit = match verdict.moved(world, run) {
                    Some(Change::RunEnded { .. }) => continue,
                    Some(Change::PhaseReturned { .. }) => {
                        run.provisional.as_ref().map_or(run.visit, |before| before.visit)
                    }
                    Some(_) => run.visits.saturating_add(1),
                    None => run.visit,
                };
                let tallies = if run.scope == Scope::Project { &state.project.tallies } else { &state.session.tallies };
                let here = known(tallies, Some((&run.id, visit)));
                places.push(here.unwrap_or_else(|| fresh(Some(run.id.clone()), visit)));
            }
            places
        }
    }
}

/// Counts a call that is not denied.
pub(crate) fn count(world: &mut World<'_>, draft: &mut Draft, context: &Counted<'_>) {
    let Counted { budgets, call, caller, asked, verdicts } = *context;
    for budget in budgets {
        let Some(amount) = budget.amount(call, caller) else { continue };
        spend(world, draft, budget, &Use { amount: &amount, time: asked.time, verdicts });
    }
}

/// A call that is counted.
#[derive(Clone, Copy)]
pub(crate) struct Counted<'a> {
    pub(crate) budgets: &'a [Budget],
    pub(crate) call: &'a crate::tool::Call,
    pub(crate) caller: crate::judge::Caller<'a>,
    pub(crate) asked: crate::permitting::Asked<'a>,
    pub(crate) verdicts: &'a [RunVerdict<'a>],
}

struct Use<'a> {
    amount: &'a Amount,
    time: Option<i64>,
    verdicts: &'a [RunVerdict<'a>],
}

fn spend(world: &mut World<'_>, draft: &mut Draft, budget: &Budget, used: &Use<'_>) {
    for before in places(world, draft.state(), used.verdicts, budget) {
        let scope = match &before.run {
            Some(run) => draft.run(run).map_or(Scope::Session, |run| run.scope),
            None if budget.per == Per::Project => Scope::Project,
            None => Scope::Session,
        };
        let after = before.clone().at(budget, used.time).with(budget, used.amount, used.time);
        if after != before {
            draft.change(Change::BudgetSpent { scope, tally: after });
        }
    }
}
