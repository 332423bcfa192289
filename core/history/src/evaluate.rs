//! Whether a condition holds at the call that is decided.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::cell::Cell;

use crate::event::{Event, Matches, Request};
use crate::leaf::{Comparison, Condition, Leaf, Term, Window};
use crate::state::{Cause, History, LeafState, Occurrence};
use crate::value::Value;

/// How many conditions one evaluation looks at before the leaf counts as unknown.
pub const MAX_STEPS: u32 = 100_000;

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// It cannot be told. A rule that reads the condition must deny.
    Unknown(Cause),
}

impl History {
    /// Whether `leaf` holds if `event` happens now, as the call `request`.
    ///
    /// `event` counts as the last event of the history, without being taken into it.
    #[must_use]
    pub fn evaluate(&self, leaf: &Leaf, event: &Event<'_>, request: &dyn Request) -> Verdict {
        if let Some(cause) = self.unknown_at(event.time, leaf) {
            return Verdict::Unknown(cause);
        }
        let nothing = LeafState::default();
        let state = self.leaves.get(&leaf.key).unwrap_or(&nothing);
        let Ok(matches) = leaf.matches(event) else { return Verdict::Unknown(Cause::Unclear) };
        let time = self.clock.map_or(event.time, |clock| clock.max(event.time));
        let evaluation = Evaluation {
            leaf,
            state,
            now: At { index: state.next, time, matches: &matches },
            params: leaf.params.iter().map(|param| request.param(param)).collect(),
            steps: Cell::new(MAX_STEPS),
        };
        let mut variables = Variables::new(leaf.variables);
        let holds = evaluation.holds(&leaf.condition, evaluation.now, &mut variables);
        match (evaluation.steps.get(), holds) {
            (0, _) => Verdict::Unknown(Cause::Steps),
            (_, true) => Verdict::True,
            (_, false) => Verdict::False,
        }
    }
}

/// One point of the history.
#[derive(Clone, Copy)]
struct At<'a> {
    index: u64,
    time: i64,
    matches: &'a Matches,
}

/// The values of the variables, and which ones got theirs in which order.
struct Variables {
    values: Vec<Option<Value>>,
    order: Vec<u16>,
}

impl Variables {
    fn new(count: u16) -> Self {
        Self { values: alloc::vec![None; usize::from(count)], order: Vec::new() }
    }

    fn get(&self, variable: u16) -> Option<&Value> {
        self.values.get(usize::from(variable)).and_then(Option::as_ref)
    }

    fn set(&mut self, variable: u16, value: Value) {
        if let Some(place) = self.values.get_mut(usize::from(variable)) {
            *place = Some(value);
            self.order.push(variable);
        }
    }

    /// Whether `value` is the variable's value. A variable without one takes it.
    fn unify(&mut self, variable: u16, value: &Value) -> bool {
        match self.get(variable) {
            Some(known) => known == value,
            None => {
                self.set(variable, value.clone());
                true
            }
        }
    }

    fn mark(&self) -> usize {
        self.order.len()
    }

    /// Takes the values back that were given since `mark`.
    fn undo(&mut self, mark: usize) {
        for variable in self.order.drain(mark.min(self.order.len())..) {
            if let Some(place) = self.values.get_mut(usize::from(variable)) {
                *place = None;
            }
        }
    }
}

/// Called with each way in which a condition holds; answers whether to stop.
type Visit<'v> = &'v mut dyn FnMut(&mut Variables) -> bool;

struct Evaluation<'a> {
    leaf: &'a Leaf,
    state: &'a LeafState,
    now: At<'a>,
    params: Vec<Option<Value>>,
    steps: Cell<u32>,
}

impl<'a> Evaluation<'a> {
    fn step(&self) -> bool {
        self.steps.set(self.steps.get().saturating_sub(1));
        self.steps.get() > 0
    }

