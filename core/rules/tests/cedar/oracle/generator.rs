//! Rules and calls made at random, from few words, so that they often meet.

use phasegate_rules::{Action, Part, Principal, Request, Value};

/// Numbers that look random, the same for the same seed.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    pub(super) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    pub(super) fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

const TEXTS: [&str; 6] = ["git", "push", "-f", "a*b", "", "axb"];
const TEXT_PATHS: [&str; 8] = [
    "context.command.program",
    "context.command.subcommand",
    "context.input.to",
    "context.path.name",
    "context.permission_mode",
    "principal.kind",
    "principal.session",
    "resource.name",
];
const SET_PATHS: [&str; 4] = ["context.command.words", "context.skills", "context.phases", "resource.labels"];
const NUMBERS: [&str; 6] = ["0", "1", "2", "-1", "9223372036854775807", "-9223372036854775808"];
const GROUPS: [&str; 5] = ["call", "@read", "@write", "pay/*", "Bash"];

fn text(random: &mut Random) -> String {
    if random.below(2) == 0 { format!("{:?}", random.pick(&TEXTS)) } else { random.pick(&TEXT_PATHS).to_owned() }
}

fn number(random: &mut Random, depth: usize) -> String {
    match random.below(if depth == 0 { 3 } else { 5 }) {
        0 => random.pick(&NUMBERS).to_owned(),
        1 => "context.time".to_owned(),
        2 => "context.input.amount".to_owned(),
        3 => format!("-({})", number(random, depth - 1)),
        _ => {
            let (one, other) = (number(random, depth - 1), number(random, depth - 1));
            format!("({one} {} {other})", random.pick(&["+", "-", "*"]))
        }
    }
}

fn set(random: &mut Random) -> String {
    if random.below(2) == 0 {
        return random.pick(&SET_PATHS).to_owned();
    }
    let all: Vec<String> = (0..random.below(3)).map(|_| text(random)).collect();
    format!("[{}]", all.join(", "))
}

/// Something of any type, also of a wrong one.
fn any(random: &mut Random, depth: usize) -> String {
    match random.below(8) {
        0 => number(random, depth),
        1 => set(random),
        2 => condition(random, depth),
        3 => "principal".to_owned(),
        4 => format!("{{a: {}}}", text(random)),
        5 => "context.command".to_owned(),
        6 => format!("Action::{:?}", random.pick(&GROUPS)),
        _ => text(random),
    }
}

/// A condition, in parentheses.
pub(super) fn condition(random: &mut Random, depth: usize) -> String {
    format!("({})", bare(random, depth))
}

fn bare(random: &mut Random, depth: usize) -> String {
    let inner = depth.saturating_sub(1);
    let pick = if depth == 0 { random.below(9) } else { random.below(16) };
    match pick {
        0 => format!("{} == {}", text(random), text(random)),
        1 => format!("{} like {:?}", text(random), random.pick(&["*", "g*", "*b", "a*b", "git", "*x*", ""]).to_owned()),
        2 => format!("{}.contains({})", set(random), text(random)),
        3 => format!("{}.{}({})", set(random), random.pick(&["containsAll", "containsAny"]), set(random)),
        4 => format!("{}.isEmpty()", set(random)),
        5 => format!("context.{}", random.pick(&["path.reads", "path.writes", "command.sends"])),
        6 => format!("context has {}", random.pick(&["command", "path", "path.name", "input.to", "time", "nothing"])),
        7 => format!("{} {} {}", number(random, inner), random.pick(&["<", "<=", ">", ">="]), number(random, inner)),
        8 => random.pick(&["true", "false", "principal.main", "principal has user"]).to_owned(),
        9 | 10 => format!("{} && {}", condition(random, inner), condition(random, inner)),
        11 | 12 => format!("{} || {}", condition(random, inner), condition(random, inner)),
        13 => format!("!{}", condition(random, inner)),
        14 => {
            let all = [condition(random, inner), condition(random, inner), condition(random, inner)];
            format!("if {} then {} else {}", all[0], all[1], all[2])
        }
        _ => match random.below(5) {
            0 => format!("{} {} {}", any(random, inner), random.pick(&["==", "!="]), any(random, inner)),
            1 => format!("principal in [User::\"alice\", Session::{:?}]", random.pick(&["s1", "s2"])),
            2 => format!("action in Action::{:?}", random.pick(&GROUPS)),
            3 => format!("{} is {}", random.pick(&["principal", "resource"]), random.pick(&["Agent", "Tool"])),
            _ => any(random, inner),
        },
    }
}

