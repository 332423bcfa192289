//! What budgets count when a call ends: numbers that its result reports, and that it ran (rules 4.8).

use alloc::collections::BTreeMap;

use serde_json::{Number, Value};

use crate::calls::outcome::CallOutcome;
use crate::events::event::{Event, EventKind};
use crate::events::observe::paired;
use crate::gates::spending::After;
use crate::policy::budget::{Budget, Count, Per, Tally};
use crate::policy::{Policy, Scope};
use crate::prelude::*;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::open_call::{Amount, ReportPlace};
use crate::state::{OpenCall, State};

/// Numbers of a result in millionths, by their JSON pointer.
pub type Reported = BTreeMap<String, u64>;

/// The most numbers of a result that are looked at.
const MAX_NUMBERS: usize = 64 * 1024;
/// The longest text that is read as JSON, in bytes.
const MAX_TEXT: usize = 256 * 1024;
/// How many decimal places of a number count.
const PLACES: i64 = 6;
/// More digits than the largest number has.
const MAX_DIGITS: i64 = 40;

/// The numbers of a result that are not negative, those in objects and lists included.
pub fn numbers(result: &Value) -> Reported {
    let mut found = Reported::new();
    collect(result, "", &mut found);
    found
}

/// The numbers of the result of an MCP server's tool: of its `structuredContent`, else of its first text that is JSON.
pub fn of_server(result: &Value) -> Reported {
    if let Some(structured) = result.get("structuredContent").filter(|value| value.is_object()) {
        return numbers(structured);
    }
    let text = |block: &Value| of_text(block.get("text")?.as_str()?);
    match result.get("content").unwrap_or(result) {
        Value::Array(blocks) => blocks.iter().find_map(text).unwrap_or_default(),
        Value::String(text) => of_text(text).unwrap_or_default(),
        _ => Reported::new(),
    }
}

/// The numbers of a text that is a JSON object; `None`: it is none.
pub fn of_text(text: &str) -> Option<Reported> {
    let is_object = text.len() <= MAX_TEXT && text.starts_with('{');
    let value: Value = serde_json::from_str(Some(text).filter(|_| is_object)?).ok()?;
    Some(numbers(&value))
}

