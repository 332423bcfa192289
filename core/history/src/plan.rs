//! Makes a leaf of a condition: which past events it needs, and so which tables.

use alloc::string::String;
use alloc::vec::Vec;

use crate::leaf::{Comparison, Condition, Leaf, Param, Pattern, Scope, TableSpec, Term, Window};
use crate::value::Value;

/// What a compiler finds out about a condition; [`Leaf::new`] adds what follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// See [`Leaf::patterns`].
    pub patterns: Vec<Pattern>,
    /// See [`Leaf::params`].
    pub params: Vec<Param>,
    /// See [`Leaf::variables`].
    pub variables: u16,
    /// See [`Leaf::condition`]. Its windows need no table yet.
    pub condition: Condition,
}

impl Leaf {
    /// A leaf with its tables and its key. Each variable of `body` must be bound in one place.
    #[must_use]
    pub fn new(field: &str, scope: Scope, body: Body) -> Self {
        let Body { patterns, params, variables, mut condition } = body;
        let tables = plan(&mut condition, &patterns);
        let mut leaf =
            Self { field: String::new(), key: String::new(), scope, patterns, params, variables, tables, condition };
        leaf.key = digest(&serde_json::to_string(&leaf).unwrap_or_default());
        leaf.field = String::from(field);
        leaf
    }
}

/// The 64 bits of FNV-1a, as hexadecimal digits. Only trusted rules are named by it.
fn digest(text: &str) -> String {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    alloc::format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, mix))
}

/// Gives every outermost temporal operator of `condition` a table, and returns the tables.
fn plan(condition: &mut Condition, patterns: &[Pattern]) -> Vec<TableSpec> {
    let mut planner = Planner { patterns, tables: Vec::new() };
    planner.place(condition, None);
    planner.tables
}

struct Planner<'a> {
    patterns: &'a [Pattern],
    tables: Vec<TableSpec>,
}