    /// Whether `condition` holds at `at`. What it gives to variables is taken back.
    fn holds(&self, condition: &Condition, at: At<'a>, variables: &mut Variables) -> bool {
        if !self.step() {
            return false;
        }
        match condition {
            Condition::And(left, right) => {
                if let Condition::Matches(pattern) = &**left {
                    let mark = variables.mark();
                    let holds = self.matches(*pattern, at, variables) && self.holds(right, at, variables);
                    variables.undo(mark);
                    return holds;
                }
                self.holds(left, at, variables) && self.holds(right, at, variables)
            }
            Condition::Or(left, right) => self.holds(left, at, variables) || self.holds(right, at, variables),
            Condition::Not(inner) => !self.holds(inner, at, variables),
            Condition::Matches(pattern) => {
                let mark = variables.mark();
                let holds = self.matches(*pattern, at, variables);
                variables.undo(mark);
                holds
            }
            Condition::Compare(comparison, left, right) => {
                let left = self.value(left, at, variables);
                let right = self.value(right, at, variables);
                left.zip(right).is_some_and(|(left, right)| compares(*comparison, &left, &right))
            }
            Condition::Exists(_, body) => self.each(body, at, variables, &mut |_| true),
            Condition::Point(variable) => variables.get(*variable).is_none_or(|known| *known == point(at)),
            Condition::Formerly(window, body) => self.past(*window, at).any(|past| self.holds(body, past, variables)),
            Condition::Previous(window, body) => {
                self.before(*window, at).is_some_and(|past| self.holds(body, past, variables))
            }
            Condition::Since(window, left, right) => {
                // A later anchor has fewer points after it, so the latest one decides.
                let anchors = self.past(*window, at).filter(|past| self.holds(right, *past, variables));
                let Some(anchor) = anchors.map(|past| past.index).max() else { return false };
                self.after(*window, anchor, at).all(|past| self.holds(left, past, variables))
            }
        }
    }

    /// Visits each way in which `condition` holds at `at`; answers whether a visit stopped it.
    fn each(&self, condition: &Condition, at: At<'a>, variables: &mut Variables, visit: Visit<'_>) -> bool {
        if !self.step() {
            return true;
        }
        let mark = variables.mark();
        let stopped = match condition {
            Condition::And(left, right) => {
                self.each(left, at, variables, &mut |variables| self.each(right, at, variables, visit))
            }
            Condition::Or(left, right) => {
                self.each(left, at, variables, visit) || self.each(right, at, variables, visit)
            }
            Condition::Matches(pattern) => self.matches(*pattern, at, variables) && visit(variables),
            Condition::Exists(_, body) => self.each(body, at, variables, visit),
            Condition::Point(variable) => variables.unify(*variable, &point(at)) && visit(variables),
            Condition::Formerly(window, body) => {
                self.past(*window, at).any(|past| self.each(body, past, variables, visit))
            }
            Condition::Previous(window, body) => {
                self.before(*window, at).is_some_and(|past| self.each(body, past, variables, visit))
            }
            Condition::Since(window, left, right) => self.past(*window, at).any(|anchor| {
                self.each(right, anchor, variables, &mut |variables| {
                    self.after(*window, anchor.index, at).all(|past| self.holds(left, past, variables))
                        && visit(variables)
                })
            }),
            Condition::Compare(Comparison::Equal, left, right) => match self.gives(left, right, at, variables) {
                Some(given) => {
                    variables.set(given.variable, given.value);
                    visit(variables)
                }
                None => self.holds(condition, at, variables) && visit(variables),
            },
            Condition::Compare(..) | Condition::Not(_) => self.holds(condition, at, variables) && visit(variables),
        };
        variables.undo(mark);
        stopped
    }

    /// Whether the event at `at` matches the pattern; variables without a value take those of its fields.
    fn matches(&self, pattern: u16, at: At<'a>, variables: &mut Variables) -> bool {
        let found = at.matches.binary_search_by_key(&pattern, |(position, _)| *position).ok();
        let Some((_, values)) = found.and_then(|place| at.matches.get(place)) else { return false };
        let Some(pattern) = self.leaf.patterns.get(usize::from(pattern)) else { return false };
        let mark = variables.mark();
        let holds = pattern.compared.iter().zip(values).all(|(field, value)| match &field.term {
            Term::Variable(variable) => variables.unify(*variable, value),
            Term::Param(param) => self.param(*param) == Some(value),
            _ => false,
        });
        if !holds {
            variables.undo(mark);
        }
        holds
    }

