//! Random policies and random sessions, read from bytes so that a failure shrinks to few of them.

use phasegate_core::condition::Condition;
use phasegate_core::fact::{Fact, FactKey, FactValue};
use phasegate_core::policy::{Edge, Phase};
use phasegate_core::{Event, Facts, Policy};
use proptest::prelude::*;
use serde_json::{Value, json};

/// What a case is made of. Zeros mean the plainest thing there is.
#[derive(Clone, Debug)]
pub(crate) struct Genes {
    skills: Vec<([u8; 12], Vec<[u8; 40]>)>,
    events: Vec<[u8; 14]>,
}

pub(crate) fn genes() -> impl Strategy<Value = Genes> {
    let phases = prop::collection::vec(prop::array::uniform(any::<u8>()), 1..6);
    let skill = (prop::array::uniform(any::<u8>()), phases);
    let events = prop::collection::vec(prop::array::uniform(any::<u8>()), 1..48);
    (prop::collection::vec(skill, 1..3), events).prop_map(|(skills, events)| Genes { skills, events })
}

/// Reads choices from bytes.
struct Dice<'a>(std::slice::Iter<'a, u8>);

impl Dice<'_> {
    fn below(&mut self, n: usize) -> usize {
        usize::from(*self.0.next().unwrap_or(&0)) % n
    }

    /// True in one of `n` cases; never for a zero.
    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}

/// Most calls and most lines of a policy are about the first four.
const TOOLS: [&str; 9] = ["a", "b", "c", "d", "ab", "Read", "Edit", "Bash", "Agent"];