impl Planner<'_> {
    /// Visits temporal operators from outside in. `cap` is how many matches can matter, where known.
    fn place(&mut self, condition: &mut Condition, cap: Option<u32>) {
        match condition {
            Condition::And(left, right) | Condition::Or(left, right) => {
                self.place(left, None);
                self.place(right, None);
            }
            Condition::Not(inner) => self.place(inner, None),
            Condition::Exists(variable, body) => {
                let cap = self.count_cap(*variable, body);
                self.place_body(body, *variable, cap);
            }
            Condition::Compare(_, left, right) => {
                let cap = literal_cap(left).or_else(|| literal_cap(right));
                self.place_term(left, cap);
                self.place_term(right, cap);
            }
            Condition::Formerly(..) | Condition::Previous(..) | Condition::Since(..) => {
                let table = u16::try_from(self.tables.len()).unwrap_or(u16::MAX);
                self.tables.push(spec(condition, cap));
                assign(condition, table);
            }
            Condition::Matches(_) | Condition::Point(_) => {}
        }
    }

    /// As [`Self::place`], for the body of a quantifier. `cap` is for the count that `variable` names.
    fn place_body(&mut self, body: &mut Condition, variable: u16, cap: Option<u32>) {
        match body {
            Condition::And(left, right) => {
                self.place_body(left, variable, cap);
                self.place_body(right, variable, cap);
            }
            Condition::Compare(Comparison::Equal, left, right)
                if *left == Term::Variable(variable) || *right == Term::Variable(variable) =>
            {
                self.place_term(left, cap);
                self.place_term(right, cap);
            }
            _ => self.place(body, None),
        }
    }

    fn place_term(&mut self, term: &mut Term, cap: Option<u32>) {
        match term {
            Term::Count(variables, body) => {
                let cap = cap.filter(|_| self.counts_points(variables, body));
                self.place(body, cap);
            }
            Term::Sum(_, _, body) => self.place(body, None),
            _ => {}
        }
    }

    /// Whether this counts the points at which something matched, each once.
    fn counts_points(&self, variables: &[u16], body: &Condition) -> bool {
        let Condition::Formerly(_, inner) = body else { return false };
        matches!(variables, [only] if self.names_point(inner, *only)) && nesting(inner) == 0 && needs_match(inner)
    }

    /// Whether the condition is a conjunction with `Point(variable)` in it and no other use of that variable.
    fn names_point(&self, condition: &Condition, variable: u16) -> bool {
        match condition {
            Condition::And(left, right) => {
                (self.names_point(left, variable) && !self.uses(right, variable))
                    || (self.names_point(right, variable) && !self.uses(left, variable))
            }
            Condition::Point(named) => *named == variable,
            _ => false,
        }
    }

    /// How many matches can matter to a count that `variable` names in `body`.
    ///
    /// Known, if `variable` is made equal to one count, and otherwise compared with literals only.
    fn count_cap(&self, variable: u16, body: &Condition) -> Option<u32> {
        let mut uses = CountUses::default();
        (self.only_capped(variable, body, &mut uses) && uses.counts == 1).then_some(uses.cap)
    }

    fn only_capped(&self, variable: u16, condition: &Condition, found: &mut CountUses) -> bool {
        if let Condition::And(left, right) = condition {
            return self.only_capped(variable, left, found) && self.only_capped(variable, right, found);
        }
        let Condition::Compare(comparison, left, right) = condition else { return !self.uses(condition, variable) };
        let is_it = |term: &Term| *term == Term::Variable(variable);
        let other = match (is_it(left), is_it(right)) {
            (true, false) => right,
            (false, true) => left,
            _ => return !self.uses(condition, variable),
        };
        if *comparison == Comparison::Equal && matches!(other, Term::Count(..)) {
            found.counts += 1;
            return !self.term_uses(other, variable);
        }
        literal_cap(other).is_some_and(|cap| {
            found.cap = found.cap.max(cap);
            true
        })
    }

    /// Whether the condition mentions the variable.
    fn uses(&self, condition: &Condition, variable: u16) -> bool {
        let itself = match condition {
            Condition::Compare(_, left, right) => self.term_uses(left, variable) || self.term_uses(right, variable),
            Condition::Point(named) | Condition::Exists(named, _) => *named == variable,
            Condition::Matches(pattern) => self
                .patterns
                .get(usize::from(*pattern))
                .is_none_or(|pattern| pattern.compared.iter().any(|field| field.term == Term::Variable(variable))),
            _ => false,
        };
        itself || children(condition).into_iter().any(|child| self.uses(child, variable))
    }

    fn term_uses(&self, term: &Term, variable: u16) -> bool {
        match term {
            Term::Variable(named) => *named == variable,
            Term::Count(variables, body) | Term::Sum(_, variables, body) => {
                variables.contains(&variable) || self.uses(body, variable)
            }
            _ => false,
        }
    }
}

/// How the variable that names a count is used.
#[derive(Default)]
struct CountUses {
    counts: u32,
    cap: u32,
}

/// How many matches matter to a count that is compared with this term: one more than a literal.
fn literal_cap(term: &Term) -> Option<u32> {
    match term {
        Term::Value(Value::Int(number)) => Some(u32::try_from(*number).unwrap_or(0).saturating_add(1)),
        _ => None,
    }
}

/// What the table of a temporal operator must keep.
fn spec(condition: &Condition, cap: Option<u32>) -> TableSpec {
    let flat = nesting(condition) == 1;
    let others = match condition {
        Condition::Formerly(_, body) => !flat || !needs_match(body),
        Condition::Since(_, left, right) => !flat || !needs_match(right) || !holds_without_match(left),
        _ => true,
    };
    let keep = match (flat, points(condition)) {
        (true, false) => Some(1),
        (true, true) => cap,
        (false, _) => None,
    };
    let mut patterns = Vec::new();
    collect_patterns(condition, &mut patterns);
    patterns.sort_unstable();
    patterns.dedup();
    TableSpec { horizon: horizon(condition), keep, others, patterns }
}

