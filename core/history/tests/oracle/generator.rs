//! Random conditions, as their source text, and random traces.

use std::fmt::Write as _;

/// A generator of numbers with a seed (splitmix64), so that a difference can be found again.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    fn one_in(&mut self, end: usize) -> bool {
        self.below(end) == 0
    }
}

const ACTIONS: &[&str] = &["Edit", "Run", "Send"];
const KINDS: &[&str] = &["request", "response"];
const WINDOWS: &[&str] = &["0s", "1s", "5s", "1m", "2m", "10m", "1h"];
const OPERATORS: &[&str] = &["<", "<=", ">", ">=", "==", "!="];

pub(crate) const ACTION_SCHEMA: &str = r#"
namespace G {
  type In = { x: Long, s: String, who: G::User };
  type Out = { ok: Bool };
  entity User = { level: Long };
  entity Tool;
  action "Edit", "Run", "Send" appliesTo { principal: [User], resource: [Tool], context: { input: In, output?: Out } };
}
"#;

pub(crate) const EVENT_SCHEMA: &str = "
decision event <A>::request { ...inputs(A), caller: principalType(A) }
event <A>::response { ...inputs(A), ...outputs(A), caller: principalType(A) }
";

/// Makes one condition.
pub(crate) struct Conditions<'r> {
    pub(crate) random: &'r mut Random,
    fresh: usize,
}

/// Which variables have a value here.
#[derive(Clone, Default)]
struct Known {
    longs: Vec<String>,
}

impl<'r> Conditions<'r> {
    pub(crate) fn new(random: &'r mut Random) -> Self {
        Self { random, fresh: 0 }
    }

    pub(crate) fn condition(&mut self) -> String {
        let depth = 1 + self.random.below(3);
        self.any(depth, &Known::default())
    }

