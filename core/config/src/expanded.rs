//! A skill with everything that its short forms stand for: every default written out, in the words of a config.

mod artifacts;
mod calls;

use std::fmt::Write as _;

use phasegate_core::input::{BRANCH, Input};
use phasegate_core::policy::{
    Back, ChildRun, ChildRuns, Edge, Leave, LeaveSkill, Optional, Phase, Scope, Skill, Start, ToolNote, Unlisted,
    UnlistedLine,
};
use serde_json::{Map, Value, json};

use calls::{condition, list, matcher};

/// The skill as YAML. A config of this text is compiled to the same skill, but for a lock of the settings.
#[must_use]
pub fn expanded(skill: &Skill) -> String {
    let mut text = String::new();
    let mut keys = vec![("skill", json!(skill.name)), ("description", json!(skill.description))];
    keys.push(("form", json!(if skill.compat { "compat" } else { "strict" })));
    keys.extend(skill.mode.map(|mode| ("mode", json!(mode.word()))));
    if !skill.on_violation.is_deny() {
        keys.push(("on_violation", json!(skill.on_violation.word())));
    }
    keys.push(("scope", json!(if skill.scope == Scope::Session { "session" } else { "project" })));
    keys.push(("start", Value::Array(skill.start.iter().map(start).collect())));
    keys.push(("finish", json!(finish(skill))));
    keys.push(("unlisted", unlisted(&skill.unlisted_lines, skill.unlisted)));
    keys.push(("servers", json!(skill.servers)));
    keys.push(("tools", Value::Object(skill.tools.iter().map(tool).collect())));
    if !skill.denial_text.is_standard() {
        keys.push(("denial_text", json!(skill.denial_text)));
    }
    // The branch is given by the phase that runs the skill.
    let inputs: Vec<&Input> = skill.inputs.iter().filter(|input| input.name != BRANCH).collect();
    if !inputs.is_empty() {
        let input = |input: &Input| (input.name.clone(), json!(input.pattern));
        keys.push(("inputs", Value::Object(inputs.into_iter().map(input).collect())));
    }
    let groups = calls::own_groups(skill);
    if !groups.is_empty() {
        keys.push(("groups", Value::Object(groups)));
    }
    if !skill.artifacts.is_empty() {
        keys.push(("artifacts", Value::Object(skill.artifacts.iter().map(artifacts::artifact).collect())));
    }
    keys.push(("forbidden", list(&skill.global_forbidden)));
    keys.iter().for_each(|(key, value)| line(&mut text, 0, key, value));
    text.push_str("phases:\n");
    for phase in &skill.phases {
        phase_lines(&mut text, skill, phase);
    }
    text
}

/// One key. Lists of what is more than a word, and maps of tools, have a line for each item; JSON is YAML.
fn line(text: &mut String, indent: usize, key: &str, value: &Value) {
    let long = |items: &[Value]| items.iter().any(|item| item.is_object() || items.len() > 4);
    let start = " ".repeat(indent);
    // Writing into a string cannot fail.
    let _ = match value {
        Value::Array(items) if long(items) => {
            let lines: String = items.iter().map(|item| format!("{start}  - {item}\n")).collect();
            write!(text, "{start}{key}:\n{lines}")
        }
        Value::Object(fields) if key == "tools" && !fields.is_empty() => {
            let lines: String = fields.iter().map(|(name, value)| format!("  {}: {value}\n", json!(name))).collect();
            write!(text, "{key}:\n{lines}")
        }
        value => writeln!(text, "{start}{key}: {value}"),
    };
}

fn phase_lines(text: &mut String, skill: &Skill, phase: &Phase) {
    let _ = writeln!(text, "  {}:", json!(phase.name));
    let name = |to: usize| skill.phases.get(to).map(|phase| phase.name.clone()).unwrap_or_default();
    let mut keys = vec![("do", json!(phase.task))];
    keys.extend(phase.run.is_none().then(|| ("allowed", calls::allowed(phase))));
    keys.push(("forbidden", calls::forbidden(phase)));
    let produced: Vec<&str> = skill.produced_in(phase).map(|artifact| artifact.name.as_str()).collect();
    keys.extend((!produced.is_empty()).then(|| ("produces", json!(produced))));
    keys.extend(phase.done_by.as_ref().map(|kind| ("done_by", json!(kind))));
    keys.extend(phase.run.as_ref().map(|runs| ("run", run(runs, phase))));
    keys.extend(phase.unlisted.as_ref().map(|rule| ("unlisted", unlisted(&rule.lines, rule.otherwise))));
    keys.extend(phase.requires.as_ref().map(|requires| ("requires", condition(requires))));
    let done_when = phase.done_when.as_ref().filter(|_| phase.run.is_none());
    keys.extend(done_when.map(|done| ("done_when", condition(done))));
    keys.extend(phase.failed_when.as_ref().map(|failed| ("failed_when", condition(failed))));
    keys.push(("optional", optional(&phase.optional, &phase.skip_text)));
    let leave = if phase.leave == Leave::OnCall { "on_call" } else { "on_done" };
    keys.extend(phase.run.is_none().then(|| ("leave", json!(leave))));
    keys.push(("next", phase.next.iter().map(|edge| next(edge, &name(edge.to))).collect()));
    let (failure, others): (Vec<&Back>, Vec<&Back>) = phase.back.iter().partition(|back| back.on_failure);
    keys.push(("back", others.into_iter().map(|edge| back(edge, &name(edge.to))).collect()));
    keys.extend(failure.first().map(|edge| ("on_failure", back(edge, &name(edge.to)))));
    keys.iter().for_each(|(key, value)| line(text, 4, key, value));
}

