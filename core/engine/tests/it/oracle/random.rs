//! Random policies, read from bytes so that a failure shrinks to few of them; and the bytes of sessions.

use phasegate_core::Policy;
use phasegate_core::evidence::condition::Condition;
use phasegate_core::policy::{Edge, Phase};
use proptest::prelude::*;
use serde_json::{Value, json};

/// What a case is made of. Zeros mean the plainest thing there is.
#[derive(Clone, Debug)]
pub(crate) struct Genes {
    pub(crate) skills: Vec<([u8; 20], Vec<[u8; 40]>)>,
    pub(crate) events: Vec<[u8; 14]>,
}

pub(crate) fn genes() -> impl Strategy<Value = Genes> {
    let phases = prop::collection::vec(prop::array::uniform(any::<u8>()), 1..6);
    let skill = (prop::array::uniform(any::<u8>()), phases);
    let events = prop::collection::vec(prop::array::uniform(any::<u8>()), 1..48);
    (prop::collection::vec(skill, 1..3), events).prop_map(|(skills, events)| Genes { skills, events })
}

/// Reads choices from bytes.
pub(crate) struct Dice<'a>(pub(crate) std::slice::Iter<'a, u8>);

impl Dice<'_> {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::from(*self.0.next().unwrap_or(&0)) % n
    }

    /// True in one of `n` cases; never for a zero.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    pub(crate) fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}

/// Most calls and most lines of a policy are about the first four.
const TOOLS: [&str; 9] = ["a", "b", "c", "d", "ab", "Read", "Edit", "Bash", "Agent"];

pub(crate) fn tool(dice: &mut Dice<'_>) -> &'static str {
    match dice.below(24) {
        at @ 0..9 => TOOLS[at],
        at => TOOLS[at % 4],
    }
}

fn matcher(dice: &mut Dice<'_>) -> Value {
    let mut made = plain_matcher(dice);
    if dice.one_in(16) {
        made["except"] = json!([plain_matcher(dice)]);
    }
    made
}

fn plain_matcher(dice: &mut Dice<'_>) -> Value {
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

fn unlisted_lines(dice: &mut Dice<'_>) -> Vec<Value> {
    (0..=dice.below(2)).map(|_| json!({"passes": dice.one_in(2), "matcher": matcher(dice)})).collect()
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
        7 => json!({"fact": {"fact": "file:f", "is": {"exists": true}, "text": "file f exists"}}),
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
        "name": format!("p{at}"), "do": "", "allowed": allowed, "forbidden": forbidden,
        "requires": when(dice, atom, 6), "done_when": done, "optional": optional, "leave": leave,
        "next": next, "back": back,
    })
}

fn skill(at: usize, head: &[u8; 20], phases: &[[u8; 40]]) -> Value {
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
    let lines = if !seed && dice.one_in(6) { unlisted_lines(dice) } else { Vec::new() };
    let start = match dice.below(6) {
        3 => json!([{"before": matcher(dice)}]),
        4 => json!(["session"]),
        5 => json!(["invocation", {"prompt": "go"}, {"before": matcher(dice)}]),
        _ => json!(["invocation"]),
    };
    json!({
        "start": start, "finish_required": dice.one_in(2),
        "name": (if at == 0 { "s" } else { "t" }), "description": "", "version": format!("v{at}"), "seed": seed,
        "mode": dice.pick(&[json!("block"), json!("block"), json!("warn"), Value::Null]),
        "scope": dice.pick(&["session", "session", "session", "project"]),
        "unlisted": if seed { "allow" } else { dice.pick(&["read_only", "deny", "allow"]) },
        "unlisted_lines": lines,
        "leave_skill": if seed { "agent" } else { dice.pick(&["finished", "agent", "human"]) },
        "servers": if dice.one_in(2) { json!(["lsp"]) } else { json!([]) },
        "tools": notes, "global_forbidden": if dice.one_in(8) { matchers(dice, 1, 1) } else { vec![] },
        "phases": phases,
    })
}

/// The policy that the genes say.
pub(crate) fn policy(genes: &Genes) -> Policy {
    let skills: Vec<Value> = genes.skills.iter().enumerate().map(|(at, genes)| skill(at, &genes.0, &genes.1)).collect();
    let mut policy: Policy = serde_json::from_value(json!({"version": "v", "skills": skills})).unwrap();
    for skill in policy.skills.iter_mut().filter(|skill| skill.compat) {
        let last = skill.phases.len() - 1;
        for (at, phase) in skill.phases.iter_mut().enumerate() {
            plain(phase, at, last);
        }
    }
    policy
}

/// The compat form: lists in order, and nothing else.
fn plain(phase: &mut Phase, at: usize, last: usize) {
    phase.done_when = None::<Condition>;
    phase.requires = None;
    phase.optional = phasegate_core::policy::Optional::No;
    phase.leave = phasegate_core::policy::Leave::OnCall;
    phase.back = vec![];
    phase.next = if at == last { vec![] } else { vec![Edge { to: at + 1, when: None, early: false }] };
}