    fn name(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}{}", self.fresh)
    }

    fn any(&mut self, depth: usize, known: &Known) -> String {
        if depth == 0 {
            return self.atom(known);
        }
        let window = self.random.of(WINDOWS);
        match self.random.below(16) {
            0..=2 => format!("formerly within {window} ({})", self.any(depth - 1, known)),
            3 => format!("previous within {window} ({})", self.any(depth - 1, known)),
            4..=6 => {
                let left =
                    if self.random.one_in(4) { self.any(depth - 1, known) } else { self.negated(depth - 1, known) };
                format!("({left}) since within {window} ({})", self.any(depth - 1, known))
            }
            7 => self.negated(depth - 1, known),
            8 => format!("{} && {}", self.any(depth - 1, known), self.any(depth - 1, known)),
            9 | 10 => self.exists(depth - 1, known),
            11 => self.counted(depth - 1, known),
            12 => self.compared_count(known),
            13 => self.distinct(known),
            14 => self.sum(known),
            _ => self.atom(known),
        }
    }

    fn negated(&mut self, depth: usize, known: &Known) -> String {
        format!("!({})", self.any(depth, known))
    }

    fn atom(&mut self, known: &Known) -> String {
        if self.random.one_in(6) { self.comparison(known) } else { self.predicate(known, None) }
    }

    fn comparison(&mut self, known: &Known) -> String {
        let operator = self.random.of(OPERATORS);
        let left = match known.longs.last() {
            Some(long) if !self.random.one_in(3) => long.clone(),
            _ => self.random.of(&["context.input.x", "principal.level", "context.input.missing"]).to_string(),
        };
        format!("{left} {operator} {}", self.long(known))
    }

    fn long(&mut self, known: &Known) -> String {
        match self.random.below(4) {
            0 => "context.input.x".into(),
            1 if !known.longs.is_empty() => known.longs[self.random.below(known.longs.len())].clone(),
            _ => self.random.below(3).to_string(),
        }
    }

    /// A pattern; with `binds`, one that gives the variable the field `x`.
    fn predicate(&mut self, known: &Known, binds: Option<&str>) -> String {
        let (action, kind) = (self.random.of(ACTIONS), self.random.of(KINDS));
        let mut fields = Vec::new();
        match binds {
            Some(variable) => fields.push(format!("input.x: {variable}")),
            None if self.random.one_in(2) => fields.push(format!("input.x: {}", self.long(known))),
            None => {}
        }
        if self.random.one_in(3) {
            let text = self.random.of(&["\"a\"", "\"b\"", "context.input.s", "*"]);
            fields.push(format!("input.s: {text}"));
        }
        if self.random.one_in(4) {
            let entity = self.random.of(&["principal", "G::User::\"u1\"", "context.input.who"]);
            fields.push(format!("{}: {entity}", self.random.of(&["caller", "input.who"])));
        }
        if kind == "response" && self.random.one_in(2) {
            fields.push(format!("output.ok: {}", self.random.of(&["true", "false", "*"])));
        }
        format!("G::Action::\"{action}\"::{kind}{{ {} }}", fields.join(", "))
    }

    /// A pattern within a window that gives a variable its value, and a condition with the variable.
    fn exists(&mut self, depth: usize, known: &Known) -> String {
        let variable = self.name("v");
        let restricted = self.predicate(known, Some(&variable));
        let restricted = match self.random.below(4) {
            0 => restricted,
            1 => format!("(!({}) since within {} ({restricted}))", self.atom(known), self.random.of(WINDOWS)),
            2 => format!("previous within {} ({restricted})", self.random.of(WINDOWS)),
            _ => format!("formerly within {} ({restricted})", self.random.of(WINDOWS)),
        };
        let mut inner = known.clone();
        inner.longs.push(variable.clone());
        format!("(exists ({variable}: Long). ({restricted} && {}))", self.any(depth, &inner))
    }

    fn points(&mut self, depth: usize, known: &Known) -> String {
        let point = self.name("t");
        let inner = if depth > 0 && self.random.one_in(2) {
            format!("({} && {})", self.predicate(known, None), self.any(depth - 1, known))
        } else {
            self.predicate(known, None)
        };
        format!(
            "count for ({point}: Timepoint). where (formerly within {} ({inner} && tp({point})))",
            self.random.of(WINDOWS)
        )
    }

    fn counted(&mut self, depth: usize, known: &Known) -> String {
        let number = self.name("n");
        let count = self.points(depth, known);
        let (operator, most) = (self.random.of(OPERATORS), self.random.below(4));
        let mut text = format!("(exists ({number}: Long). (({count}) == {number} && {number} {operator} {most}");
        if self.random.one_in(3) {
            let _ = write!(text, " && {number} {} {}", self.random.of(OPERATORS), self.random.below(5));
        }
        if self.random.one_in(4) {
            let mut inner = known.clone();
            inner.longs.push(number.clone());
            let _ = write!(text, " && {}", self.any(1, &inner));
        }
        text + "))"
    }

    fn compared_count(&mut self, known: &Known) -> String {
        let count = self.points(0, known);
        if self.random.one_in(3) {
            format!("({count}) {} ({})", self.random.of(OPERATORS), self.points(0, known))
        } else {
            format!("({count}) {} {}", self.random.of(OPERATORS), self.long(known))
        }
    }

    fn distinct(&mut self, known: &Known) -> String {
        let value = self.name("v");
        let pattern = self.predicate(known, Some(&value));
        format!(
            "(count for ({value}: Long). where (formerly within {} {pattern})) {} {}",
            self.random.of(WINDOWS),
            self.random.of(OPERATORS),
            self.random.below(4)
        )
    }

    fn sum(&mut self, known: &Known) -> String {
        let (value, point) = (self.name("v"), self.name("t"));
        let pattern = self.predicate(known, Some(&value));
        format!(
            "(sum {value} for ({value}: Long), ({point}: Timepoint). where (formerly within {} ({pattern} && tp({point})))) {} {}",
            self.random.of(WINDOWS),
            self.random.of(OPERATORS),
            self.random.below(8)
        )
    }
}

/// A trace, in the form of Dogwood's logs.
pub(crate) fn trace(random: &mut Random) -> String {
    let mut log = String::new();
    let mut time = 0;
    let length = if random.one_in(50) { 150 } else { 3 + random.below(22) };
    for _ in 0..length {
        time += [0, 0, 1, 1, 4, 5, 6, 30, 60, 61, 600, 3600][random.below(12)];
        let (action, kind) = (random.of(ACTIONS), random.of(KINDS));
        let who = format!("G::User::\"u{}\"", 1 + random.below(2));
        let input = format!("{{ x: {}, s: \"{}\", who: {who} }}", random.below(3), random.of(&["a", "b"]));
        let output = if kind == "response" && !random.one_in(8) {
            format!("output: {{ ok: {} }}, ", random.of(&["true", "false"]))
        } else {
            String::new()
        };
        let entities = format!("entities({who}: {{ level: {} }})", random.below(3));
        let _ = writeln!(
            log,
            "@{time} scope(principal: {who}, resource: G::Tool::\"t\") {entities} request_context(input: {input}) \
             G::Action::\"{action}\"::{kind}(input: {input}, {output}caller: {who})"
        );
    }
    log
}
