//! Budgets: a call passes that uses up no more than is left (rules 4.8).

use crate::answers::decision::Effect;
use crate::answers::denial::{Denial, DenialKind};
use crate::answers::reason::{DenialReason, Resets};
use crate::calls::tool::Call;
use crate::decide::judge::Caller;
use crate::decide::run_verdict::RunVerdict;
use crate::evidence::eval::World;
use crate::gates::gate::Context;
use crate::gates::permitting::{Asked, skips_budgets};
use crate::gates::spending::After;
use crate::policy::Scope;
use crate::policy::budget::{Budget, Count, Per, Tally};
use crate::prelude::*;
use crate::state::State;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::open_call::ReportPlace;

pub(super) fn judge(world: &mut World<'_>, context: &Context<'_>) -> Option<Denial> {
    if context.policy.budgets.is_empty() || context.is_own || skips_budgets(context.state, context.asked) {
        return None;
    }
    let time = context.asked.time;
    let mut strictest: Option<&Budget> = None;
    let mut reason = None;
    for budget in &context.policy.budgets {
        if strictest.is_some_and(|so_far| budget.mode <= so_far.mode) {
            continue;
        }
        let Some(amount) = budget.amount(context.call, context.caller) else { continue };
        for place in places(world, context.state, context.verdicts, budget) {
            let after = After::of(budget, place.known, &amount, time);
            if after.added > 0 && budget.in_units(after.spent) > budget.limit {
                (strictest, reason) = (Some(budget), Some(denied(budget, &after)));
            }
        }
    }
    let tool = context.call.tool.name.clone();
    let kind = DenialKind::Admission(Box::new(reason?));
    Some(Denial { tool, ..Denial::new(kind, Effect::of_violation(strictest?.mode)) })
}

fn denied(budget: &Budget, after: &After<'_>) -> DenialReason {
    let (which, limit, observed) = (budget.name.clone(), budget.limit, budget.in_units(after.spent));
    let resets = match (budget.within, budget.per) {
        (Some(within), _) => {
            let end = after.since.map(|since| since.saturating_add(within));
            end.and_then(|end| u64::try_from(end).ok()).map(Resets::At)
        }
        (None, Per::Phase) => Some(Resets::Phase),
        (None, Per::Session) => Some(Resets::Session),
        (None, Per::Project) => Some(Resets::Never),
    };
    DenialReason::Budget { which, limit, observed, resets }
}

/// Where a call counts.
struct Place<'a> {
    /// The run, for a budget of phases.
    run: Option<&'a String>,
    visit: u32,
    scope: Scope,
    /// What is counted there already.
    known: Option<&'a Tally>,
}

fn places<'a>(world: &mut World<'_>, state: &'a State, verdicts: &[RunVerdict<'_>], budget: &Budget) -> Vec<Place<'a>> {
    let place = |scope, run: Option<&'a String>, visit| {
        let tallies = if scope == Scope::Project { &state.project.tallies } else { &state.session.tallies };
        let is_here = |tally: &&Tally| {
            tally.budget == budget.name && tally.run.as_ref() == run && (run.is_none() || tally.visit == visit)
        };
        Place { run, visit, scope, known: tallies.iter().find(is_here) }
    };
    match budget.per {
        Per::Project => [place(Scope::Project, None, 0)].into(),
        Per::Session => [place(Scope::Session, None, 0)].into(),
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
                places.push(place(run.scope, Some(&run.id), visit));
            }
            places
        }
    }
}

/// A call that is counted.
#[derive(Clone, Copy)]
pub(crate) struct Counted<'a> {
    pub(crate) budgets: &'a [Budget],
    pub(crate) call: &'a Call,
    pub(crate) caller: Caller<'a>,
    pub(crate) asked: Asked<'a>,
    pub(crate) verdicts: &'a [RunVerdict<'a>],
    /// Whether a person is asked first, so that it counts when it has run.
    pub(crate) waits: bool,
}

/// Counts a call that is not denied, before the runs move by it. Returns where its end is counted.
pub(crate) fn count(world: &mut World<'_>, draft: &mut Draft, counted: &Counted<'_>) -> Vec<ReportPlace> {
    let mut reports = Vec::new();
    for budget in counted.budgets {
        let Some(amount) = budget.amount(counted.call, counted.caller) else { continue };
        let mut spent = Vec::new();
        for place in places(world, draft.state(), counted.verdicts, budget) {
            let is_reported = budget.count == Count::Reported;
            if is_reported || counted.waits {
                let (budget, run, visit) = (budget.name.clone(), place.run.cloned(), place.visit);
                let owed = (!is_reported).then(|| amount.clone());
                reports.push(ReportPlace { budget, run, visit, owed });
                continue;
            }
            let after = After::of(budget, place.known, &amount, counted.asked.time);
            if after.added > 0 {
                let run: Option<String> = place.run.cloned();
                let tally = after.tally(budget, run, place.visit);
                spent.push(Change::BudgetSpent { scope: place.scope, tally });
            }
        }
        spent.into_iter().for_each(|change| draft.change(change));
    }
    reports
}