/// The effect and the scope of a rule.
pub(super) fn head(random: &mut Random) -> String {
    let effect = random.pick(&["permit", "forbid", "permit"]);
    let principal = random.pick(&[
        "principal",
        "principal",
        "principal == Agent::\"main\"",
        "principal in User::\"alice\"",
        "principal is Agent in Session::\"s1\"",
    ]);
    let action = match random.below(4) {
        0 => "action".to_owned(),
        1 => format!("action == Action::{:?}", random.pick(&["Bash", "pay/send"])),
        2 => format!("action in Action::{:?}", random.pick(&GROUPS)),
        _ => format!("action in [Action::{:?}, Action::\"Bash\"]", random.pick(&GROUPS)),
    };
    let resource = random.pick(&["resource", "resource", "resource is Tool", "resource == Tool::\"Bash\""]);
    format!("{effect}({principal}, {action}, {resource})")
}

fn a_text(random: &mut Random) -> Value<'static> {
    Value::Text(random.pick(&TEXTS))
}

fn texts(random: &mut Random) -> Value<'static> {
    let all: Vec<_> = (0..random.below(4)).map(|_| a_text(random)).collect();
    Value::set(all)
}

/// A call of one part, of which all is known.
pub(super) fn call(random: &mut Random) -> Request<'static> {
    let flag = |random: &mut Random| Value::Bool(random.below(2) == 0);
    let command = Value::record(vec![
        ("program", a_text(random)),
        ("subcommand", a_text(random)),
        ("words", texts(random)),
        ("sends", flag(random)),
    ]);
    let path = Value::record(vec![("name", a_text(random)), ("reads", flag(random)), ("writes", flag(random))]);
    let part = Part { command: (random.below(4) > 0).then_some(command), path: (random.below(3) > 0).then_some(path) };
    let mut input = Vec::new();
    if random.below(3) > 0 {
        input.push(("to", a_text(random)));
    }
    if random.below(3) > 0 {
        input.push(("amount", Value::Long([0, 1, 2, i64::MAX][random.below(4)])));
    }
    let mut context = vec![("skills", texts(random)), ("phases", texts(random))];
    if random.below(3) > 0 {
        context.push(("time", Value::Long(1)));
    }
    if random.below(3) > 0 {
        context.push(("permission_mode", a_text(random)));
    }
    let main = random.below(2) == 0;
    let principal = Principal {
        id: if main { "main" } else { "a1" },
        main,
        kind: a_text(random),
        session: random.pick(&["s1", "s2"]),
        user: [None, Some("alice"), Some("bob")][random.below(3)],
    };
    let actions: [(&str, &str, &str, &[&str]); 3] = [
        ("Bash", "Bash", "", &["write", "execute"]),
        ("Read", "Read", "", &["read"]),
        ("pay/send", "send", "pay", &["write"]),
    ];
    let (id, name, server, labels) = actions[random.below(3)];
    let action = Action { id, name, server, names: Vec::new(), labels: labels.to_vec() };
    Request { parts: vec![part], context, ..Request::new(principal, action, Value::record(input)) }
}

/// The call with some of its values unknown.
pub(super) fn blurred(random: &mut Random, request: &Request<'static>) -> Request<'static> {
    let mut other = request.clone();
    other.input = blur(random, &request.input);
    for part in &mut other.parts {
        for value in [&mut part.command, &mut part.path].into_iter().flatten() {
            *value = blur(random, value);
        }
    }
    if random.below(4) == 0 {
        other.principal.kind = Value::Unknown;
    }
    other
}

fn blur(random: &mut Random, value: &Value<'static>) -> Value<'static> {
    match value {
        Value::Record(fields) if random.below(8) > 0 => {
            Value::record(fields.iter().map(|(name, value)| (*name, blur(random, value))).collect())
        }
        Value::Set(items) if random.below(8) > 0 => {
            let all: Vec<_> = items.iter().map(|item| blur(random, item)).collect();
            Value::set(all)
        }
        Value::Text(text) if random.below(4) == 0 => Value::Maybe(text),
        _ if random.below(4) == 0 => Value::Unknown,
        other => other.clone(),
    }
}

/// The groups of an action.
pub(super) fn labels_of(action: &Action<'_>) -> Vec<String> {
    let labels = action.labels.iter().map(|label| format!("@{label}"));
    let server = (!action.server.is_empty()).then(|| format!("{}/*", action.server));
    labels.chain(server).chain(["call".to_owned()]).collect()
}
