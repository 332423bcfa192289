//! Random events with the fields that a condition looks at. The numbers follow from a seed.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::event::{Field, Fields, Request};
use crate::leaf::{Condition, Leaf, Param, Path, Pattern, Root, Term};
use crate::value::Value;

/// A call that a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decided<'a> {
    /// The type of the action.
    pub namespace: &'a str,
    /// The id of the action.
    pub action: &'a str,
    /// The kind of the event that is decided.
    pub kind: &'a str,
}

/// Where one history of random events stands.
pub(super) struct Sample<'a> {
    leaf: &'a Leaf,
    random: u64,
    time: i64,
    values: Vec<Value>,
    /// What each parameter mostly is in this history.
    params: Vec<Value>,
    /// What each variable mostly becomes in this history.
    variables: Vec<Value>,
}

/// The fields of an event, or those of the decided call with its parameters.
#[derive(Default)]
pub(super) struct Made {
    fields: BTreeMap<Path, Value>,
    params: Vec<GivenParam>,
}

struct GivenParam {
    param: Param,
    value: Value,
}

impl Fields for Made {
    fn field(&self, path: &[String]) -> Field {
        self.fields.get(path).cloned().into()
    }
}

impl Request for Made {
    fn param(&self, param: &Param) -> Option<Value> {
        self.params.iter().find(|given| given.param == *param).map(|given| given.value.clone())
    }
}

impl<'a> Sample<'a> {
    pub(super) fn new(leaf: &'a Leaf, seed: u64) -> Self {
        let mut values = literals(leaf);
        let numbers: Vec<i64> = values.iter().filter_map(Value::as_int).collect();
        values.extend(
            numbers.into_iter().flat_map(|number| [number.saturating_add(1), number.saturating_sub(1)]).map(Value::Int),
        );
        values.extend([
            Value::text("a"),
            Value::text("b"),
            Value::Int(0),
            Value::Int(1),
            Value::Bool(true),
            Value::Bool(false),
        ]);
        values.push(Value::entity("Any", "1"));
        let mut sample = Self { leaf, random: seed, time: 0, values, params: Vec::new(), variables: Vec::new() };
        sample.keep_few_values();
        sample.params = leaf.params.iter().map(|_| sample.value()).collect();
        sample.variables = (0..leaf.variables).map(|_| sample.value()).collect();
        sample
    }

    /// A history in which few values occur has more events that belong together.
    fn keep_few_values(&mut self) {
        let most = 1 + self.below(self.values.len());
        while self.values.len() > most {
            let which = self.below(self.values.len());
            self.values.swap_remove(which);
        }
    }

    /// A number below `end` (splitmix64).
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let end = u64::try_from(end).unwrap_or(1).max(1);
        usize::try_from((mixed ^ (mixed >> 31)) % end).unwrap_or(0)
    }

    pub(super) fn time(&self) -> i64 {
        self.time
    }

    /// Now and then as much time as a window has, or a little less or more.
    pub(super) fn pass_time(&mut self) {
        let table = self.below(self.leaf.tables.len());
        let horizon = self.leaf.tables.get(table).map_or(0, |table| table.horizon);
        let gap = match self.below(8) {
            0 => horizon,
            1 => horizon / 3,
            2 => horizon.saturating_add(1),
            _ => i64::try_from(self.below(1000)).unwrap_or(0),
        };
        self.time = self.time.saturating_add(gap);
    }

    /// The position of a pattern, if the next event is to match one.
    pub(super) fn pattern(&mut self) -> Option<usize> {
        let count = self.leaf.patterns.len();
        (count > 0).then(|| self.below(count))
    }

    /// How often the next event happens.
    pub(super) fn times(&mut self) -> u32 {
        let most = self.leaf.tables.iter().filter_map(|table| table.keep).max().unwrap_or(1);
        match self.below(3) {
            0 => most,
            _ => 1,
        }
    }

    fn value(&mut self) -> Value {
        let which = self.below(self.values.len());
        self.values.get(which).cloned().unwrap_or(Value::Null)
    }

    /// The fields of an event that mostly matches `pattern`.
    pub(super) fn fields(&mut self, pattern: &Pattern) -> Made {
        let mut made = Made::default();
        for path in &pattern.present {
            let value = self.value();
            made.fields.insert(path.clone(), value);
        }
        for compared in &pattern.compared {
            let usual = match compared.term {
                Term::Param(param) => self.params.get(usize::from(param)),
                Term::Variable(variable) => self.variables.get(usize::from(variable)),
                _ => None,
            };
            let usual = usual.cloned();
            let value = usual.filter(|_| self.below(3) != 0).unwrap_or_else(|| self.value());
            made.fields.insert(compared.path.clone(), value);
        }
        for wanted in &pattern.equal {
            let value = if self.below(8) == 0 { self.value() } else { wanted.value.clone() };
            made.fields.insert(wanted.path.clone(), value);
        }
        made
    }

    /// The fields of the decided call: what patterns ask of its event, and what the condition reads from its context.
    pub(super) fn call(&mut self, call: &Decided<'_>) -> Made {
        let leaf = self.leaf;
        let own = leaf.patterns.iter().filter(|pattern| {
            pattern.action == call.action && pattern.kind == call.kind && pattern.namespace == call.namespace
        });
        let own: Vec<&Pattern> = own.collect();
        let which = self.below(own.len());
        let mut made = own.get(which).map(|pattern| self.fields(pattern)).unwrap_or_default();
        for (param, usual) in leaf.params.iter().zip(self.params.clone()) {
            let usual = if self.below(4) == 0 { self.value() } else { usual };
            // The context of a call says what its event says.
            let same = made.fields.get(&param.path).filter(|_| param.root == Root::Context);
            let value = same.cloned().unwrap_or(usual);
            made.params.push(GivenParam { param: param.clone(), value });
        }
        made
    }
}

/// All literals of a condition, which are values that might matter.
fn literals(leaf: &Leaf) -> Vec<Value> {
    let mut found: Vec<Value> =
        leaf.patterns.iter().flat_map(|pattern| pattern.equal.iter().map(|wanted| wanted.value.clone())).collect();
    let mut waiting = alloc::vec![&leaf.condition];
    while let Some(condition) = waiting.pop() {
        if let Condition::Compare(_, left, right) = condition {
            for term in [left, right] {
                if let Term::Value(value) = term {
                    found.push(value.clone());
                }
            }
        }
        waiting.extend(crate::plan::children(condition));
    }
    found.sort();
    found.dedup();
    found
}
