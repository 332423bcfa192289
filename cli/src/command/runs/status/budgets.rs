//! What is left of the budgets (rules 4.8).

use owo_colors::OwoColorize as _;
use phasegate_core::policy::budget::{Budget, Count, Per, Tally, UNIT};
use phasegate_core::state::{Run, State};
use phasegate_runtime::timestamp::timestamp;
use serde_json::{Value, json};

use crate::output::Output;

/// The budgets of a project, and the time.
pub(super) struct Budgets {
    pub(super) all: Vec<Budget>,
    /// In milliseconds since 1970-01-01 UTC.
    pub(super) now: i64,
}

impl Budgets {
    /// The budgets that count for the whole project.
    pub(super) fn of_project(&self, state: &State) -> Vec<Value> {
        self.of(Per::Project)
            .map(|budget| self.used(budget, find(&state.project.tallies, budget, None), None))
            .collect()
    }

    /// The budgets that count in a session, and those of the phases of its live runs.
    pub(super) fn of_session(&self, state: &State) -> Vec<Value> {
        let tallies = &state.session.tallies;
        let own = self.of(Per::Session).map(|budget| self.used(budget, find(tallies, budget, None), None));
        let of_phases = self.of(Per::Phase).flat_map(|budget| {
            state.live_runs().map(move |run| {
                let all = tallies.iter().chain(&state.project.tallies);
                self.used(budget, find(all, budget, Some(run)), Some(run))
            })
        });
        own.chain(of_phases).collect()
    }

    fn of(&self, per: Per) -> impl Iterator<Item = &Budget> {
        self.all.iter().filter(move |budget| budget.per == per)
    }

    fn used(&self, budget: &Budget, known: Option<&Tally>, run: Option<&Run>) -> Value {
        let counts = known.filter(|known| !budget.is_over(known, Some(self.now)));
        let until = counts.and_then(|known| known.since).zip(budget.within);
        json!({
            "budget": budget.name, "used": amount(budget, counts.map_or(0, |known| known.spent)), "limit": budget.limit,
            "skill": run.map(|run| &run.skill), "phase": run.map(|run| &run.phase),
            "until": until.map(|(since, within)| since.saturating_add(within)),
        })
    }
}

/// How much that is: a whole number, or of what is reported one with up to six decimal places.
fn amount(budget: &Budget, spent: u64) -> Value {
    let (whole, part) = (spent / UNIT, spent % UNIT);
    if budget.count != Count::Reported {
        return spent.into();
    }
    if part == 0 {
        return whole.into();
    }
    serde_json::from_str(format!("{whole}.{part:06}").trim_end_matches('0')).unwrap_or_default()
}

fn find<'t>(tallies: impl IntoIterator<Item = &'t Tally>, budget: &Budget, run: Option<&Run>) -> Option<&'t Tally> {
    tallies.into_iter().find(|tally| {
        tally.budget == budget.name
            && tally.run.as_ref() == run.map(|run| &run.id)
            && run.is_none_or(|run| tally.visit == run.visit)
    })
}

/// Prints a line for each.
pub(super) fn print(out: Output, all: &[Value], indent: &str) {
    for one in all {
        let text = |key: &str| one.get(key).and_then(Value::as_str);
        let number = |key: &str| one.get(key).map(Value::to_string).unwrap_or_default();
        let place = text("skill").zip(text("phase")).map(|(skill, phase)| format!(" in phase {phase} of {skill}"));
        let until = one.get("until").and_then(Value::as_i64);
        let until = until.map(|until| format!(", counted anew from {}", timestamp(until))).unwrap_or_default();
        let (used, limit) = (number("used"), number("limit"));
        let name = text("budget").unwrap_or_default();
        let place = place.unwrap_or_default();
        out.line(format_args!("{indent}budget {}: {used} of {limit} used{place}{until}", name.bold()));
    }
}