    fn param(&self, param: u16) -> Option<&Value> {
        self.params.get(usize::from(param)).and_then(Option::as_ref)
    }

    /// If one side is a variable without a value, and the other has one: what the variable becomes.
    fn gives(&self, left: &Term, right: &Term, at: At<'a>, variables: &mut Variables) -> Option<Given> {
        let open = |term: &Term| match term {
            Term::Variable(variable) if variables.get(*variable).is_none() => Some(*variable),
            _ => None,
        };
        let (variable, other) = match (open(left), open(right)) {
            (Some(variable), None) => (variable, right),
            (None, Some(variable)) => (variable, left),
            _ => return None,
        };
        Some(Given { variable, value: self.value(other, at, variables)? })
    }

    fn value(&self, term: &Term, at: At<'a>, variables: &mut Variables) -> Option<Value> {
        match term {
            Term::Value(value) => Some(value.clone()),
            Term::Variable(variable) => variables.get(*variable).cloned(),
            Term::Param(param) => self.param(*param).cloned(),
            Term::Count(over, body) => {
                let rows = self.rows(over, body, at, variables);
                Some(Value::Int(i64::try_from(rows.len()).unwrap_or(i64::MAX)))
            }
            Term::Sum(summand, over, body) => {
                let column = over.iter().position(|variable| variable == summand)?;
                let rows = self.rows(over, body, at, variables);
                let numbers = rows.iter().filter_map(|row| row.get(column)?.as_ref()?.as_int());
                let sum: i128 = numbers.map(i128::from).sum();
                Some(Value::Int(i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX })))
            }
            Term::Nothing => None,
        }
    }

    /// The distinct values of `over` with which `body` holds.
    fn rows(
        &self,
        over: &[u16],
        body: &Condition,
        at: At<'a>,
        variables: &mut Variables,
    ) -> BTreeSet<Vec<Option<Value>>> {
        let mut rows = BTreeSet::new();
        self.each(body, at, variables, &mut |variables| {
            rows.insert(over.iter().map(|variable| variables.get(*variable).cloned()).collect());
            false
        });
        rows
    }

    /// The points up to `at` that the window's table keeps, in no order.
    fn points(&self, window: Window, at: At<'a>) -> impl Iterator<Item = At<'a>> + use<'a> {
        let kept = self.state.tables.get(usize::from(window.table)).into_iter().flat_map(|table| &table.classes);
        let kept = kept.flat_map(|class| {
            class.seen.iter().map(|Occurrence(index, time)| At { index: *index, time: *time, matches: &class.matches })
        });
        kept.chain(core::iter::once(self.now)).filter(move |past| past.index <= at.index)
    }

    /// The points within the window that ends at `at`.
    fn past(&self, window: Window, at: At<'a>) -> impl Iterator<Item = At<'a>> + use<'a> {
        let first = at.time.saturating_sub(window.within.max(-1));
        self.points(window, at).filter(move |past| past.time >= first)
    }

    /// The points after the one with the number `anchor`, up to `at`.
    fn after(&self, window: Window, anchor: u64, at: At<'a>) -> impl Iterator<Item = At<'a>> + use<'a> {
        self.points(window, at).filter(move |past| past.index > anchor)
    }

    /// The point right before `at`, if it is within the window.
    fn before(&self, window: Window, at: At<'a>) -> Option<At<'a>> {
        let wanted = at.index.checked_sub(1)?;
        self.past(window, at).find(|past| past.index == wanted)
    }
}

/// What an equality gives to a variable.
struct Given {
    variable: u16,
    value: Value,
}

fn compares(comparison: Comparison, left: &Value, right: &Value) -> bool {
    let ordered = |holds: fn(&i64, &i64) -> bool| {
        left.as_int().zip(right.as_int()).is_some_and(|(left, right)| holds(&left, &right))
    };
    match comparison {
        Comparison::Equal => left == right,
        Comparison::Unequal => left != right,
        Comparison::Less => ordered(i64::lt),
        Comparison::AtMost => ordered(i64::le),
        Comparison::Greater => ordered(i64::gt),
        Comparison::AtLeast => ordered(i64::ge),
    }
}

fn point(at: At<'_>) -> Value {
    Value::Int(i64::try_from(at.index).unwrap_or(i64::MAX))
}