fn tool(dice: &mut Dice<'_>) -> &'static str {
    match dice.below(24) {
        at @ 0..9 => TOOLS[at],
        at => TOOLS[at % 4],
    }
}

fn matcher(dice: &mut Dice<'_>) -> Value {
    let tool = match dice.below(24) {
        16 | 17 => json!({"prefix": "a"}),
        18 => json!({"label": "read"}),
        19 => json!({"label": "write"}),
        20 => json!("any"),
        _ => json!({"exact": tool(dice)}),
    };
    let mut made = json!({"text": "m", "tool": tool, "server": "bare"});
    match dice.below(32) {
        24 | 25 => made["server"] = json!({"named": "lsp"}),
        26 => made["args"] = json!([{"path": "x", "is": {"equal": 1}}]),
        27 => made["args"] = json!([{"path": "x", "is": {"present": false}}]),
        28 => made["args"] = json!([{"path": "x", "is": {"one_of": [1, 2]}}, {"path": "y", "is": {"begins": "s"}}]),
        29 => made["agent"] = json!("main"),
        30 => made["agent"] = json!("subagent"),
        31 => made["agent"] = json!({"kind": "t"}),
        _ => {}
    }
    made
}

fn matchers(dice: &mut Dice<'_>, least: usize, most: usize) -> Vec<Value> {
    let number = least + dice.below(most + 1 - least);
    (0..number).map(|_| matcher(dice)).collect()
}

fn condition(dice: &mut Dice<'_>, atom: &mut u32, depth: usize) -> Value {
    let wanted =
        [json!({"outcome": "ok"}), json!({"outcome": "failed"}), json!("ended"), json!({"outcome": "refused"})];
    match dice.below(if depth == 0 { 9 } else { 12 }) {
        at @ 0..7 => {
            *atom += 1;
            let wanted = wanted[at.saturating_sub(3)].clone();
            json!({"call": {"atom": *atom - 1, "wanted": wanted, "matcher": matcher(dice)}})
        }
        7 => json!({"file": {"path": "f", "is": {"exists": true}}}),
        8 => json!({"approved": "go"}),
        9 => json!({"not": condition(dice, atom, depth - 1)}),
        at => {
            let word = if at == 10 { "all" } else { "any" };
            json!({word: [condition(dice, atom, depth - 1), condition(dice, atom, depth - 1)]})
        }
    }
}

fn when(dice: &mut Dice<'_>, atom: &mut u32, one_in: usize) -> Value {
    if dice.one_in(one_in) { condition(dice, atom, 1) } else { Value::Null }
}

fn phase(genes: &[u8; 40], at: usize, number: usize, atom: &mut u32) -> Value {
    let dice = &mut Dice(genes.iter());
    let mut allowed = matchers(dice, 1, 3);
    if !dice.one_in(4) {
        allowed[0] = json!({"text": "m", "tool": {"exact": TOOLS[at % 4]}, "server": "bare"});
    }
    let done = match dice.below(8) {
        0 | 1 => Value::Null,
        2 => condition(dice, atom, 1),
        at => {
            *atom += 1;
            let wanted = if at == 7 { json!("ended") } else { json!({"outcome": "ok"}) };
            json!({"call": {"atom": *atom - 1, "wanted": wanted, "matcher": allowed[0]}})
        }
    };
    let forbidden = if dice.one_in(3) { matchers(dice, 1, 2) } else { vec![] };
    let optional = match dice.below(8) {
        6 => json!("yes"),
        7 => json!({"when": condition(dice, atom, 0)}),
        _ => json!("no"),
    };
    let leave = if dice.one_in(6) { "on_done" } else { "on_call" };
    let mut next = Vec::new();
    for to in 0..number {
        let usual = if to == at + 1 { !dice.one_in(5) } else { dice.one_in(if to > at { 5 } else { 12 }) };
        if usual && to != at {
            next.push(json!({"to": to, "when": when(dice, atom, 6), "early": dice.one_in(6)}));
        }
    }
    let mut back = Vec::new();
    for to in 0..at {
        if dice.one_in(2) {
            let (limit, failure) = (dice.below(4), dice.one_in(2));
            back.push(json!({"to": to, "limit": limit, "on_failure": failure, "when": when(dice, atom, 6)}));
        }
    }
    json!({
        "name": format!("p{at}"), "description": "", "allowed": allowed, "forbidden": forbidden,
        "requires": when(dice, atom, 6), "done_when": done, "optional": optional, "leave": leave,
        "next": next, "back": back,
    })
}

fn skill(at: usize, (head, phases): &([u8; 12], Vec<[u8; 40]>)) -> Value {
    let dice = &mut Dice(head.iter());
    let mut atom = 0;
    let seed = dice.one_in(5);
    let phases: Vec<Value> =
        phases.iter().enumerate().map(|(at, genes)| phase(genes, at, phases.len(), &mut atom)).collect();
    let mut notes = Vec::new();
    if dice.one_in(3) {
        let labels = dice.pick(&[json!(["read"]), json!(["write"])]);
        notes.push(json!({"matcher": matcher(dice), "labels": labels}));
    }
    json!({
        "name": (if at == 0 { "s" } else { "t" }), "description": "", "version": format!("v{at}"), "seed": seed,
        "mode": dice.pick(&[json!("block"), json!("block"), json!("warn"), Value::Null]),
        "scope": dice.pick(&["session", "session", "session", "project"]),
        "unlisted": if seed { "allow" } else { dice.pick(&["read_only", "deny", "allow"]) },
        "leave_skill": if seed { "agent" } else { dice.pick(&["finished", "agent", "human"]) },
        "servers": if dice.one_in(2) { json!(["lsp"]) } else { json!([]) },
        "tools": notes, "global_forbidden": if dice.one_in(8) { matchers(dice, 1, 1) } else { vec![] },
        "phases": phases,
    })
}

/// The policy that the genes say.
pub(crate) fn policy(genes: &Genes) -> Policy {
    let skills: Vec<Value> = genes.skills.iter().enumerate().map(|(at, genes)| skill(at, genes)).collect();
    let mut policy: Policy = serde_json::from_value(json!({"version": "v", "skills": skills})).unwrap();
    for skill in policy.skills.iter_mut().filter(|skill| skill.seed) {
        let last = skill.phases.len() - 1;
        for (at, phase) in skill.phases.iter_mut().enumerate() {
            plain(phase, at, last);
        }
    }
    policy
}

/// The seed's form: lists in order, and nothing else.
fn plain(phase: &mut Phase, at: usize, last: usize) {
    phase.done_when = None::<Condition>;
    phase.requires = None;
    phase.optional = phasegate_core::policy::Optional::No;
    phase.leave = phasegate_core::policy::Leave::OnCall;
    phase.back = vec![];
    phase.next = if at == last { vec![] } else { vec![Edge { to: at + 1, when: None, early: false }] };
}

/// The events that the genes say, each with what is known of the world at that moment.
pub(crate) fn events(genes: &Genes) -> Vec<(Event, Facts)> {
    let mut lines = vec![json!({"event": "skill", "name": "s", "by": "agent", "session": "m"})];
    if genes.skills.len() > 1 {
        lines.push(json!({"event": "skill", "name": "t", "by": "agent", "session": "m"}));
    }
    let mut calls = Vec::new();
    let mut file = FactValue::Absent;
    let mut told = Vec::new();
    for genes in &genes.events {
        let dice = &mut Dice(genes.iter());
        lines.push(line(dice, &mut calls));
        // Many calls end well, and at once.
        if lines.last().is_some_and(|line| line["event"] == "tool_call") && dice.one_in(2) {
            lines.push(ended(&calls[calls.len() - 1], "ok"));
        }
        if dice.one_in(16) {
            file = dice.pick(&[FactValue::File("d".into()), FactValue::Absent, FactValue::Unknown]);
        }
        for line in lines.drain(..) {
            let facts = Facts::from([(FactKey::File("f".into()), Fact::from(file.clone()))]);
            told.push((Event::from_value(line).unwrap(), facts));
        }
    }
    told
}

fn line(dice: &mut Dice<'_>, calls: &mut Vec<Value>) -> Value {
    let kind = dice.below(32);
    let session = if dice.one_in(12) { "n" } else { "m" };
    let by = dice.pick(&["agent", "human"]);
    let name = dice.pick(&["s", "t"]);
    match kind {
        0..12 => call(dice, session, calls),
        12..23 => match (dice.below(6) + 3).div_euclid(3).min(calls.len()) {
            0 => call(dice, session, calls),
            back => result(dice, &calls[calls.len() - back]),
        },
        23 => {
            let mut line = json!({"event": "batch_end", "session": session});
            if dice.one_in(4) {
                line["agent"] = agent();
            }
            line
        }
        24 => json!({"event": "prompt", "text": "go on", "session": session}),
        25 => json!({"event": dice.pick(&["stop", "session_end"]), "session": session}),
        26 => json!({"event": "skill", "name": name, "by": by, "session": session}),
        27 => {
            let id = calls.last().map_or(Value::Null, |call| call["id"].clone());
            let id = if dice.one_in(2) { id } else { Value::Null };
            json!({"event": "subagent_start", "id": format!("s{}", calls.len()), "type": "t", "call": id, "session": session})
        }
        28 => {
            json!({"event": "subagent_stop", "id": format!("s{}", calls.len().saturating_sub(dice.below(4))), "type": "t", "session": session})
        }
        29 => json!({"event": "command", "by": by, "name": "approve", "args": {"name": "go"}, "session": session}),
        30 => {
            let command = dice.pick(&["deactivate_skill", "activate_skill", "skip_phase", "set_mode"]);
            let mut args = json!({"skill_name": name});
            if command == "set_mode" {
                args["mode"] = json!(dice.pick(&["warn", "block"]));
            }
            json!({"event": "command", "by": by, "name": command, "args": args, "session": session})
        }
        _ => match calls.last().map(|call| call["id"].clone()) {
            Some(id) if id.is_string() => {
                json!({"event": "permission", "id": id, "outcome": "refused", "session": session})
            }
            _ => json!({"event": "idle", "session": session}),
        },
    }
}

fn agent() -> Value {
    json!({"id": "s1", "type": "t"})
}

fn call(dice: &mut Dice<'_>, session: &str, calls: &mut Vec<Value>) -> Value {
    let mut line = json!({"event": "tool_call", "tool": tool(dice), "session": session});
    line["input"] = match dice.below(16) {
        4 => json!({"x": 1}),
        5 => json!({"x": 2, "y": "s"}),
        6 => json!({"x": "1"}),
        7 => json!({"x": 1, "y": "t"}),
        _ => json!({}),
    };
    match dice.below(16) {
        5 => line["labels"] = json!(["read"]),
        6 => line["labels"] = json!(["write"]),
        7 => line["labels"] = json!(["read", "execute"]),
        _ => {}
    }
    match dice.below(16) {
        6 => line["server"] = json!("lsp"),
        7 => line["server"] = json!("evil"),
        _ => {}
    }
    match dice.below(24) {
        0..20 => line["id"] = json!(format!("c{}", calls.len())),
        20 => line["id"] = json!(format!("c{}", calls.len().saturating_sub(1))),
        _ => {}
    }
    if dice.one_in(6) {
        line["agent"] = agent();
    }
    calls.push(line.clone());
    line
}

/// How a call ended, as its platform would say.
fn ended(call: &Value, outcome: &str) -> Value {
    let mut line = json!({"event": "tool_result", "outcome": outcome, "exit_code": 0, "session": call["session"]});
    if call["id"].is_string() {
        line["id"] = call["id"].clone();
    } else {
        line["tool"] = call["tool"].clone();
        line["input"] = call["input"].clone();
    }
    if call["agent"].is_object() {
        line["agent"] = call["agent"].clone();
    }
    line
}

fn result(dice: &mut Dice<'_>, call: &Value) -> Value {
    let outcomes = ["ok", "ok", "ok", "failed", "failed", "failed", "launched", "refused", "cancelled", "unknown"];
    let mut line = ended(call, dice.pick(&outcomes));
    if dice.one_in(12) {
        line["agent"] = agent();
    }
    match dice.below(4) {
        0 | 1 => line["exit_code"] = Value::Null,
        2 => line["exit_code"] = json!(1),
        _ => {}
    }
    line
}