/// How deep temporal operators and aggregations are nested in the condition.
fn nesting(condition: &Condition) -> usize {
    let of_children = children(condition).into_iter().map(nesting).max().unwrap_or(0);
    let itself = match condition {
        Condition::Formerly(..) | Condition::Previous(..) | Condition::Since(..) => 1,
        Condition::Compare(_, left, right) => usize::from(aggregates(left) || aggregates(right)),
        _ => 0,
    };
    itself + of_children
}

fn aggregates(term: &Term) -> bool {
    matches!(term, Term::Count(..) | Term::Sum(..))
}

/// How far back the condition can look, in milliseconds.
fn horizon(condition: &Condition) -> i64 {
    let of_children = children(condition).into_iter().map(horizon).max().unwrap_or(0);
    match condition {
        Condition::Formerly(window, _) | Condition::Previous(window, _) | Condition::Since(window, _, _) => {
            window.within.max(0).saturating_add(of_children)
        }
        _ => of_children,
    }
}

/// Whether the condition asks for the number of a point.
fn points(condition: &Condition) -> bool {
    matches!(condition, Condition::Point(_)) || children(condition).into_iter().any(points)
}

/// Whether the condition, without temporal operators, can only hold at an event that matches some pattern.
pub(crate) fn needs_match(condition: &Condition) -> bool {
    match condition {
        Condition::Matches(_) => true,
        Condition::And(left, right) => needs_match(left) || needs_match(right),
        Condition::Or(left, right) => needs_match(left) && needs_match(right),
        Condition::Exists(_, body) => needs_match(body),
        _ => false,
    }
}

/// Whether the condition, without temporal operators, holds at every event that matches no pattern.
pub(crate) fn holds_without_match(condition: &Condition) -> bool {
    match condition {
        Condition::Not(inner) => needs_match(inner),
        Condition::And(left, right) => holds_without_match(left) && holds_without_match(right),
        Condition::Or(left, right) => holds_without_match(left) || holds_without_match(right),
        _ => false,
    }
}

/// The conditions directly within `condition`, those of aggregations too.
pub(crate) fn children(condition: &Condition) -> Vec<&Condition> {
    let mut found = Vec::new();
    match condition {
        Condition::And(left, right) | Condition::Or(left, right) | Condition::Since(_, left, right) => {
            found.push(&**left);
            found.push(&**right);
        }
        Condition::Not(inner)
        | Condition::Exists(_, inner)
        | Condition::Formerly(_, inner)
        | Condition::Previous(_, inner) => found.push(&**inner),
        Condition::Compare(_, left, right) => {
            for term in [left, right] {
                if let Term::Count(_, body) | Term::Sum(_, _, body) = term {
                    found.push(&**body);
                }
            }
        }
        Condition::Matches(_) | Condition::Point(_) => {}
    }
    found
}

fn collect_patterns(condition: &Condition, found: &mut Vec<u16>) {
    if let Condition::Matches(pattern) = condition {
        found.push(*pattern);
    }
    for child in children(condition) {
        collect_patterns(child, found);
    }
}

/// Sets the table of the operator and of everything within it.
fn assign(condition: &mut Condition, table: u16) {
    let set = |window: &mut Window| window.table = table;
    match condition {
        Condition::And(left, right) | Condition::Or(left, right) => {
            assign(left, table);
            assign(right, table);
        }
        Condition::Since(window, left, right) => {
            set(window);
            assign(left, table);
            assign(right, table);
        }
        Condition::Formerly(window, inner) | Condition::Previous(window, inner) => {
            set(window);
            assign(inner, table);
        }
        Condition::Not(inner) | Condition::Exists(_, inner) => assign(inner, table),
        Condition::Compare(_, left, right) => {
            for term in [left, right] {
                if let Term::Count(_, body) | Term::Sum(_, _, body) = term {
                    assign(body, table);
                }
            }
        }
        Condition::Matches(_) | Condition::Point(_) => {}
    }
}
