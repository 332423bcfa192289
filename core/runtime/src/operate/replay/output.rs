//! The output object of a transcript line.

use phasegate_core::state::{ObligationKind, Run};
use phasegate_core::{Facts, Outcome, Record, State};
use serde_json::{Map, Value, json};

/// What one line led to.
pub(super) struct Line<'a> {
    pub(super) seq: u64,
    pub(super) event: &'a str,
    pub(super) before: &'a State,
    pub(super) after: &'a State,
    pub(super) outcome: &'a Outcome,
    pub(super) records: &'a [Record],
    pub(super) facts: &'a Facts,
    pub(super) policy_version: &'a str,
}

pub(super) fn object(line: &Line<'_>) -> Value {
    let decision = line.outcome.decision.as_ref();
    let runs: Vec<Value> = all_runs(line.after).map(|run| run_object(run, line.before)).collect();
    // Where no run decided, the run that began last says where the session stands.
    let stands = line.after.live_runs().last();
    let before = stands.map(|run| line.before.run(&run.id).unwrap_or(run).phase.clone());
    let no_run = decision.is_none_or(|decision| decision.skill.is_none());
    let either = |of: Option<String>, or: Option<String>| if no_run { or } else { of };
    let mut output = json!({
        "seq": line.seq,
        "event": line.event,
        "decision": decision.map(|decision| decision.effect.word()),
        "code": decision.and_then(|decision| decision.code).map(|code| code.id()),
        "line": decision.and_then(|decision| decision.line),
        "gate": decision.and_then(|decision| decision.gate).map(|gate| gate.word()),
        "reason": decision.map(|decision| decision.reason.as_str()).filter(|reason| !reason.is_empty()),
        "attempted": decision.and_then(|decision| decision.attempted.as_deref()),
        "recovery": decision.map(|decision| decision.recovery.as_str()).filter(|recovery| !recovery.is_empty()),
        "missing": decision.map(|decision| decision.missing.clone()).unwrap_or_default(),
        "skill": either(decision.and_then(|d| d.skill.clone()), stands.map(|run| run.skill.clone())),
        "phase": either(decision.and_then(|d| d.phase.clone()), stands.map(|run| run.phase.clone())),
        "phase_before": either(decision.and_then(|d| d.phase_before.clone()), before),
        "runs": runs,
        "facts": line.facts,
        "open_calls": open_calls(line.after),
        "obligations": obligations(line.outcome),
        "records": line.records,
        "result": line.outcome.result,
        "policy_version": line.policy_version,
    });
    let admission = decision.and_then(|decision| decision.admission.as_deref());
    if let (Value::Object(fields), Some(admission)) = (&mut output, admission) {
        fields.insert("admission".into(), json!(admission));
    }
    if let (Value::Object(fields), true) = (&mut output, decision.is_some_and(|decision| decision.compat)) {
        fields.insert("compat".into(), json!(true));
    }
    let branches = branches(line.after);
    if let (Value::Object(fields), false) = (&mut output, branches.is_empty()) {
        fields.insert("branches".into(), Value::Object(branches));
    }
    output
}

/// The phase of each live run that is a task of a plan or a branch, by its name.
fn branches(state: &State) -> Map<String, Value> {
    state.live_runs().filter_map(|run| Some((branch(run)?.to_string(), json!(run.phase)))).collect()
}

fn branch(run: &Run) -> Option<&str> {
    run.branch.as_ref().map(|branch| branch.name.as_str()).filter(|name| !name.is_empty())
}

fn all_runs(state: &State) -> impl Iterator<Item = &Run> {
    state.project.runs.iter().chain(&state.session.runs)
}

fn run_object(run: &Run, before: &State) -> Value {
    let phase_before = before.run(&run.id).map_or(&run.phase, |run| &run.phase);
    let mut object = json!({
        "id": run.id,
        "skill": run.skill,
        "scope": run.scope,
        "phase": run.phase,
        "phase_before": phase_before,
        "visit": run.visit,
        "status": run.status,
        "skipped": run.skipped,
        "parent": run.parent,
    });
    if let (Value::Object(fields), Some(branch)) = (&mut object, branch(run)) {
        fields.insert("branch".into(), json!(branch));
    }
    object
}

fn open_calls(state: &State) -> Vec<Value> {
    let calls = state.session.calls.iter();
    calls
        .map(|call| json!({"id": call.id, "tool": call.tool, "agent": call.agent, "launched": call.launched}))
        .collect()
}

fn obligations(outcome: &Outcome) -> Vec<Value> {
    let object = |(id, kind): (&String, &ObligationKind)| {
        let mut fields = Map::new();
        fields.insert("id".into(), json!(id));
        match kind {
            ObligationKind::Context(text) => fields.insert("context".into(), json!(text)),
        };
        Value::Object(fields)
    };
    outcome.obligations.iter().map(|obligation| object((&obligation.id, &obligation.kind))).collect()
}
