//! Random sessions.

use phasegate_core::evidence::fact::{Fact, FactKey, FactValue};
use phasegate_core::{Event, Facts};
use serde_json::{Value, json};

use super::random::{Dice, Genes, tool};

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
            file = dice.pick(&[FactValue::Known("d".into()), FactValue::Absent, FactValue::Unknown]);
        }
        for line in lines.drain(..) {
            let facts = Facts::from([(FactKey::new("file", &"f".into()), Fact::from(file.clone()))]);
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
        24 => json!({"event": "prompt", "text": dice.pick(&["go on", "well"]), "session": session}),
        25 => match dice.below(4) {
            0 => json!({"event": "session_start", "source": dice.pick(&["resume", "compact"]), "session": session}),
            1 => json!({"event": "session_end", "session": session}),
            _ => {
                let interactive = dice.pick(&[Value::Null, json!(true), json!(false)]);
                let can_hold = dice.one_in(4) || !dice.one_in(4);
                json!({"event": "stop", "can_hold": can_hold, "interactive": interactive, "session": session})
            }
        },
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