fn collect(value: &Value, place: &str, found: &mut Reported) {
    match value {
        _ if found.len() >= MAX_NUMBERS => {}
        Value::Number(number) => {
            if let Some(number) = millionths(number) {
                found.insert(place.to_string(), number);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                collect(value, &format!("{place}/{name}"), found);
            }
        }
        Value::Array(entries) => {
            for (index, value) in entries.iter().enumerate() {
                collect(value, &format!("{place}/{index}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// A number in millionths, rounded up; `None`: it is negative.
fn millionths(number: &Number) -> Option<u64> {
    let text = number.to_string();
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.starts_with('-') {
        return None;
    }
    // Where the point stands among the digits once it is moved behind the sixth decimal place.
    let point = i64::try_from(whole.len()).ok()?.saturating_add(exponent.parse().ok()?).saturating_add(PLACES);
    let digits = format!("{whole}{part}");
    let end = usize::try_from(point.clamp(0, MAX_DIGITS)).ok()?;
    let (kept, rest) = digits.split_at(end.min(digits.len()));
    let kept = format!("{kept:0<end$}");
    let up = u64::from(rest.bytes().any(|digit| digit != b'0'));
    let number = if kept.is_empty() { 0 } else { kept.parse().unwrap_or(u64::MAX) };
    Some(number.saturating_add(up))
}

/// Of the numbers of a result, those that budgets count. A result whose numbers nobody has read yet is read.
pub fn keep_counted(event: &mut Event, budgets: &[Budget]) {
    let EventKind::ToolResult { output, reported, .. } = &mut event.kind else { return };
    if budgets.iter().all(|budget| budget.count != Count::Reported) {
        reported.clear();
        return;
    }
    if reported.is_empty() {
        *reported = output.as_ref().map(numbers).unwrap_or_default();
    }
    reported.retain(|place, _| budgets.iter().any(|budget| budget.reported.as_ref() == Some(place)));
}

/// Counts what the result of a call reports, while the call is still open.
pub(crate) fn count(policy: &Policy, draft: &mut Draft, event: &Event) {
    let EventKind::ToolResult { reported, output, .. } = &event.kind else { return };
    let Some((call, true)) = paired(draft.state(), event) else { return };
    if call.reports.is_empty() {
        return;
    }
    let read = if reported.is_empty() { output.as_ref().map(numbers) } else { None };
    let reported = read.as_ref().unwrap_or(reported);
    let mut spent = Vec::new();
    for place in call.reports.iter().filter(|place| place.owed.is_none()) {
        let Some(budget) = policy.budgets.iter().find(|budget| budget.name == place.budget) else { continue };
        let number = budget.reported.as_ref().and_then(|at| reported.get(at)).copied().unwrap_or_default();
        spent.extend(place.spent(draft.state(), budget, &Amount { number, files: Vec::new() }, event.time));
    }
    spent.into_iter().for_each(|change| draft.change(change));
}

/// Counts the calls that a person was asked about and that have run, as far as is known.
pub(crate) fn count_asked(policy: &Policy, before: &State, draft: &mut Draft, event: &Event) {
    let ran = |open: &OpenCall| {
        draft.changes().iter().any(|change| {
            matches!(change, Change::CallOutcome { call, outcome } if *call == open.number && *outcome != CallOutcome::Refused)
        })
    };
    // What goes on in the background counted when it began.
    let open =
        before.session.calls.iter().filter(|open| !open.launched && open.reports.iter().any(|one| one.owed.is_some()));
    let ended: Vec<_> = open.filter(|open| ran(open)).cloned().collect();
    for place in ended.iter().flat_map(|open| &open.reports) {
        let budget = policy.budgets.iter().find(|budget| budget.name == place.budget);
        if let (Some(budget), Some(owed)) = (budget, &place.owed)
            && let Some(change) = place.spent(draft.state(), budget, owed, event.time)
        {
            draft.change(change);
        }
    }
}

impl ReportPlace {
    /// The count with so much more; `None`: it is no more.
    fn spent(&self, state: &State, budget: &Budget, amount: &Amount, time: Option<i64>) -> Option<Change> {
        let scope = self.scope(state, budget);
        let after = After::of(budget, known(state, scope, self), amount, time);
        let tally = || after.tally(budget, self.run.clone(), self.visit);
        (after.added > 0).then(|| Change::BudgetSpent { scope, tally: tally() })
    }

    /// Which half of the state keeps the count.
    fn scope(&self, state: &State, budget: &Budget) -> Scope {
        let of_run = || self.run.as_ref().and_then(|id| state.run(id)).map(|run| run.scope);
        match budget.per {
            Per::Project => Scope::Project,
            Per::Session => Scope::Session,
            Per::Phase => of_run().unwrap_or(Scope::Session),
        }
    }
}

fn known<'s>(state: &'s State, scope: Scope, place: &ReportPlace) -> Option<&'s Tally> {
    let tallies = if scope == Scope::Project { &state.project.tallies } else { &state.session.tallies };
    tallies.iter().find(|tally| {
        tally.budget == place.budget && tally.run == place.run && (place.run.is_none() || tally.visit == place.visit)
    })
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;
    use alloc::vec::Vec;

    use serde_json::{Value, json};

    use super::{numbers, of_server};

    fn at(value: &Value, place: &str) -> Option<u64> {
        numbers(value).get(place).copied()
    }

    #[test]
    fn numbers_are_kept_in_millionths_and_rounded_up() {
        for (number, millionths) in [
            ("0", Some(0)),
            ("7", Some(7_000_000)),
            ("0.0123", Some(12_300)),
            ("1.5", Some(1_500_000)),
            ("0.0000001", Some(1)),
            ("1e-7", Some(1)),
            ("9e-6", Some(9)),
            ("1.25e-5", Some(13)),
            ("1.5e2", Some(150_000_000)),
            ("0.0", Some(0)),
            ("0e-9", Some(0)),
            ("0.1234567", Some(123_457)),
            ("1e30", Some(u64::MAX)),
            ("18446744073709551615", Some(u64::MAX)),
            ("-1", None),
            ("-0.5", None),
        ] {
            let value: Value = serde_json::from_str(number).unwrap();
            assert_eq!(at(&json!({"cost": value}), "/cost"), millionths, "{number}");
        }
    }

    #[test]
    fn numbers_have_a_json_pointer() {
        let value = json!({"usage": {"a/b": 1}, "results": [{"cost": 2}], "text": "3", "flag": true});
        let found: Vec<_> = numbers(&value).into_iter().collect();
        assert_eq!(found, [("/results/0/cost".to_string(), 2_000_000), ("/usage/a~1b".to_string(), 1_000_000)]);
    }

    #[test]
    fn a_server_reports_in_its_structured_content_or_in_a_text_that_is_json() {
        let block = |text: &str| json!({"type": "text", "text": text});
        for result in [
            json!({"content": [block("done")], "structuredContent": {"cost": 1}}),
            json!({"content": [block("done"), block("{\"cost\": 1}")]}),
            json!([block("{\"cost\": 1}")]),
            json!("{\"cost\": 1}"),
        ] {
            assert_eq!(of_server(&result).get("/cost"), Some(&1_000_000), "{result}");
        }
        assert!(of_server(&json!({"content": [block("cost: 1")]})).is_empty());
    }
}