fn run(runs: &ChildRuns, phase: &Phase) -> Value {
    if let (Some(plan), [one]) = (&runs.plan, runs.each.as_slice()) {
        let at = plan.fact.args().get("at").cloned();
        let said = [
            Some(("each", json!(plan.artifact))),
            at.map(|at| ("at", at)),
            Some(("id", json!(plan.id))),
            plan.after.as_ref().map(|field| ("after", json!(field))),
            plan.barrier.as_ref().map(|field| ("barrier", json!(field))),
            Some(("skill", json!(one.skill))),
            phase.done_when.as_ref().map(|gate| ("gate", condition(gate))),
        ];
        return said.into_iter().flatten().map(|(key, value)| (key.to_owned(), value)).collect();
    }
    if runs.parallel {
        let branch = |run: &ChildRun| (run.branch.clone(), json!({"skill": run.skill, "fail_on_error": !run.may_fail}));
        return json!({"parallel": Value::Object(runs.each.iter().map(branch).collect())});
    }
    match runs.each.as_slice() {
        [one] => json!(one.skill),
        each => each.iter().map(|run| json!(run.skill)).collect(),
    }
}

fn start(start: &Start) -> Value {
    match start {
        Start::Invocation => json!("invocation"),
        Start::Session => json!("session"),
        Start::Prompt(text) => json!({"prompt": text}),
        Start::PermissionMode(mode) => json!({"permission_mode": mode}),
        Start::Before(call) => json!({"before": matcher(call)}),
    }
}

fn finish(skill: &Skill) -> &'static str {
    match skill.leave_skill {
        LeaveSkill::Finished | LeaveSkill::Human if skill.finish_required => "required",
        LeaveSkill::Finished => "when_done",
        LeaveSkill::Agent => "agent",
        LeaveSkill::Human => "person",
    }
}

fn unlisted(lines: &[UnlistedLine], otherwise: Unlisted) -> Value {
    let word = match otherwise {
        Unlisted::Allow => "allow",
        Unlisted::ReadOnly => "read_only",
        Unlisted::Deny => "deny",
    };
    if lines.is_empty() {
        return json!(word);
    }
    let key = |line: &UnlistedLine| match (line.passes, line.asks) {
        (true, _) => "allow",
        (false, true) => "ask",
        (false, false) => "deny",
    };
    let each = lines.iter().map(|line| match &line.why {
        None => json!({key(line): [matcher(&line.matcher)]}),
        Some(why) => json!({key(line): [matcher(&line.matcher)], "why": why}),
    });
    each.chain([json!(word)]).collect()
}

fn tool(note: &ToolNote) -> (String, Value) {
    (note.matcher.text.clone(), json!({"labels": note.labels}))
}

fn optional(optional: &Optional, text: &str) -> Value {
    match optional {
        Optional::No => json!(false),
        Optional::Yes => json!(true),
        Optional::When(when) if text.is_empty() => json!({"when": condition(when)}),
        Optional::When(when) => json!({"when": condition(when), "text": text}),
    }
}

fn next(edge: &Edge, to: &str) -> Value {
    let mut fields = Map::from_iter([("to".to_string(), json!(to)), ("early".to_string(), json!(edge.early))]);
    fields.extend(edge.when.as_ref().map(|when| ("when".to_string(), condition(when))));
    Value::Object(fields)
}

fn back(edge: &Back, to: &str) -> Value {
    let mut fields = Map::from_iter([("to".to_string(), json!(to)), ("limit".to_string(), json!(edge.limit))]);
    fields.extend(edge.when.as_ref().map(|when| ("when".to_string(), condition(when))));
    fields.extend(edge.then.as_ref().map(|then| ("then".to_string(), json!(then))));
    Value::Object(fields)
}
